"""Workers that are killed at any step: the job goes on or fails with a reason, and no run is started twice."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db.models import Q
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gridportal.base import run_directory
from gridportal.base.reasons import text_reason
from monitoring.telemetry.services import sweeps
from scheduling import tasks
from scheduling.jobs.core.states import FINAL, LIFE, JobState
from scheduling.jobs.models import Job, JobEvent
from scheduling.jobs.services import leases
from scheduling.jobs.services.advance import advance
from scheduling.messages import message
from scheduling.placing.services import choosing, following, placing, recovery, storing, submission
from scheduling.runs.models import Run
from scheduling.runs.services import ending, ordinary_run, phase_totals, starting, submissions
from scheduling.runs.services import starting as runs_starting
from tests.examples import examples
from tests.fake_grid import FakeGrid
from tests.scheduling.placing.stopped_worker import place_without_starting

Submit = Callable[..., Job]


class Killed(BaseException):
    """SIGKILL, as far as one process can play it: nothing of ours catches it."""


#: (where, what): every place between two writes at which a worker can be killed.
STEPS = [
    (placing, "acquire_all"),
    (placing, "advance_all"),
    (sweeps, "measure"),
    (sweeps, "refresh_loads"),
    (choosing, "select"),
    (placing, "store"),
    (storing, "_write_placements"),
    (storing, "_write_runs"),
    (storing, "advance_all"),
    (JobEvent, "save"),
    (JobEvent.objects, "bulk_create"),
    (starting, "acquire_all"),
    (starting, "backend"),
    (run_directory, "prepare"),
    (submissions, "RunSpec"),
    (starting, "_taken"),
    (starting, "release_all"),
    (starting, "_cancel_if_over"),
    (ordinary_run, "ingest"),
    (ending, "_verdict"),
    (ordinary_run, "advance_run"),
    (run_directory, "exit_record"),
    (phase_totals, "write"),
]


def dead_workers_are_noticed() -> None:
    """A lease later."""
    past = timezone.now() - timedelta(seconds=1)
    Job.objects.filter(~Q(lease_until=None)).update(lease_until=past)
    from monitoring.clusters.models import Cluster

    Cluster.objects.update(measuring_until=None)


def running_end_well(grid: FakeGrid) -> None:
    """All that runs on the Grid verifies and ends."""
    for key, run in grid.runs.items():
        if run["state"] == "running":
            grid.write(key, {"event": "result", "verified": True, "seconds": 1.0, "figures": {}})
            grid.end(key)


def to_the_end(job: Job, grid: FakeGrid, rounds: int = 12) -> Job:
    """What beat does, until the job has ended; every started run ends well in the second round after."""
    for _ in range(rounds):
        tasks.advance_jobs()
        tasks.poll_runs()
        running_end_well(grid)
        _let_time_pass()
        job.refresh_from_db()
        if job.is_final:
            break
    return job


@pytest.mark.in_turn("after")  # after one step is before the next
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step[1])
def test_a_worker_killed_at_any_step_leaves_a_job_that_ends_once(
    submit: Submit, fake_grid: FakeGrid, step: tuple[Any, str], after: bool
) -> None:
    job = submit(2)
    owner, name = step
    real = getattr(owner, name)

    def killed(*args: Any, **options: Any) -> Any:
        if after:
            real(*args, **options)
        raise Killed

    with patch.object(owner, name, killed):
        for task in (lambda: tasks.place_jobs(job.cluster), tasks.poll_runs):
            try:
                task()
            except Killed:
                break
            for key in list(fake_grid.runs):
                fake_grid.write(key, {"event": "phase", "phase": "x", "seconds": 1.0})
                fake_grid.end(key)
    dead_workers_are_noticed()
    to_the_end(job, fake_grid)
    assert job.state == "succeeded", message(job.reason)
    assert fake_grid.submitted == [job.runs.get().key]
    assert job.runs.count() == 1
    assert_told_in_order(job)


def test_a_job_that_kills_every_worker_fails_with_a_reason(submit: Submit, fake_grid: FakeGrid) -> None:
    job = submit(2)
    for _ in range(6):
        with patch.object(choosing, "select", side_effect=Killed):
            try:
                tasks.advance_jobs()
            except Killed:
                dead_workers_are_noticed()
    job.refresh_from_db()
    assert job.state == "failed"
    assert "lost 3 times" in message(job.reason)


def test_a_job_that_kills_every_worker_that_starts_it_fails_too(submit: Submit, fake_grid: FakeGrid) -> None:
    job = submit(2)
    place_without_starting(job.cluster)
    for _ in range(6):
        with patch.object(run_directory, "prepare", side_effect=Killed), contextlib.suppress(Killed):
            recovery.advance_jobs()
        dead_workers_are_noticed()
    job.refresh_from_db()
    assert job.state == "failed"
    assert "lost 3 times while starting" in message(job.reason)


def test_a_worker_that_wakes_up_after_its_lease_stores_nothing(submit: Submit, fake_grid: FakeGrid) -> None:
    job = submit(2)
    real = choosing.select
    sleeping = [True]

    def sleep_meanwhile(*args: Any, **options: Any) -> Any:
        if sleeping.pop():
            dead_workers_are_noticed()
            sleeping.append(False)
            tasks.advance_jobs()
        else:
            sleeping.append(False)
        return real(*args, **options)

    with patch.object(choosing, "select", sleep_meanwhile):
        tasks.place_jobs(job.cluster)
    assert fake_grid.submitted == [job.runs.get().key]
    assert job.runs.count() == 1


def test_a_leased_job_is_not_acquired_by_another_worker(submit: Submit) -> None:
    job = submit(2)
    mine = leases.acquire(job.pk, [JobState.QUEUED])
    assert mine is not None
    assert leases.acquire(job.pk, [JobState.QUEUED]) is None
    dead_workers_are_noticed()
    assert leases.acquire(job.pk, [JobState.QUEUED]) is not None
    assert not leases.renew(mine.lease_holder)
    assert not leases.release(mine)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EPERM, errno.EIO])
def test_a_file_system_that_is_full_or_away_fails_no_job(submit: Submit, fake_grid: FakeGrid, number: int) -> None:
    job = submit(2)
    with patch.object(run_directory, "prepare", side_effect=OSError(number, os.strerror(number))):
        tasks.place_jobs(job.cluster)
    job.refresh_from_db()
    assert job.state == "starting"
    assert "It is tried again every few seconds." in message(job.reason)
    tasks.advance_jobs()
    job.refresh_from_db()
    assert (job.runs.get().backend_id != "", "tried again" in message(job.reason)) == (True, False)


def test_a_lease_that_was_taken_before_the_clock_was_set_back_ends_with_its_worker(
    submit: Submit, fake_grid: FakeGrid
) -> None:
    job = submit(2)
    later = timezone.now() + timedelta(hours=1)
    ahead = patch.object(leases.timezone, "now", lambda: later)
    with ahead, patch.object(placing, "store", side_effect=Killed), contextlib.suppress(Killed):
        tasks.place_jobs(job.cluster)
    job.refresh_from_db()
    assert (job.state, bool(job.lease_holder)) == ("placing", True)
    tasks.advance_jobs()
    job.refresh_from_db()
    assert job.state == "starting"


def test_a_run_that_was_started_on_a_grid_that_is_gone_is_not_started_again(
    submit: Submit, fake_grid: FakeGrid
) -> None:
    job = submit(2)
    place_without_starting(job.cluster)
    with patch.object(starting, "_taken", side_effect=Killed), pytest.raises(Killed):
        runs_starting.start_runs([job.pk])
    Run.objects.update(backend_id="")
    fake_grid.restart()
    _let_time_pass()
    to_the_end(job, fake_grid)
    assert len(fake_grid.submitted) == 1
    assert (job.state, message(job.reason)) == (
        "failed",
        "The Grid was restarted while the job ran on it; resubmit the job.",
    )


def test_a_job_cancelled_while_it_is_handed_over_is_stopped_after_that(
    submit: Submit, fake_grid: FakeGrid, people: Any
) -> None:
    job = submit(2)
    place_without_starting(job.cluster)
    real = fake_grid.submit

    def late(*args: Any, **options: Any) -> str:
        submission.cancel_job(people["user"], Job.objects.get(pk=job.pk))
        _run_is_old()
        following.poll_runs()
        job.refresh_from_db()
        assert job.state == "cancelling"  # not yet: the run may start at any moment
        return real(*args, **options)

    with patch.object(fake_grid, "submit", late):
        runs_starting.start_runs([job.pk])
    following.poll_runs()
    following.poll_runs()
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert fake_grid.runs[job.runs.get().key]["state"] == "finished"


def test_a_message_that_comes_twice_places_once(submit: Submit, fake_grid: FakeGrid) -> None:
    job = submit(2)
    for _ in range(3):
        tasks.place_jobs(job.cluster)
        runs_starting.start_runs([job.pk])
    assert (job.runs.count(), len(fake_grid.submitted)) == (1, 1)


def test_a_move_that_lost_the_race_writes_nothing(people: Any, make_job: Any) -> None:
    job = make_job(people["user"], "running")
    stale = Job.objects.get(pk=job.pk)
    assert advance(job, JobState.CANCELLING, reason=text_reason("first"))
    assert not advance(stale, JobState.SUCCEEDED, reason=text_reason("second"))
    assert not advance(job, JobState.QUEUED, reason=text_reason("third"))
    assert [message(e.reason) for e in job.events.all()][-1] == "first"


def assert_told_in_order(job: Job) -> None:
    """The events are a walk through the state machine that ends where the job is."""
    events = list(job.events.all())
    assert events[0].from_state == ""
    for before, event in itertools.pairwise(events):
        assert event.from_state == before.to_state
        assert LIFE.may_follow(event.from_state, event.to_state)
    assert events[-1].to_state == job.state


ACTIONS = st.one_of(
    st.tuples(st.just("submit"), st.integers(0, 2)),
    st.tuples(st.just("cancel"), st.integers(0, 9)),
    st.tuples(st.just("place"), st.integers(0, 9)),
    st.tuples(st.just("start"), st.integers(0, 9)),
    st.tuples(st.just("poll"), st.just(0)),
    st.tuples(st.just("advance"), st.just(0)),
    st.tuples(st.just("end"), st.integers(0, 9)),
    st.tuples(st.just("crash"), st.integers(0, len(STEPS) - 1)),
    st.tuples(st.just("grid"), st.integers(0, 2)),
    st.tuples(st.just("time"), st.just(0)),
)


@settings(
    max_examples=examples(15, fuzz=80),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(actions=st.lists(ACTIONS, min_size=4, max_size=30))
def test_no_interleaving_runs_a_job_twice_or_forgets_one(
    submit: Submit, fake_grid: FakeGrid, people: Any, actions: list[tuple[str, int]]
) -> None:
    _forget_everything(fake_grid)
    jobs: list[Job] = []
    for what, which in actions:
        with contextlib.suppress(Killed):
            _act(what, which, jobs, submit, fake_grid, people["user"])
        held = [node for run in Run.objects.filter(job__state="running") for node in run.placement.nodes]
        assert len(held) == len(set(held)), "two running jobs on one node"
    fake_grid.down = False
    for job in jobs:
        _let_time_pass()
        to_the_end(job, fake_grid, rounds=30)
        assert JobState(job.state) in FINAL, (job.state, message(job.reason))
        assert_told_in_order(job)
        assert job.state == "succeeded" or message(job.reason)
        assert job.runs.count() <= 1
    assert len(fake_grid.submitted) == len(set(fake_grid.submitted))


def _act(what: str, which: int, jobs: list[Job], submit: Submit, grid: FakeGrid, user: Any) -> None:
    if what == "submit":
        if len(jobs) < 6:
            jobs.append(submit((1, 2, 4)[which]))
    elif what in ("cancel", "place", "start"):
        if jobs:
            _act_on(what, jobs[which % len(jobs)], user)
    elif what == "crash":
        _crash(STEPS[which])
    elif what in ("end", "grid"):
        (_end if what == "end" else _meddle)(grid, which)
    else:
        {"poll": tasks.poll_runs, "advance": tasks.advance_jobs, "time": _let_time_pass}[what]()


def _act_on(what: str, job: Job, user: Any) -> None:
    if what == "cancel":
        submission.cancel_job(user, Job.objects.get(pk=job.pk))
        tasks.cancel_run(job.pk)
    else:
        tasks.place_jobs(job.cluster) if what == "place" else runs_starting.start_runs([job.pk])


def _end(grid: FakeGrid, which: int) -> None:
    for key in [key for key, run in grid.runs.items() if run["state"] == "running"][: which + 1]:
        grid.end(key, which % 2)


def _meddle(grid: FakeGrid, which: int) -> None:
    grid.down = which == 1
    if which == 2:
        grid.restart()


def _crash(step: tuple[Any, str]) -> None:
    with patch.object(step[0], step[1], side_effect=Killed):
        tasks.advance_jobs()
        tasks.poll_runs()


def _let_time_pass() -> None:
    dead_workers_are_noticed()
    _run_is_old()


def _run_is_old() -> None:
    past = timezone.now() - timedelta(seconds=60)
    Run.objects.exclude(started_at=None).update(started_at=past)
    Run.objects.update(created_at=past, state_since=past)


def _forget_everything(grid: FakeGrid) -> None:
    grid.restart()
    grid.submitted.clear()
    from monitoring.clusters.models import Cluster
    from scheduling.placing.models import Placement

    Run.objects.all().delete()
    Placement.objects.all().delete()
    Job.objects.all().delete()
    Cluster.objects.all().delete()
