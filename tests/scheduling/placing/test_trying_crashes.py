"""Workers that are killed while a job tries its groups: every skeleton starts once, and the job goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gridportal.base import run_directory
from gridportal.base.errors import InputError
from scheduling import tasks
from scheduling.jobs.core.states import FINAL, JobState
from scheduling.jobs.models import Application, Job
from scheduling.messages import message
from scheduling.placing.selectors import rooms
from scheduling.placing.services import storing, taking
from scheduling.placing.services import taking as placing_taking
from scheduling.placing.services import trial_steps as trying
from scheduling.runs.services import submissions
from scheduling.skeletons.models import SkeletonRun
from scheduling.skeletons.services import trial_runs
from tests.examples import examples
from tests.fake_grid import FakeGrid
from tests.scheduling.placing.trial_grid import end_skeletons, keep_skeleton
from tests.scheduling.runs.test_life_crashes import (
    Killed,
    _act_on,
    _forget_everything,
    _let_time_pass,
    _meddle,
    assert_told_in_order,
    dead_workers_are_noticed,
    running_end_well,
)

Submit = Callable[..., Job]
STEPS = [
    (storing, "skeleton_script"),
    (storing, "_trial_rows"),
    (SkeletonRun.objects, "bulk_create"),
    (trying, "acquire"),
    (trying, "still_leased"),
    (trying, "hand_over"),
    (run_directory, "prepare"),
    (trial_runs, "submit"),
    (submissions, "share"),
    (submissions, "RunSpec"),
    (trying, "follow_all"),
    (trial_runs, "close"),
    (trying, "release"),
    (trying, "take_group"),
    (taking, "new_run"),
    (taking, "_write"),
    (taking, "advance"),
    (taking, "_remember"),
]


def go_on(job: Job, grid: FakeGrid, rounds: int = 30) -> Job:
    """What beat does until the job has ended; every skeleton and every run ends well a round after it began."""
    for _ in range(rounds):
        with contextlib.suppress(Killed):
            tasks.advance_jobs()
            tasks.poll_runs()
        end_skeletons(grid, {})
        running_end_well(grid)
        dead_workers_are_noticed()
        job.refresh_from_db()
        if job.is_final:
            break
    return job


@pytest.mark.in_turn("after")  # after one step is before the next
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step[1])
def test_a_worker_killed_at_any_step_costs_time_and_nothing_else(
    submit: Submit, fake_grid: FakeGrid, application: Application, step: tuple[Any, str], after: bool
) -> None:
    keep_skeleton(application)
    job = submit(2)
    owner, name = step
    real, killed_once = getattr(owner, name), []

    def killed(*args: Any, **options: Any) -> Any:
        if after or killed_once:
            found = real(*args, **options)
            if killed_once:
                return found
        killed_once.append(True)
        raise Killed

    with patch.object(owner, name, killed):
        for _ in range(12):
            try:
                tasks.place_jobs(job.cluster)
                tasks.poll_runs()
            except Killed:
                break
            end_skeletons(fake_grid, {})
    assert killed_once
    dead_workers_are_noticed()
    go_on(job, fake_grid)
    assert job.state == "succeeded", message(job.reason)
    assert job.runs.count() == 1
    assert len(fake_grid.submitted) == len(set(fake_grid.submitted)) == 4
    assert list(SkeletonRun.objects.values_list("state", flat=True)) == ["done"] * 3
    assert_told_in_order(job)
    assert rooms.holders() == {}


def test_a_job_that_kills_every_worker_while_trying_takes_the_selections_choice(
    submit: Submit, fake_grid: FakeGrid, application: Application
) -> None:
    keep_skeleton(application)
    job = submit(2)
    with patch.object(trial_runs, "submit", side_effect=Killed):
        with contextlib.suppress(Killed):
            tasks.place_jobs(job.cluster)
        go_on(job, fake_grid)
    assert job.state == "succeeded"
    assert "worker was lost several times" in message(SkeletonRun.objects.filter(state="skipped")[0].reason)
    assert job.placements.get().trial.outcome.by == "selection"


ACTIONS = st.one_of(
    st.tuples(st.just("submit"), st.integers(0, 2)),
    st.tuples(st.just("cancel"), st.integers(0, 9)),
    st.tuples(st.just("place"), st.integers(0, 9)),
    st.tuples(st.just("poll"), st.just(0)),
    st.tuples(st.just("end"), st.integers(0, 9)),
    st.tuples(st.just("take"), st.integers(0, 9)),
    st.tuples(st.just("crash"), st.integers(0, len(STEPS) - 1)),
    st.tuples(st.just("grid"), st.integers(0, 2)),
    st.tuples(st.just("time"), st.just(0)),
)


@settings(
    max_examples=examples(12, fuzz=50),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(actions=st.lists(ACTIONS, min_size=4, max_size=30))
def test_no_interleaving_runs_two_programs_on_a_node_or_forgets_a_job(
    submit: Submit, fake_grid: FakeGrid, people: Any, application: Application, actions: list[tuple[str, int]]
) -> None:
    _forget_everything(fake_grid)
    fake_grid.names = [f"n{number}" for number in range(1, 7)]
    if not application.skeletons.exists():
        keep_skeleton(application)
    jobs: list[Job] = []
    for what, which in actions:
        with contextlib.suppress(Killed):
            _act(what, which, jobs, submit, fake_grid, people["user"])
        assert_nobody_shares(fake_grid)
    fake_grid.down = False
    for job in jobs:
        _let_time_pass()
        _trials_are_old()
        go_on(job, fake_grid)
        assert JobState(job.state) in FINAL, (job.state, message(job.reason))
        assert_told_in_order(job)
        assert job.runs.count() <= 1
    tasks.poll_runs()
    assert not SkeletonRun.objects.filter(state="running", job__state__in=[state.value for state in FINAL]).exists()
    assert len(fake_grid.submitted) == len(set(fake_grid.submitted))


def _trials_are_old() -> None:
    """What was handed over is not on its way any more: who does not know it now has forgotten it."""
    past = timezone.now() - timedelta(seconds=60)
    SkeletonRun.objects.exclude(handed_at=None).update(handed_at=past, state_since=past)


def assert_nobody_shares(grid: FakeGrid) -> None:
    nodes = [node for key, run in grid.runs.items() if run["state"] == "running" for node in grid.on_nodes[key]]
    assert len(nodes) == len(set(nodes)), "two programs on one node"


def _act(what: str, which: int, jobs: list[Job], submit: Submit, grid: FakeGrid, user: Any) -> None:
    if what == "submit":
        if len(jobs) < 5:
            jobs.append(submit((1, 2, 2)[which]))
    elif what in ("cancel", "place", "take"):
        if jobs:
            _act_on_job(what, jobs[which % len(jobs)], which, user)
    elif what == "crash":
        with patch.object(*STEPS[which], side_effect=Killed):
            tasks.advance_jobs()
            tasks.poll_runs()
    elif what == "end":
        _end(grid, which)
    else:
        {"poll": tasks.poll_runs, "time": _let_time_pass, "grid": lambda: _meddle(grid, which)}[what]()


def _act_on_job(what: str, job: Job, which: int, user: Any) -> None:
    if what == "take":
        with contextlib.suppress(InputError):
            placing_taking.take_candidate(user, job, which % 3, "because of the test")
    else:
        _act_on(what, job, user)


def _end(grid: FakeGrid, which: int) -> None:
    end_skeletons(grid, {}, codes={"n1 n2": which % 2})
    for key in [key for key, run in grid.runs.items() if run["state"] == "running"] if which > 6 else []:
        grid.end(key)
