"""How much one person may send within a minute: forms, and whatever changes something over REST, counted together."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

_MINUTE = 60.0


def seconds_to_wait(person: object, now: float) -> int:
    """Count one request of a person (its key) at this moment (Unix); 0 where it may go on, else in how many seconds
    another one may. Cost: two commands of the cache. Counted are whole minutes of the clock: across the border of two
    somebody may send twice as many."""
    minute, passed = divmod(now, _MINUTE)
    key = f"writes-{person}-{minute:.0f}"
    cache.add(key, 0, timeout=2 * _MINUTE)
    try:
        count = cache.incr(key)
    except ValueError:  # the cache let go of it meanwhile
        return 0
    return math.ceil(_MINUTE - passed) if count > settings.PORTAL.writes_a_minute else 0


class WriteLimitMiddleware:
    """Answers 429 to forms of a person who has sent too many."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_form = request.method not in SAFE_METHODS and not request.path_info.startswith("/api")
        if not is_form or not request.user.is_authenticated:
            return self.get_response(request)
        wait = seconds_to_wait(request.user.pk, time.time())
        return _refusal(request, wait) if wait else self.get_response(request)


def _refusal(request: HttpRequest, wait: int) -> HttpResponse:
    context = {"most": settings.PORTAL.writes_a_minute, "wait": wait}
    response = render(request, "429.html", context, status=429)
    response["Retry-After"] = str(wait)
    return response


class WriteThrottle(BaseThrottle):
    """The same over REST, by whoever the token or the session is."""

    _wait = 0

    def allow_request(self, request: Request, view: Any) -> bool:
        """Reading is not counted here."""
        if request.method in SAFE_METHODS or not request.user or not request.user.is_authenticated:
            return True
        self._wait = seconds_to_wait(request.user.pk, time.time())
        return not self._wait

    def wait(self) -> float:
        """Seconds until another one may come."""
        return float(self._wait)
