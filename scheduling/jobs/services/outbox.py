"""Steps of jobs of which people may be told, noted in the transaction that takes the step."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Model

from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Announcement, JobEvent

#: A job starts, ends, or waits for a person.
ANNOUNCED = frozenset({JobState.RUNNING, JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED, JobState.STOPPED})


def announce(events: Iterable[Model]) -> None:
    """Note those of some events, written just now, that people may be told of."""
    rows = [each for each in events if isinstance(each, JobEvent) and each.to_state in ANNOUNCED]
    Announcement.objects.bulk_create(Announcement(event=each) for each in rows)
