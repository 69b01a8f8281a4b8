"""How much of the API one person gets: rows per answer and requests per minute."""

from __future__ import annotations

from rest_framework.pagination import LimitOffsetPagination
from rest_framework.throttling import AnonRateThrottle, UserRateThrottle


class Paging(LimitOffsetPagination):
    """`?limit=&offset=`; 50 rows unless asked, never more than 500."""

    default_limit = 50
    max_limit = 500


class PersonThrottle(UserRateThrottle):
    """Generous: ten programs of one person may each poll twice a second."""

    scope = "person"
    rate = "1200/min"


class StrangerThrottle(AnonRateThrottle):
    """Requests without a valid sign-in are refused anyway; this keeps them cheap."""

    scope = "stranger"
    rate = "120/min"


class SubmitThrottle(UserRateThrottle):
    """Submissions and previews search and write: two a second is more than a person needs."""

    scope = "submit"
    rate = "120/min"
