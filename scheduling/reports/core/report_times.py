"""When a report is sent next, and of what time it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum

_HOUR = 6  # in UTC: when people come, it is there


class ReportEvery(StrEnum):
    """How often a report is sent. The database column holds these words."""

    WEEK = "week"  # on Monday, of the week before
    MONTH = "month"  # on the first, of the month before


def next_time(every: ReportEvery, after: datetime) -> datetime:
    """The first moment later than `after` at which a report is sent.

    >>> next_time(ReportEvery.WEEK, datetime(2026, 11, 26, 9, tzinfo=UTC)).isoformat()
    '2026-11-30T06:00:00+00:00'
    >>> next_time(ReportEvery.MONTH, datetime(2026, 12, 1, 6, tzinfo=UTC)).isoformat()
    '2027-01-01T06:00:00+00:00'
    """
    at = after.astimezone(UTC).replace(hour=_HOUR, minute=0, second=0, microsecond=0)
    while at <= after or not _is_day(every, at):
        at += timedelta(days=1)
    return at


def reported_time(every: ReportEvery, at: datetime) -> tuple[datetime, datetime]:
    """From when to when a report is that is sent at `at`: the whole week or month before that day.

    >>> [moment.date().isoformat() for moment in reported_time(ReportEvery.MONTH, datetime(2027, 1, 1, 6, tzinfo=UTC))]
    ['2026-12-01', '2027-01-01']
    """
    day = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if every is ReportEvery.WEEK:
        until = day - timedelta(days=day.weekday())
        return until - timedelta(days=7), until
    until = day.replace(day=1)
    return (until - timedelta(days=1)).replace(day=1), until


def _is_day(every: ReportEvery, at: datetime) -> bool:
    return at.weekday() == 0 if every is ReportEvery.WEEK else at.day == 1
