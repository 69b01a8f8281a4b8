"""How long a worker's hold on a job lasts, and when it is over, also after the clock was set."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q

#: Until a job that its cluster does not take yet is submitted again, nobody may acquire it.
PAUSE = timedelta(seconds=30)


def longest() -> timedelta:
    """The longest time for which a job can be kept from others at once."""
    return max(timedelta(seconds=settings.KNOBS.lease_seconds), PAUSE)


def over(now: datetime, field: str = "lease_until", lasting: timedelta | None = None) -> Q:
    """Rows whose lease is over at `now`. One that would last twice as long as any does (`lasting`; default: a job's)
    was acquired before the clock was set back: who held it may be dead, and would hold it until the clock has caught
    up. Twice, since another worker may have acquired it a moment after `now`."""
    latest = now + 2 * (longest() if lasting is None else lasting)
    return Q(**{field: None}) | Q(**{f"{field}__lt": now}) | Q(**{f"{field}__gt": latest})


def is_over(until: datetime | None, now: datetime) -> bool:
    """The same of one job's lease."""
    return until is None or not now < until <= now + 2 * longest()
