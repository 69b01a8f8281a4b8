"""Workers that are killed at any step of a move: it completes, or the job goes on; none is lost, none runs twice."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db.models import Q
from django.utils import timezone

from gridportal.base import run_directory
from scheduling import tasks
from scheduling.checkpoints.services import arrival, continuing, halting, move_end, next_run, requesting, reserving
from scheduling.jobs.models import Application, Job, JobEvent
from scheduling.messages import message
from scheduling.placing.models import Placement
from scheduling.placing.selectors import rooms
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.models import Run
from scheduling.runs.services import ending, job_folder, starting, stop_answer, submissions
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints.stoppable_jobs import end_well, is_asked, newest, obey, restored, running, stoppable
from tests.scheduling.checkpoints.test_continuing import told_in_order
from tests.scheduling.runs.test_life_crashes import Killed, dead_workers_are_noticed

Submit = Callable[..., Job]
#: Every place between two writes at which a worker can be killed.
STEPS = [
    (reserving, "PlacementSnapshot"),
    (reserving, "choose"),
    (Placement, "save"),
    (reserving, "advance"),
    (reserving, "advance_run"),
    (job_folder, "forget_answer"),
    (job_folder, "ask_stop"),
    (JobEvent, "save"),
    (stop_answer, "stopped_reason"),
    (ending, "advance_run"),
    (halting, "advance"),
    (job_folder, "take_stop_back"),
    (next_run, "new_run"),
    (Run, "save"),
    (next_run, "start_runs"),
    (starting, "acquire_all"),
    (run_directory, "prepare"),
    (submissions, "share"),
    (starting, "_taken"),
    (arrival, "phases"),
    (next_run, "advance"),
    (move_end, "advance"),
]


def a_lease_later() -> None:
    dead_workers_are_noticed()
    past = timezone.now() - timedelta(seconds=1)
    Continuation.objects.filter(~Q(lease_until=None)).update(lease_until=past)


def go_on(job: Job, grid: FakeGrid, *, rounds: int = 40) -> Job:
    """What beat does, and what the program does: it obeys, reads its data, and in the end comes to its end."""
    for _ in range(rounds):
        with contextlib.suppress(Killed):
            tasks.advance_jobs()
            tasks.poll_runs()
        a_lease_later()
        act(job, grid)
        job.refresh_from_db()
        if job.is_final and not Continuation.objects.filter(ended_at=None).exists():
            break
    return job


def act(job: Job, grid: FakeGrid) -> None:
    """What its program does next."""
    run = newest(job)
    if grid.runs.get(run.key, {}).get("state") != "running":
        return
    if run.number == 1:
        if is_asked(job):
            obey(job, grid)
    elif run.restored is None:
        restored(job, grid)
    elif not job.continuations.filter(ended_at=None).exists():
        end_well(job, grid)


@pytest.mark.in_turn("after")  # after one step is before the next
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step[1])
def test_a_worker_killed_at_any_step_costs_time_and_nothing_else(
    submit: Submit, fake_grid: FakeGrid, application: Application, people: Any, step: tuple[Any, str], after: bool
) -> None:
    stoppable(application)
    job = running(submit)
    requesting.stop_and_continue(job, by=people["user"], nodes=["n3", "n4"])
    owner, name = step
    real, killed = getattr(owner, name), []

    def once(*args: Any, **options: Any) -> Any:
        if killed:
            return real(*args, **options)
        if after:
            real(*args, **options)
        killed.append(True)
        raise Killed

    with patch.object(owner, name, once):
        go_on(job, fake_grid)
    assert killed, "it did not come to where it should be killed"
    assert (job.state, job.runs.count()) == ("succeeded", 2), message(job.reason)
    move = job.continuations.get()
    assert (move.state, newest(job).placement.nodes) == ("moved", ["n3", "n4"])
    assert fake_grid.submitted == list(job.runs.order_by("number").values_list("key", flat=True))
    assert rooms.holders() == {}
    assert not is_asked(job)
    told_in_order(job)


def test_a_move_that_kills_every_worker_leaves_the_job_where_it_is(
    submit: Submit, fake_grid: FakeGrid, application: Application, people: Any
) -> None:
    stoppable(application)
    job = running(submit)
    requesting.stop_and_continue(job, by=people["user"])
    with patch.object(reserving, "choose", side_effect=Killed):
        for _ in range(6):
            with contextlib.suppress(Killed):
                tasks.poll_runs()
            a_lease_later()
    move = job.continuations.get()
    job.refresh_from_db()
    assert (move.state, job.state) == ("refused", "running")
    assert message(move.reason) == "The worker that moved it was lost 3 times."


def test_many_workers_at_once_make_one_run(
    submit: Submit, fake_grid: FakeGrid, application: Application, people: Any
) -> None:
    stoppable(application)
    job = running(submit)
    move = requesting.stop_and_continue(job, by=people["user"], nodes=["n3", "n4"])
    for _ in range(3):
        continuing.advance_continuations()
    obey(job, fake_grid)
    tasks.poll_runs()
    stale = Continuation.objects.select_related("job", "source__placement", "placement").get(pk=move.pk)
    for _ in range(3):
        continuing.advance_continuations()
    stale.state = "stopped"
    stale.lease_holder = "somebody who was held up"
    assert not next_run.make_run(stale)
    assert job.runs.count() == 2
