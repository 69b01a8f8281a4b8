"""Few matches of one person are worked out at a time: each is a process that may take a processor for half a minute.

Who has which place stands in the portal's cache: with Redis all web processes share it, else each has its own.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.cache import cache

from gridportal.base.errors import BusyError

#: Matches of one person at a time.
MOST = 2
RETRY_AFTER = 2  # seconds
#: Seconds after which a place is free again whose process has died; no match with its mapper takes longer.
_LONGEST = 120


@contextmanager
def match_of(person: int, *, text: str | None = None) -> Iterator[None]:
    """While something of this person (its primary key) is matched. text: the request in ClassAds of a job,
    which needs no place without one. Raises BusyError where MOST are matched already."""
    if text is not None and not text.strip():
        yield
        return
    mark = uuid.uuid4().hex
    place = next((key for key in _keys(person) if cache.add(key, mark, _LONGEST)), None)
    if place is None:
        raise BusyError(
            "Two of your requests are being matched; try again when one of them has its answer.", RETRY_AFTER
        )
    try:
        yield
    finally:
        if cache.get(place) == mark:  # else it took longer than any match, and another one has the place now
            cache.delete(place)


def _keys(person: int) -> list[str]:
    return [f"match-of|{person}|{number}" for number in range(MOST)]
