"""Moves with sense: hours, cooldowns of jobs and nodes, back-off after failures, counted from when jobs were moved."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from scheduling.jobs.models import Job
from scheduling.messages import message
from scheduling.placing.models import Placement
from scheduling.rescheduling import selectors
from scheduling.rescheduling.core.move_cost import worst_case
from scheduling.rescheduling.core.weighing import MoveFigures, MoveRules, Verdict, weigh
from scheduling.rescheduling.models import DecisionEvent, MoveDecision
from scheduling.rescheduling.services import deciding, policies
from scheduling.rescheduling.services.rescheduler import reschedule
from scheduling.runs.continuation_models import Continuation
from tests.fake_grid import FakeGrid
from tests.scheduling.rescheduling.proposals import propose
from tests.scheduling.rescheduling.test_move_crashes import settled, until_moving
from tests.scheduling.rescheduling.test_pages import words
from tests.scheduling.rescheduling.test_rescheduler import Slow, decision_of, slow_job

__all__ = ["slow_job"]
NEVER = "daily 00:00-00:00"


@pytest.fixture
def job(make_job: Any, people: Any) -> Job:
    made: Job = make_job(people["user"], "running")
    return made


def moved(job: Job, minutes_ago: float, state: str = "moved", **fields: Any) -> MoveDecision:
    """A move that began and was over so long ago; a verified one is verified now."""
    at = timezone.now() - timedelta(minutes=minutes_ago)
    over = "failed" if state == "failed" else "moved"
    decision = propose(job, state=state, state_since=timezone.now() if state == "verified" else at, **fields)
    for step in ("approved", "moving", over):
        DecisionEvent.objects.create(decision=decision, to_state=step, at=at)
    return decision


def moved_by_hand(job: Job, minutes_ago: float, **fields: Any) -> Continuation:
    """A move that a person asked for without a decision, from where the job runs to n5 and n6."""
    at = timezone.now() - timedelta(minutes=minutes_ago)
    run = job.runs.get()
    there = Placement.objects.create(job=job, method="given", nodes=["n5", "n6"], seconds=0.0)
    values = {"state": "moved", "asked_at": at, "stop_sent_at": at, "ended_at": at, **fields}
    return Continuation.objects.create(job=job, source=run, placement=there, by="operator", ranks=2, **values)


def test_moves_without_a_decision_count_for_the_job_and_its_nodes(job: Job, client_as: Any) -> None:
    moved_by_hand(job, 4)
    history = selectors.history(job, timezone.now())
    assert (history.job_moves, len(history.starts), history.failures) == (1, 1, 0)
    assert {"n5", "n6", *job.runs.get().placement.nodes} == set(history.nodes_moved)
    assert history.job_moved == history.nodes_moved["n5"]
    answer = weigh(MoveFigures(1200.0, 200.0, ("n9",)), worst_case(0.1), MoveRules(), history, timezone.localtime())
    assert answer.verdict == Verdict.JOB_COOLS_DOWN
    decision = propose(job)
    assert selectors.moves_before(decision) == 1
    assert "<dd>1 time</dd>" in words(client_as("operator").get(decision.get_absolute_url()))


def test_a_move_counts_once_also_where_a_decision_asked_for_it(job: Job) -> None:
    moved(job, 30, continuation=moved_by_hand(job, 30))
    moved_by_hand(job, 20, state="refused", stop_sent_at=None)
    assert selectors.history(job, timezone.now()).job_moves == 1
    moved_by_hand(job, 10, state="not stopped")
    history = selectors.history(job, timezone.now())
    assert (history.job_moves, history.failures) == (2, 1)


def test_all_hours_are_denied_by_a_whole_day() -> None:
    (window,) = policies.windows(NEVER)
    assert window.holds(timezone.localtime())


def test_in_denied_hours_what_the_portal_decided_expires_and_says_so(slow_job: Slow, people: Any) -> None:
    job = slow_job(policy="observe")
    decision = propose(job, state="approved", policy="automatic")
    policies.change_policy(people["operator"], "grid", {"deny": NEVER})
    reschedule()
    decision.refresh_from_db()
    assert decision.state == "expired"
    event = decision.events.get(to_state="expired")
    assert message(event.reason) == "Nothing was stopped: at this hour no moves begin on its cluster."


def test_the_word_of_an_operator_holds_in_denied_hours_too(slow_job: Slow, people: Any) -> None:
    job = slow_job()
    reschedule()
    policies.change_policy(people["operator"], "grid", {"deny": NEVER})
    deciding.approve(people["operator"], decision_of(job))
    reschedule()
    assert decision_of(job).state == "moving"


def test_a_move_under_way_ends_in_denied_hours(slow_job: Slow, fake_grid: FakeGrid, people: Any) -> None:
    from tests.scheduling.checkpoints.stoppable_jobs import obey, restored

    job = slow_job()
    until_moving(job, fake_grid, people["operator"])
    policies.change_policy(people["operator"], "grid", {"deny": NEVER})
    obey(job, fake_grid)
    settled(job)
    restored(job, fake_grid)
    assert settled(job).state == "moved"


def test_nodes_cool_down_from_when_the_job_was_moved_not_from_when_its_gain_was_known(job: Job) -> None:
    moved(job, 40, state="verified")
    history = selectors.history(job, timezone.now())
    ages = {node: timezone.now() - at for node, at in history.nodes_moved.items()}
    assert set(ages) == {"n1", "n2", "n3", "n4"}
    assert min(ages.values()) > timedelta(minutes=39)


def test_a_cooldown_of_nodes_may_be_longer_than_an_hour(job: Job, people: Any) -> None:
    moved(job, 90)
    assert selectors.history(job, timezone.now()).nodes_moved == {}
    policies.change_policy(people["operator"], job.cluster, {"node_cooldown": 7200})
    assert set(selectors.history(job, timezone.now()).nodes_moved) == {"n1", "n2", "n3", "n4"}


def test_nodes_of_a_move_that_never_began_do_not_cool_down(job: Job) -> None:
    propose(job, state="failed")
    history = selectors.history(job, timezone.now())
    assert (history.nodes_moved, history.starts, history.failures) == ({}, (), 1)


def test_failures_in_a_row_count_until_a_move_went_well(job: Job) -> None:
    moved(job, 300, state="failed")
    moved(job, 200, state="verified")
    moved(job, 100, state="failed")
    moved(job, 50, state="failed")
    history = selectors.history(job, timezone.now())
    assert (history.failures, history.job_moves) == (2, 4)
    assert history.job_moved is not None
    assert timezone.now() - history.job_moved < timedelta(minutes=51)


def test_a_cluster_says_how_often_a_job_is_moved(slow_job: Slow, client_as: Any, people: Any) -> None:
    job = slow_job(policy="automatic", job_cooldown=0, node_cooldown=0, most_per_job=1)
    moved(job, 30, nodes=["n7"], nodes_now=["n8"])
    reschedule()
    decision = decision_of(job)
    assert (decision.verdict, decision.state, decision.verdict_until) == (Verdict.TOO_MANY_MOVES, "declined", None)
    page = words(client_as("operator").get(decision.get_absolute_url()))
    assert "The rules of its cluster allow this job no more moves." in page


def test_rest_tells_and_changes_how_often_a_job_is_moved(client_as: Any) -> None:
    operator, address = client_as("operator"), "/api/migration-rules/grid"
    assert operator.get(address).json()["most_per_job"] == 10
    sent = {"most_per_job": 4}
    assert operator.patch(address, sent, content_type="application/json").json()["most_per_job"] == 4
    refused = operator.patch(address, {"most_per_job": -1}, content_type="application/json")
    assert refused.status_code == 400
    assert refused.json() == {"most_per_job": ["most_per_job is -1; accepted is a whole number from 0 to 1,000."]}
