"""How the files of a report are called: by what is in them and of what time. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_MOMENT = timedelta(microseconds=1)


def file_name(what: str, begin: datetime | None, until: datetime | None, ending: str, *, in_days: bool = True) -> str:
    """Name and time, whole days with the last one that is in it, a short time to the minute (UTC); None: without end.

    >>> first, end = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)
    >>> file_name("usage-by-person", first, end, "csv")
    'usage-by-person-2026-11-01-to-2026-11-30.csv'
    >>> file_name("links", first, first + timedelta(hours=6), "pdf", in_days=False)
    'links-2026-11-01-0000-to-2026-11-01-0600.pdf'
    >>> file_name("skeletons", None, None, "csv"), file_name("skeletons", None, end, "csv")
    ('skeletons-all-time.csv', 'skeletons-until-2026-11-30.csv')
    """
    form = "%Y-%m-%d" if in_days else "%Y-%m-%d-%H%M"
    first = f"{begin.astimezone(UTC):{form}}" if begin else ""
    last = f"{(until - _MOMENT if in_days else until).astimezone(UTC):{form}}" if until else ""
    if first and last:
        return f"{what}-{first}-to-{last}.{ending}"
    side = f"from-{first}" if first else f"until-{last}"
    return f"{what}-{side if first or last else 'all-time'}.{ending}"
