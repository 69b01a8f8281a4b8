"""A moment as sentences have it."""

from __future__ import annotations

from datetime import datetime


def moment_text(at: datetime, now: datetime | None = None) -> str:
    """Time and day, with the year where it is another one than that of `now`.

    >>> from datetime import UTC
    >>> moment_text(datetime(2030, 5, 3, 12, tzinfo=UTC))
    '12:00 UTC on 3 May'
    >>> moment_text(datetime(2030, 5, 3, 12, tzinfo=UTC), datetime(2029, 5, 3, tzinfo=UTC))
    '12:00 UTC on 3 May 2030'
    """
    year = f" {at.year}" if now is not None and at.year != now.year else ""
    return f"{at:%H:%M} UTC on {at.day} {at:%B}{year}"
