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
    rows = [each for each in events if isinstance(each, JobEvent) and _is_announced(each)]
    Announcement.objects.bulk_create(Announcement(event=each) for each in rows)


def _is_announced(event: JobEvent) -> bool:
    """Its state says it; within a trial a job may begin to wait for a person."""
    return event.to_state in ANNOUNCED or event.from_state == event.to_state == JobState.TRIAL
