"""Moves between their decision and their beginning: nodes are left to them, and what has no sense any more expires."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from gridportal.base.reasons import Code
from scheduling.jobs.models import Application, Job
from scheduling.rescheduling.core.weighing import MoveMode
from scheduling.rescheduling.models import DecisionEvent, MoveDecision
from scheduling.rescheduling.services import deciding, moving, weighing_jobs
from scheduling.rescheduling.services.rescheduler import reschedule
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints import stoppable_jobs as stoppable
from tests.scheduling.rescheduling.proposals import propose
from tests.scheduling.rescheduling.test_rescheduler import Slow, slow_job

__all__ = ["slow_job"]
#: A job of one rank.
ALONE = {"pattern": "", "method": "compute"}


def proposed_nodes(job: Job) -> tuple[str, ...]:
    """Where it would go now."""
    weighing, _ = weighing_jobs.weighed(stoppable.newest(job), MoveMode.ON_REQUEST)
    return weighing.figures.nodes


@pytest.fixture
def two_jobs(fake_grid: FakeGrid, submit: Any, application: Application) -> tuple[Job, Job]:
    """Each on one of four nodes."""
    stoppable.stoppable(application)
    return stoppable.running(submit, 1, **ALONE), stoppable.running(submit, 1, **ALONE)


def test_the_nodes_of_a_proposal_are_left_to_it_while_others_will_do(two_jobs: tuple[Job, Job]) -> None:
    first, second = two_jobs
    best = proposed_nodes(second)
    propose(first, nodes=list(best))
    others = proposed_nodes(second)
    assert len(others) == 1
    assert others != best


def test_where_there_are_no_others_somebody_decides_which_job_moves(two_jobs: tuple[Job, Job], submit: Any) -> None:
    first, second = two_jobs
    stoppable.running(submit, 1, **ALONE)
    only = proposed_nodes(second)
    propose(first, nodes=list(only))
    assert proposed_nodes(second) == only != ()


@pytest.mark.parametrize("state", ["approved", "overridden", "moving"])
def test_the_nodes_of_a_decided_move_are_taken(two_jobs: tuple[Job, Job], state: str) -> None:
    first, second = two_jobs
    free = {f"n{at}" for at in range(1, 5)} - {stoppable.newest(job).placement.nodes[0] for job in two_jobs}
    propose(first, nodes=sorted(free), state=state)
    assert proposed_nodes(second) == ()


def reason_of(decision: MoveDecision) -> Code:
    decision.refresh_from_db()
    assert decision.state == "expired"
    code: Code = decision.events.get(to_state="expired").reason.code
    return code


def test_what_the_portal_decided_by_old_figures_is_not_done(slow_job: Slow, client_as: Any) -> None:
    job = slow_job(policy="observe", expires_after=600)
    long_ago = timezone.now() - timedelta(seconds=700)
    decision = propose(job, state="approved", policy="automatic", created_at=long_ago)
    reschedule()
    assert reason_of(decision) is Code.MOVE_WAITED_TOO_LONG
    assert not job.continuations.exists()
    said = client_as("operator").get(f"/api/migrations/{decision.pk}").json()["reason"]
    assert said.startswith("Nothing was stopped: it waited 7")


def test_the_word_of_a_person_holds_however_long_its_move_waits(slow_job: Slow) -> None:
    job = slow_job(policy="observe", expires_after=600)
    long_ago = timezone.now() - timedelta(seconds=700)
    decision = propose(job, state="approved", by="operator", created_at=long_ago)
    assert moving.start_moves() == 1
    decision.refresh_from_db()
    assert decision.state == "moving"


def test_a_job_that_has_failed_meanwhile_does_not_go_on_by_a_move(slow_job: Slow, fake_grid: FakeGrid) -> None:
    job = slow_job(policy="observe")
    decision = propose(job, state="approved", by="operator")
    stoppable.leave_checkpoint(job)
    job.runs.update(state="failed", ended_at=timezone.now())
    Job.objects.filter(pk=job.pk).update(state="failed", ended_at=timezone.now())
    moving.start_moves()
    assert reason_of(decision) is Code.RUN_IS_OVER
    job.refresh_from_db()
    assert (job.state, job.continuations.count()) == ("failed", 0)


def test_a_run_that_its_cluster_does_not_know_at_the_moment_is_waited_for(slow_job: Slow) -> None:
    job = slow_job(policy="observe")
    decision = propose(job)
    job.runs.update(state="missing")
    assert deciding.expire_proposals() == 0
    MoveDecision.objects.update(state="approved", by="operator")
    assert moving.start_moves() == 0
    decision.refresh_from_db()
    assert decision.state == "approved"
    job.runs.update(state="running")
    assert moving.start_moves() == 1


def test_the_real_gain_of_other_nodes_counts_from_when_they_were_taken(make_job: Any, people: Any) -> None:
    """900 s after the proposal, with 1000 s of work left where it ran; it ended 400 s after that."""
    job, now = make_job(people["user"], "succeeded"), timezone.now()
    at = {"created_at": now - timedelta(seconds=1300), "ret_current": 1000.0}
    decision = propose(job, state="moved", by="operator", **at)
    taken = now - timedelta(seconds=400)
    DecisionEvent.objects.create(decision=decision, to_state="overridden", at=taken)
    Job.objects.filter(pk=job.pk).update(ended_at=now)
    assert moving.verify_moves() == 1
    decision.refresh_from_db()
    assert decision.outcome["took"] == pytest.approx(400.0)
    assert decision.outcome["gain"] == pytest.approx(0.6)
