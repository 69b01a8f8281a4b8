"""Whatever is killed at any step of a decision: the job moves once, or goes on where it is.

Inside one process, which is the same where all that a part leaves behind is in the database and on disk: a worker or
web process is an exception that nobody catches, before or after a step is committed; a broker is its messages, lost or
delivered twice; a controller of the cluster (slurmctld, the Grid's daemon) refuses whatever it is asked; a rank is the
end of its run (`test_moves_disturbed.py` has the last three). `make chaos` kills the real ones, with moves under way.
"""

from __future__ import annotations

import contextlib
import itertools
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.utils import timezone

from gridportal.base.errors import ConflictError
from scheduling import tasks
from scheduling.contracts.models import ContractCall
from scheduling.jobs.models import Announcement, Job
from scheduling.messages import message
from scheduling.notices.models import Notice
from scheduling.placing.selectors import rooms
from scheduling.rescheduling.core.decision_states import DECISION_LIFE
from scheduling.rescheduling.models import DecisionEvent, MoveDecision
from scheduling.rescheduling.services import deciding, moving, rescheduler, weighing_jobs
from scheduling.runs.continuation_models import Continuation
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints.stoppable_jobs import end_well, is_asked, newest, obey, restored
from tests.scheduling.checkpoints.test_continuing_crashes import a_lease_later
from tests.scheduling.rescheduling.test_pages import words
from tests.scheduling.rescheduling.test_rescheduler import Slow, decision_of, slow_job
from tests.scheduling.runs.test_life_crashes import Killed

__all__ = ["slow_job"]
#: What is killed, and before or after which call of it, in the order of a move's life.
STEPS = [
    ("proposed", weighing_jobs, "tell_of_proposal", 1),
    ("proposed", DecisionEvent, "save", 1),
    ("proposed", rescheduler.answering, "answer", 1),
    ("approved", deciding, "advance", 1),
    ("approved", deciding, "audit", 1),
    ("moving", moving, "stop_and_continue", 1),
    ("moving", moving, "advance", 1),
    ("moved", moving, "advance", 2),
    ("verified", moving, "advance", 3),
]


def a_round(job: Job, grid: FakeGrid, operator: Any) -> None:
    """What beat, the operator and the program do next; each may be killed, and the next round goes on."""
    with contextlib.suppress(Killed):
        tasks.advance_jobs()
        tasks.poll_runs()
    with contextlib.suppress(Killed):
        tasks.reschedule()
    a_lease_later()
    with contextlib.suppress(Killed, ConflictError):
        for proposal in MoveDecision.objects.filter(job=job, state="proposed"):
            deciding.approve(operator, proposal)
    act(job, grid)


def act(job: Job, grid: FakeGrid) -> None:
    """Its program stops when it is asked to, reads its data elsewhere, and ends when it was moved."""
    run = newest(job)
    if grid.runs.get(run.key, {}).get("state") != "running":
        return
    if run.number == 1:
        if is_asked(job):
            obey(job, grid)
    elif run.restored is None:
        restored(job, grid)
    elif decision_of(job).state == "moved":
        end_well(job, grid)


def go_on(job: Job, grid: FakeGrid, operator: Any, rounds: int = 30) -> MoveDecision:
    for _ in range(rounds):
        a_round(job, grid, operator)
        job.refresh_from_db()
        if job.is_final and not MoveDecision.objects.exclude(state="verified").exists():
            break
    return decision_of(job)


@pytest.mark.in_turn("after")  # after one step is before the next
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step[0]}-{step[2]}")
def test_who_is_killed_at_a_step_of_a_decision_costs_time_and_nothing_else(
    slow_job: Slow, fake_grid: FakeGrid, people: Any, step: tuple[str, Any, str, int], after: bool
) -> None:
    job = slow_job()
    _, owner, name, number = step
    real, calls = getattr(owner, name), []

    def once(*args: Any, **options: Any) -> Any:
        calls.append(name)
        if len(calls) != number:
            return real(*args, **options)
        if after:
            real(*args, **options)
        raise Killed

    with patch.object(owner, name, once):
        decision = go_on(job, fake_grid, people["operator"])
    assert len(calls) >= number, "it did not come to where it should be killed"
    moved_once(job, decision, fake_grid)
    tasks.send_notices()
    assert not Announcement.objects.exists()
    assert Notice.objects.filter(kind="proposed", person=people["operator"]).count() == 1
    assert Notice.objects.filter(kind="ended", person=people["user"]).count() == 1


def moved_once(job: Job, decision: MoveDecision, grid: FakeGrid) -> None:
    """It went on elsewhere and came to its end, by one decision, one move and two runs, and nothing is left over."""
    assert (job.state, decision.state) == ("succeeded", "verified"), message(job.reason)
    assert (job.runs.count(), job.continuations.count(), MoveDecision.objects.count()) == (2, 1, 1)
    assert newest(job).placement.nodes == decision.nodes
    assert grid.submitted == list(job.runs.order_by("number").values_list("key", flat=True))
    assert rooms.holders() == {}
    assert not ContractCall.objects.filter(answer={}, contract__closed_at=None).exists()
    in_order(decision)


def in_order(decision: MoveDecision) -> None:
    """Its events are one legal life, each with a time."""
    states = [(event.from_state, event.to_state) for event in decision.events.all()]
    assert states[0] == ("", "proposed")
    for (_, before), (then_from, then) in itertools.pairwise(states):
        assert then_from == before
        assert DECISION_LIFE.may_follow(before, then)
    assert states[-1][1] == decision.state


def until_moving(job: Job, grid: FakeGrid, operator: Any) -> MoveDecision:
    """The program has been asked to stop, and has done nothing yet."""
    tasks.reschedule()
    deciding.approve(operator, decision_of(job))
    for _ in range(3):
        tasks.reschedule()
        tasks.poll_runs()
    assert is_asked(job)
    return decision_of(job)


def settled(job: Job) -> MoveDecision:
    for _ in range(4):
        tasks.poll_runs()
        tasks.reschedule()
    job.refresh_from_db()
    return decision_of(job)


def test_a_restart_that_fails_goes_back_and_is_no_move(slow_job: Slow, fake_grid: FakeGrid, people: Any) -> None:
    job = slow_job()
    until_moving(job, fake_grid, people["operator"])
    obey(job, fake_grid)
    settled(job)
    fake_grid.end(newest(job).key, 3)
    decision = settled(job)
    restored(job, fake_grid)
    decision = settled(job)
    assert (decision.state, job.state) == ("failed", "running")
    assert newest(job).placement.nodes == decision.nodes_now
    assert newest(job).number == 3


def test_nodes_are_reserved_before_the_old_ones_are_given_up(slow_job: Slow, fake_grid: FakeGrid, people: Any) -> None:
    job = slow_job()
    decision = until_moving(job, fake_grid, people["operator"])
    assert set(rooms.holders()) == {*decision.nodes_now, *decision.nodes}
    obey(job, fake_grid)
    settled(job)
    restored(job, fake_grid)
    settled(job)
    assert set(rooms.holders()) == set(decision.nodes)


def on_both_pages(decision: MoveDecision, sentence: str, operator: Any) -> None:
    for address in (decision.get_absolute_url(), decision.job.get_absolute_url()):
        assert sentence in words(operator.get(address)), address


def test_a_rank_that_is_killed_while_it_is_to_stop_fails_the_job_and_says_so_on_both_pages(
    slow_job: Slow, fake_grid: FakeGrid, people: Any, client_as: Any
) -> None:
    job = slow_job()
    until_moving(job, fake_grid, people["operator"])
    fake_grid.end(newest(job).key, 137)
    decision = settled(job)
    assert (decision.state, job.state, job.runs.count()) == ("failed", "failed", 1)
    on_both_pages(decision, "The program ended with exit code 137 (killed).", client_as("operator"))
    assert rooms.holders() == {}


def test_a_program_that_ignores_the_stop_goes_on_where_it_is_and_that_is_said(
    slow_job: Slow, fake_grid: FakeGrid, people: Any, client_as: Any
) -> None:
    job = slow_job()
    until_moving(job, fake_grid, people["operator"])
    Continuation.objects.update(stop_sent_at=timezone.now() - timedelta(hours=1))
    decision = settled(job)
    assert (decision.state, job.state, job.runs.count()) == ("failed", "running", 1)
    on_both_pages(decision, "it did not stop within 60 s", client_as("operator"))
    assert not is_asked(job)
    assert set(rooms.holders()) == set(decision.nodes_now)


def test_a_program_that_ends_before_it_stops_has_succeeded_and_that_is_said(
    slow_job: Slow, fake_grid: FakeGrid, people: Any, client_as: Any
) -> None:
    job = slow_job()
    until_moving(job, fake_grid, people["operator"])
    end_well(job, fake_grid)
    decision = settled(job)
    assert (decision.state, job.state, job.runs.count()) == ("failed", "succeeded", 1)
    on_both_pages(decision, "The program came to its end before it stopped.", client_as("operator"))
    assert rooms.holders() == {}


@pytest.mark.parametrize("verb", ["refuse", "override"])
def test_who_is_killed_while_somebody_decides_has_decided_nothing(
    slow_job: Slow, fake_grid: FakeGrid, people: Any, verb: str
) -> None:
    slow_job()
    tasks.reschedule()
    proposal = MoveDecision.objects.get()
    others = () if verb == "refuse" else (list(proposal.nodes),)
    with patch.object(deciding, "audit", side_effect=Killed), pytest.raises(Killed):
        getattr(deciding, verb)(people["operator"], proposal, *others, "It is told so.")
    proposal.refresh_from_db()
    assert (proposal.state, proposal.by, proposal.events.count()) == ("proposed", "", 1)
    decided = getattr(deciding, verb)(people["operator"], proposal, *others, "It is told so.")
    in_order(decided)
    with pytest.raises(ConflictError):
        deciding.approve(people["operator"], proposal)


def test_a_proposal_expires_once_whoever_is_killed(slow_job: Slow, fake_grid: FakeGrid, people: Any) -> None:
    job = slow_job()
    tasks.reschedule()
    MoveDecision.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with patch.object(deciding.telling_contracts, "tell_contract", side_effect=Killed), contextlib.suppress(Killed):
        tasks.reschedule()
    tasks.reschedule()
    expired = MoveDecision.objects.order_by("pk").first()
    assert expired is not None
    assert [event.to_state for event in expired.events.all()] == ["proposed", "expired"]
    job.refresh_from_db()
    assert (job.state, job.runs.count(), is_asked(job)) == ("running", 1, False)
