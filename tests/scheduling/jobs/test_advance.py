"""Steps of rows: who is faster takes them."""

from __future__ import annotations

from typing import Any

import pytest

from gridportal.base.reasons import text_reason
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job, JobEvent
from scheduling.jobs.services.advance import advance


def test_a_step_is_taken_from_one_of_the_expected_states(people: Any, make_job: Any) -> None:
    job = make_job(people["user"], "queued")
    stale = Job.objects.get(pk=job.pk)
    assert advance(job, JobState.PLACING, reason=text_reason("first"))
    assert not advance(stale, JobState.FAILED, reason=text_reason("second"))
    assert advance(stale, JobState.FAILED, expected=(JobState.QUEUED, JobState.PLACING), reason=text_reason("third"))
    event = job.events.last()
    assert event is not None
    assert (event.from_state, event.to_state) == ("placing", "failed")


def test_a_step_under_a_lease_that_somebody_else_has_writes_nothing(people: Any, make_job: Any) -> None:
    job = make_job(people["user"], "queued")
    Job.objects.filter(pk=job.pk).update(lease_holder="another")
    before = JobEvent.objects.count()
    assert not advance(job, JobState.PLACING, holder="mine", reason=text_reason("late"))
    job.refresh_from_db()
    assert (job.state, JobEvent.objects.count()) == ("queued", before)


def test_no_event_no_step(people: Any, make_job: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    job = make_job(people["user"], "queued")

    def broken(*_args: object, **_named: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(JobEvent, "save", broken)
    with pytest.raises(OSError, match="disk full"):
        advance(job, JobState.PLACING, reason=text_reason("why"))
    assert (job.state, Job.objects.get(pk=job.pk).state) == ("queued", "queued")
