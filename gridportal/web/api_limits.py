"""How much of the API one person gets: rows per answer and requests per minute."""

from __future__ import annotations

import time
from typing import Any

from django.core.cache import cache
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.throttling import AnonRateThrottle, UserRateThrottle

from gridportal.base.accepted_values import WHOLE_NUMBER, between
from gridportal.base.errors import InputError
from gridportal.web.middleware import address_of

#: The parameter that puts a list into an order, and another name for it, which pages have.
_ORDER, _ORDERS = "ordering", ("ordering", "sort")
_MOST_DIGITS = 40


class Paging(LimitOffsetPagination):
    """`?limit=&offset=`; 50 rows unless asked, never more than 500. A view that puts its rows into an order of the
    caller's says so by `takes_ordering`; others refuse to be asked for one."""

    default_limit = 50
    max_limit = 500

    def get_limit(self, request: Request) -> int:
        """Rows of the answer. Raises InputError, also for an order that nobody makes."""
        return min(_whole_number(request, self.limit_query_param, 1, self.default_limit), self.max_limit)

    def get_offset(self, request: Request) -> int:
        """Rows before the first one. Raises InputError."""
        return _whole_number(request, self.offset_query_param, 0, 0)

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        """The part of the rows. Raises InputError."""
        takes_ordering = getattr(view, "takes_ordering", False)
        for name in _ORDERS:
            if name in request.query_params and not (takes_ordering and name == _ORDER):
                how = f"{_ORDER} puts this list in order" if takes_ordering else "this list has one order"
                raise InputError(name, request.query_params[name], f"nothing: {how}")
        return super().paginate_queryset(queryset, request, view)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """With their bounds."""
        parameters = super().get_schema_operation_parameters(view)
        for each in parameters:
            each["schema"]["minimum"] = 1 if each["name"] == self.limit_query_param else 0
        return parameters


def _whole_number(request: Request, name: str, least: int, otherwise: int) -> int:
    text = request.query_params.get(name, "")
    if not text:
        return otherwise
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS and int(text) >= least):
        raise InputError(name, text, between(WHOLE_NUMBER, least))
    return int(text)


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
