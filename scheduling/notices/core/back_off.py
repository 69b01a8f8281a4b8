"""When a delivery that failed is tried again, and when no more."""

from __future__ import annotations

from datetime import timedelta

#: So often a delivery is tried at most: for about six hours.
MOST_ATTEMPTS = 12
_FIRST, LONGEST = timedelta(seconds=15), timedelta(hours=1)


def pause(attempts: int) -> timedelta:
    """How long to wait after so many attempts: twice as long each time.

    >>> [pause(attempts).total_seconds() for attempts in (1, 2, 3, 99)]
    [15.0, 30.0, 60.0, 3600.0]
    """
    return min(_FIRST * (1 << min(max(attempts, 1) - 1, 20)), LONGEST)
