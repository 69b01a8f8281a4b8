"""A moment as sentences have it."""

from __future__ import annotations

from datetime import datetime


def moment_text(at: datetime) -> str:
    """Time and day, without the year.

    >>> from datetime import UTC
    >>> moment_text(datetime(2030, 5, 3, 12, tzinfo=UTC))
    '12:00 UTC on 3 May'
    """
    return f"{at:%H:%M} UTC on {at.day} {at:%B}"
