"""The portal's REST API as schemathesis calls it: in this process, as one person, and with every effect undone."""

from __future__ import annotations

from django.core.cache import cache
from django.core.handlers.wsgi import WSGIHandler
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase


class Portal(WSGIHandler):
    """The WSGI application, asked by whoever `cookies` are of. What a request wrote is taken back when it is answered;
    no form's token is asked for, and no request is one too many."""

    cookies: dict[str, str]

    def get_response(self, request: HttpRequest) -> HttpResponseBase:
        request.META.pop("HTTP_AUTHORIZATION", None)  # schemathesis makes some up
        request.COOKIES = self.cookies  # type: ignore[misc]
        request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]
        with transaction.atomic():
            answer = super().get_response(request)
            transaction.set_rollback(True)
        cache.clear()
        return answer
