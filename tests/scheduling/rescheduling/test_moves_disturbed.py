"""Messages, controllers and ranks that are lost at any step of a decision.

Why that is the same inside one process stands in `test_move_crashes.py`.
"""

from __future__ import annotations

import contextlib
from typing import Any
from unittest.mock import patch

import pytest

from scheduling import tasks
from scheduling.jobs.models import Job
from scheduling.placing.selectors import rooms
from scheduling.rescheduling.models import MoveDecision
from scheduling.rescheduling.services import deciding, moving
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints.stoppable_jobs import is_asked, newest
from tests.scheduling.checkpoints.test_continuing_crashes import a_lease_later
from tests.scheduling.rescheduling.test_move_crashes import act, in_order, moved_once, settled, until_moving
from tests.scheduling.rescheduling.test_rescheduler import Slow, decision_of, slow_job
from tests.scheduling.runs.test_life_crashes import Killed

__all__ = ["slow_job"]


@pytest.mark.parametrize("fate", ["lost", "twice"])
def test_messages_that_a_broker_loses_or_delivers_twice_cost_time_and_nothing_else(
    slow_job: Slow, fake_grid: FakeGrid, people: Any, fate: str
) -> None:
    job, todo = slow_job(), [tasks.advance_jobs, tasks.poll_runs, tasks.reschedule]
    for number in range(60):
        for each in [todo[number % 3]] if fate == "lost" else [*todo, *todo]:
            each()
        a_lease_later()
        approve_all(job, people["operator"])
        act(job, fake_grid)
    job.refresh_from_db()
    moved_once(job, decision_of(job), fake_grid)


@pytest.mark.parametrize("state", ["proposed", "approved", "moving", "moved"])
def test_a_controller_that_is_away_after_a_transition_leaves_a_job_that_moved_or_goes_on(
    slow_job: Slow, fake_grid: FakeGrid, people: Any, state: str
) -> None:
    """Where it is away while nodes are to be reserved, nothing is stopped."""
    job, left = slow_job(), 2
    for _ in range(30):
        for each in (tasks.advance_jobs, tasks.poll_runs, tasks.reschedule):
            each()
        a_lease_later()
        if state != "proposed" or left == 0:
            approve_all(job, people["operator"])
        fake_grid.down = left > 0 and MoveDecision.objects.filter(job=job, state=state).exists()
        left -= fake_grid.down
        act(job, fake_grid)
    assert left < 2, "it was never away"
    job.refresh_from_db()
    decision = MoveDecision.objects.filter(job=job).earliest("pk")
    if decision.state == "verified":
        moved_once(job, decision, fake_grid)
    else:
        goes_on(job, decision)


def approve_all(job: Job, operator: Any) -> None:
    for proposal in MoveDecision.objects.filter(job=job, state="proposed"):
        deciding.approve(operator, proposal)


def goes_on(job: Job, decision: MoveDecision) -> None:
    """It computes where it was, and the decision says why."""
    assert (decision.state, job.state, job.runs.count()) == ("failed", "running", 1)
    assert decision.events.latest("pk").reason
    assert not is_asked(job)
    assert set(rooms.holders()) == set(decision.nodes_now)
    in_order(decision)


@pytest.mark.parametrize(("state", "ends"), [("proposed", "expired"), ("approved", "expired"), ("moved", "moved")])
def test_a_rank_that_is_killed_after_a_transition_fails_the_job_and_moves_nothing(
    slow_job: Slow, fake_grid: FakeGrid, people: Any, state: str, ends: str
) -> None:
    job = slow_job()
    tasks.reschedule()
    if state != "proposed":
        deciding.approve(people["operator"], decision_of(job))
    for _ in range(20 if state == "moved" else 0):
        tasks.poll_runs()
        tasks.reschedule()
        if decision_of(job).state == "moved":
            break
        act(job, fake_grid)
    assert decision_of(job).state == state
    runs = job.runs.count()
    fake_grid.end(newest(job).key, 137)
    decision = settled(job)
    assert (decision.state, job.state, job.runs.count()) == (ends, "failed", runs)
    in_order(decision)
    assert rooms.holders() == {}


def test_who_is_killed_while_a_failed_move_is_noted_notes_it_later(
    slow_job: Slow, fake_grid: FakeGrid, people: Any
) -> None:
    job = slow_job()
    until_moving(job, fake_grid, people["operator"])
    fake_grid.end(newest(job).key, 137)
    tasks.poll_runs()
    with patch.object(moving, "advance", side_effect=Killed), contextlib.suppress(Killed):
        tasks.reschedule()
    assert decision_of(job).state == "moving"
    decision = settled(job)
    assert (decision.state, job.state) == ("failed", "failed")
    in_order(decision)
