"""How much of the API one person gets: rows per answer and requests per minute."""

from __future__ import annotations

import time
from typing import Any

from django.core.cache import cache
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.throttling import AnonRateThrottle, UserRateThrottle

from gridportal.web.middleware import address_of


class Paging(LimitOffsetPagination):
    """`?limit=&offset=`; 50 rows unless asked, never more than 500."""

    default_limit = 50
    max_limit = 500


class RequestTimes:
    """When each person asked lately, in the cache. Times to come are of a clock that was set back since: they do not
    count, or they would keep the person out until the clock has caught up."""

    def get(self, key: str, default: list[float]) -> list[float]:
        now = time.time()
        return [at for at in cache.get(key, default) if at <= now]

    def set(self, key: str, value: list[float], timeout: Any) -> None:
        cache.set(key, value, timeout)


class PersonThrottle(UserRateThrottle):
    """Generous: ten programs of one person may each poll twice a second."""

    cache = RequestTimes()  # type: ignore[assignment]  # get and set are all that a throttle calls
    scope = "person"
    rate = "1200/min"


class StrangerThrottle(AnonRateThrottle):
    """Requests without a valid sign-in are refused anyway; this keeps them cheap."""

    cache = RequestTimes()  # type: ignore[assignment]  # get and set are all that a throttle calls
    scope = "stranger"
    rate = "120/min"

    def get_ident(self, request: Request) -> str:
        """The address that our proxy or the connection tells, not what anybody may write into a header."""
        return address_of(request._request) or "unknown"


class SubmitThrottle(UserRateThrottle):
    """Submissions and previews search and write: two a second is more than a person needs."""

    cache = RequestTimes()  # type: ignore[assignment]  # get and set are all that a throttle calls
    scope = "submit"
    rate = "120/min"
