"""Old decisions by which no job was moved go; moves, and whatever belongs to jobs that are not over, stay."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from gridportal.celery import app
from scheduling import tasks
from scheduling.jobs.models import Job
from scheduling.rescheduling.models import DecisionEvent, MoveDecision
from scheduling.rescheduling.request_models import WeighingRequest
from scheduling.rescheduling.services import forgetting
from tests.scheduling.rescheduling.proposals import propose
from tests.scheduling.rescheduling.test_move_rules import moved_by_hand

STAYED = ("refused", "expired", "declined", "observed")
MOVED = ("moved", "verified", "failed")


def job_of(make_job: Any, people: Any, days_ago: float | None = None) -> Job:
    """One that ended so many days ago, or that still runs."""
    job: Job = make_job(people["user"], "running")
    if days_ago is not None:
        Job.objects.filter(pk=job.pk).update(state="succeeded", ended_at=timezone.now() - timedelta(days=days_ago))
    return job


def test_only_old_decisions_by_which_a_job_stayed_go(make_job: Any, people: Any) -> None:
    old = job_of(make_job, people, days_ago=401)
    for state in (*STAYED, *MOVED):
        propose(old, state=state)
    with_move = propose(old, state="expired", continuation=moved_by_hand(old, 5))
    kept = [propose(job_of(make_job, people, days_ago=399), state=state) for state in STAYED]
    kept += [
        propose(job_of(make_job, people), state=state, created_at=timezone.now() - timedelta(days=500))
        for state in STAYED
    ]
    assert forgetting.forget_old() == len(STAYED)
    of_old = MoveDecision.objects.filter(job=old)
    assert sorted(of_old.exclude(pk=with_move.pk).values_list("state", flat=True)) == sorted(MOVED)
    assert of_old.filter(pk=with_move.pk).exists()
    assert MoveDecision.objects.exclude(job=old).count() == len(kept)
    assert DecisionEvent.objects.count() == len(MOVED) + 1 + len(kept)
    assert forgetting.forget_old() == 0


def test_requests_go_with_the_decision_that_answered_them(make_job: Any, people: Any) -> None:
    old, now = job_of(make_job, people, days_ago=401), timezone.now()
    answered = [propose(old, state=state) for state in ("declined", "verified")]
    for decision in (None, *answered):
        WeighingRequest.objects.create(job=old, decision=decision, ended_at=now)
    WeighingRequest.objects.create(job=job_of(make_job, people), ended_at=now)
    assert forgetting.forget_old() == 1 + 2
    assert {each.decision_id for each in WeighingRequest.objects.filter(job=old)} == {answered[1].pk}
    assert WeighingRequest.objects.exclude(job=old).count() == 1


def test_as_long_as_the_setting_says_and_in_pieces(make_job: Any, people: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    old = job_of(make_job, people, days_ago=8)
    for _ in range(7):
        propose(old, state="declined")
    monkeypatch.setattr(settings.PORTAL, "keep_decisions_days", 9.0)
    assert forgetting.forget_old() == 0
    monkeypatch.setattr(settings.PORTAL, "keep_decisions_days", 7.0)
    monkeypatch.setattr(forgetting, "_AT_ONCE", 2)
    monkeypatch.setattr(forgetting, "_MOST", 3)
    assert forgetting.forget_old() == 4, "the piece that reaches the most is the last one"
    assert MoveDecision.objects.count() == 3
    tasks.forget_decisions()
    assert not MoveDecision.objects.exists()


def test_beat_asks_for_it() -> None:
    assert "scheduling.tasks.forget_decisions" in {each["task"] for each in app.conf.beat_schedule.values()}
