"""Following, the same for every kind of run: one question, patience with who forgot, told to stop until it has."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from gridportal.base.batch_system import RunStatus
from gridportal.base.errors import BackendError
from gridportal.base.run_directory import ExitRecord, RunFileError
from monitoring.clusters.models import Cluster
from scheduling import tasks
from scheduling.jobs.models import Job
from scheduling.messages import message
from scheduling.placing.selectors.rooms import holders
from scheduling.placing.services import rounds, submission
from scheduling.runs.models import Run
from scheduling.runs.services.follow import Passing, Step, follow_all
from scheduling.runs.services.submissions import Stage
from scheduling.skeletons.models import SkeletonRun
from tests.scheduling.placing.trial_grid import keep_skeleton
from tests.scheduling.runs.fake_queue import FakeQueue

Submit = Callable[..., Job]
Row = Run | SkeletonRun
FIRST = "100"
LONG_AGO = timedelta(seconds=31)


def polled(row: Row) -> Row:
    tasks.poll_runs()
    return type(row).objects.select_related("job").get(pk=row.pk)


@pytest.fixture(params=["run", "skeleton"])
def row(request: pytest.FixtureRequest, submit: Submit, fake_queue: FakeQueue, application: Any) -> Row:
    """A run of each kind that its cluster has, and which runs there; its number is FIRST."""
    if request.param == "skeleton":
        keep_skeleton(application, seconds=2000.0)
    job = submit(2)
    rounds.place_and_start_all(job.cluster)
    tasks.poll_runs()
    fake_queue.begin(FIRST)
    model = SkeletonRun if request.param == "skeleton" else Run
    row = polled(model.objects.get(backend_id=FIRST))
    assert row.state == "running"
    return row


def test_a_run_that_is_missed_for_a_moment_keeps_its_nodes_and_goes_on(row: Row, fake_queue: FakeQueue) -> None:
    before, its_nodes = fake_queue.status.pop(FIRST), set(holders("hpc"))
    row = polled(row)
    assert (row.state, row.ended_at) == ("missing", None)
    assert set(holders("hpc")) == its_nodes
    fake_queue.status[FIRST] = before
    row = polled(row)
    assert (row.state, row.started_at is None) == ("running", False)


def test_one_that_is_missed_for_long_is_lost(row: Row, fake_queue: FakeQueue) -> None:
    fake_queue.status.pop(FIRST)
    row = polled(row)
    type(row).objects.filter(pk=row.pk).update(state_since=timezone.now() - LONG_AGO)
    assert polled(row).state == "failed"
    assert row.state_since - timezone.now() < timedelta(0)


def test_a_clock_that_was_set_back_keeps_nobody_missing_for_ever(row: Row, fake_queue: FakeQueue) -> None:
    fake_queue.status.pop(FIRST)
    row = polled(row)
    type(row).objects.filter(pk=row.pk).update(state_since=timezone.now() + timedelta(hours=1))
    assert polled(row).state == "failed"


def test_one_that_is_stopped_while_it_is_missing_is_told_so_when_it_is_back(
    row: Row, fake_queue: FakeQueue, people: Any
) -> None:
    before = fake_queue.status.pop(FIRST)
    row = polled(row)
    submission.cancel_job(people["user"], row.job)
    tasks.cancel_run(row.job_id)
    for _ in range(3):
        row = polled(row)
        assert row.is_stopping
    assert row.state == "missing"
    fake_queue.status[FIRST] = before
    fake_queue.asked.clear()
    assert polled(row).state == "stopping"
    assert ("cancel", FIRST) in fake_queue.asked
    row = polled(row)
    assert row.state in ("cancelled", "stopped")
    assert message(row.reason)


def test_one_that_is_stopped_and_stays_missing_ends(row: Row, fake_queue: FakeQueue, people: Any) -> None:
    submission.cancel_job(people["user"], row.job)
    fake_queue.status.pop(FIRST)
    for _ in range(2):
        row = polled(row)
    type(row).objects.filter(pk=row.pk).update(state_since=timezone.now() - LONG_AGO)
    assert polled(row).state in ("cancelled", "stopped")
    assert FIRST not in {str(each.backend_id) for each in type(row).objects.filter(ended_at=None)}


def test_a_cluster_that_does_not_answer_is_no_cluster_that_forgot(row: Row, fake_queue: FakeQueue) -> None:
    fake_queue.error = BackendError("squeue failed: it is away.")
    row = polled(row)
    assert row.state == "running"
    assert "away" in message(row.job.reason)
    assert Cluster.objects.get(name="hpc").poll_error


class Plain:
    """A third kind of run: what it must say of itself, and nothing else."""

    def __init__(self, key: str, job: Job, state: str = "running", since: datetime | None = None) -> None:
        self.row = SimpleNamespace(
            job=job,
            key=key,
            backend_id="",
            run_dir="/nowhere",
            script="",
            state=state,
            state_since=since or timezone.now(),
            started_at=None,
            is_stopping=state == "stopping",
            is_recalled=False,
        )
        self.told: list[Any] = []

    def read(self, *, over: bool) -> bool:
        return True

    def step(self, to: Passing) -> None:
        self.row.state = to.value

    def goes_on(self, stage: Stage, status: RunStatus) -> Step:
        self.told.append(stage)
        return Step.CHANGED

    def ends(self, status: RunStatus, record: ExitRecord | None) -> Step:
        raise OSError("its disk is gone")

    def forgotten(self) -> Step:
        self.told.append("forgotten")
        return Step.CHANGED

    def fails(self, status: RunStatus, failure: RunFileError) -> Step:
        self.told.append(str(failure))
        return Step.NONE


def test_a_third_kind_of_run_needs_no_loop_of_its_own(submit: Submit, fake_queue: FakeQueue) -> None:
    job, kinds = submit(1), []
    for key, state in (("a", "running"), ("b", "missing"), ("c", "stopping"), ("d", "running")):
        kinds.append(Plain(key, job, state, timezone.now() - LONG_AGO))
        if key != "b":
            fake_queue.specs[key] = SimpleNamespace(key=key)
            fake_queue.begin(key)
    fake_queue.end("d")
    silent: list[str] = []
    found = follow_all("hpc", kinds, silent.append)
    assert [(each.row.key, step) for each, step in found or ()] == [
        ("a", Step.CHANGED),
        ("b", Step.CHANGED),
        ("c", Step.NONE),
        ("d", Step.NONE),
    ]
    assert [each.told for each in kinds[:3]] == [[Stage.RUNS], ["forgotten"], []]
    assert "its disk is gone" in kinds[3].told[0]
    assert [verb for verb, _ in fake_queue.asked].count("poll") == 1
    assert ("cancel", "c") in fake_queue.asked
    fake_queue.error = BackendError("it is away")
    assert (follow_all("hpc", kinds, silent.append), silent) == (None, ["it is away"])
