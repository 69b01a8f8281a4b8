"""Many jobs at once cost few questions to the database, and each gets what it would get alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from gridportal.base.reasons import NOTHING
from scheduling import tasks
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job, JobEvent
from scheduling.jobs.services.advance import advance
from scheduling.messages import message
from scheduling.placing import asked
from scheduling.placing.services import following, placing, recovery, rounds, snapshot, submission
from scheduling.placing.services import rounds as placing_rounds
from scheduling.runs.models import Run
from scheduling.runs.phase_models import PhaseReport
from scheduling.runs.services import ending_together, starting
from scheduling.runs.services.one_at_a_time import OneAtATime
from tests.fake_grid import FakeGrid

Submit = Callable[..., Job]
VERIFIED = {"event": "result", "verified": True, "seconds": 1.5, "figures": {"zeta": 8.6}}
PHASE = {"event": "phase", "phase": "conj_grad", "iteration": 1, "of": 15, "seconds": 0.5}


@pytest.fixture(autouse=True)
def no_clock_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine stores and looks more often."""
    for module, limit in ((placing, "_STORED_EVERY"), (snapshot, "_KEPT"), (starting, "_WRITTEN_EVERY")):
        monkeypatch.setattr(module, limit, 3600.0)


@pytest.fixture
def started(submit: Submit, fake_grid: FakeGrid) -> Callable[[int], list[Run]]:
    """So many runs that the backend has and that nobody has polled yet."""
    fake_grid.names = [f"n{number}" for number in range(1, 21)]

    def make(count: int) -> list[Run]:
        jobs = [submit(1) for _ in range(count)]
        recovery.advance_jobs()
        return [Run.objects.select_related("job").get(job=job) for job in jobs]

    return make


def asked_for(work: Callable[[], Any]) -> int:
    """How many statements that takes."""
    with CaptureQueriesContext(connection) as seen:
        work()
    return len(seen)


def polled(run: Run) -> Run:
    return Run.objects.select_related("job").get(pk=run.pk)


def test_placing_and_starting_ten_times_as_many_takes_no_more_questions(submit: Submit, fake_grid: FakeGrid) -> None:
    fake_grid.names = [f"n{number}" for number in range(1, 21)]
    submit(1), recovery.advance_jobs()
    counts = []
    for count in (2, 15):
        for _ in range(count):
            submit(1)
        counts.append(asked_for(recovery.advance_jobs))
    assert Job.objects.filter(state="starting").exclude(runs__backend_id="").count() == 18
    assert counts[1] - counts[0] <= 2


def test_ending_ten_times_as_many_takes_no_more_questions(
    started: Callable[[int], list[Run]], fake_grid: FakeGrid
) -> None:
    counts = []
    for count in (3, 18):
        for run in started(count):
            fake_grid.write(run.key, PHASE, VERIFIED)
            fake_grid.end(run.key)
        counts.append(asked_for(following.poll_runs))
    assert Job.objects.filter(state="succeeded", runs__verified=True).count() == PhaseReport.objects.count() == 21
    assert counts[1] <= counts[0]
    assert counts[0] <= 15  # one for their applications, whose patterns judge the output, one announces their ends


def test_each_of_many_ends_as_it_would_alone(started: Callable[[int], list[Run]], fake_grid: FakeGrid) -> None:
    good, wrong, crashed, cancelled, silent, reported = runs = started(6)
    submission.cancel_job(cancelled.job.owner, cancelled.job)
    fake_grid.write(good.key, VERIFIED)
    fake_grid.write(wrong.key, VERIFIED | {"verified": False})
    fake_grid.write(reported.key, {"event": "start", "hosts": ["n3"]}, PHASE, PHASE)
    for run, code in zip(runs, (0, 0, 3, 0, 0, 0), strict=True):
        fake_grid.end(run.key, code)
    assert following.poll_runs() == 6
    states = [polled(run).job.state for run in runs]
    assert states == ["succeeded", "failed", "failed", "cancelled", "succeeded", "succeeded"]
    assert message(polled(good).job.reason) == "Verified by the program's own check."
    assert "exit code 3" in message(polled(crashed).job.reason)
    assert message(polled(cancelled).job.reason) == "Cancelled by user while it was running."
    assert (polled(silent).verified, polled(good).verified, polled(wrong).verified) == (None, True, False)
    assert (polled(reported).hosts, polled(reported).phases.count()) == (["n3"], 2)
    for run in map(polled, runs):
        assert (run.state, run.reason) == (run.job.state, run.job.reason)
        assert None not in (run.ended_at, run.job.ended_at)
        assert run.started_at == run.job.started_at
        assert [event.to_state for event in run.job.events.all()].count(run.job.state) == 1
        assert (run.job.lease_until, run.job.lease_holder) == (None, "")


def test_a_job_that_somebody_else_moved_meanwhile_is_left_to_them(
    started: Callable[[int], list[Run]], fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, real = started(3), ending_together._write

    def write(over: Any) -> Any:
        advance(Job.objects.get(pk=runs[0].job_id), JobState.FAILED, reason=NOTHING)
        Run.objects.filter(pk=runs[1].pk).update(progress_offset=7)
        return real(over)

    monkeypatch.setattr(ending_together, "_write", write)
    for run in runs:
        fake_grid.write(run.key, VERIFIED)
        fake_grid.end(run.key)
    following.poll_runs()
    assert polled(runs[0]).job.state == "failed"
    assert (polled(runs[1]).progress_offset, polled(runs[2]).job.state) == (7, "succeeded")
    assert JobEvent.objects.filter(job=runs[0].job, to_state__in=["failed", "succeeded"]).count() == 1


def test_what_cannot_be_written_together_is_written_one_by_one(
    started: Callable[[int], list[Run]], fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise DatabaseError("not together")

    monkeypatch.setattr(ending_together, "_update", broken)
    runs = started(3)
    for run in runs:
        fake_grid.write(run.key, VERIFIED)
        fake_grid.end(run.key)
    assert following.poll_runs() == 3
    assert [polled(run).job.state for run in runs] == ["succeeded"] * 3
    assert JobEvent.objects.filter(to_state="succeeded").count() == 3


class Killed(BaseException):
    """What a signal does: nothing catches it."""


@pytest.mark.parametrize("step", ["_as_known", "_update", "_take_over"])
def test_a_worker_killed_while_it_ends_many_leaves_each_to_end_once(
    started: Callable[[int], list[Run]], fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def killed(*_: Any) -> Any:
        raise Killed

    runs = started(3)
    for run in runs:
        fake_grid.write(run.key, PHASE, VERIFIED)
        fake_grid.end(run.key)
    with monkeypatch.context() as patch:
        patch.setattr(ending_together, step, killed)
        with pytest.raises(Killed):
            following.poll_runs()
    following.poll_runs()
    assert [polled(run).job.state for run in runs] == ["succeeded"] * 3
    assert JobEvent.objects.filter(to_state="succeeded").count() == PhaseReport.objects.count() == 3


def test_a_file_that_cannot_be_read_costs_the_others_nothing(
    started: Callable[[int], list[Run]], fake_grid: FakeGrid
) -> None:
    runs = started(3)
    for run in runs:
        fake_grid.write(run.key, VERIFIED)
        fake_grid.end(run.key)
    progress = Path(runs[1].run_dir, "progress.jsonl")
    progress.unlink()
    progress.mkdir()
    assert following.poll_runs() == 3
    assert [polled(run).job.state for run in runs] == ["succeeded", "failed", "succeeded"]
    assert "progress.jsonl is a directory" in message(polled(runs[1]).job.reason)


def test_while_a_round_is_under_way_others_leave_and_it_goes_once_more(
    submit: Submit, fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(1)
    later, real = list[Job](), rounds.Round.place

    def place(round_: Any, jobs: Any) -> Any:
        if not later:
            later.append(submit(1))
            assert placing_rounds.place_and_start_all("grid") == 0  # as another thread would
        return real(round_, jobs)

    monkeypatch.setattr(rounds.Round, "place", place)
    assert placing_rounds.place_and_start_all("grid") == 2
    assert set(Job.objects.values_list("state", flat=True)) == {"starting"}
    assert fake_grid.asked.count("node_load") == 1  # one look at the network was enough


def test_a_round_that_fails_stands_in_nobodys_way(
    submit: Submit, fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> Any:
        raise RuntimeError("a defect")

    submit(1)
    with monkeypatch.context() as patch:
        patch.setattr(rounds.Round, "place", fails)
        with pytest.raises(RuntimeError):
            placing_rounds.place_and_start_all("grid")
    Job.objects.update(lease_until=None)
    assert placing_rounds.place_and_start_all("grid") == 1


def test_a_round_ends_however_many_new_jobs_come(
    submit: Submit, fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one begins with the oldest again."""
    first, real = submit(1), rounds.Round.place

    def place(round_: Any, jobs: Any) -> Any:
        submit(1)
        return real(round_, jobs)

    monkeypatch.setattr(rounds.Round, "place", place)
    assert placing_rounds.place_and_start_all("grid") == 1
    assert list(Job.objects.order_by("pk").values_list("state", flat=True)) == ["starting", "queued"]
    assert Run.objects.get().job == first


def test_only_one_of_many_threads_is_at_it() -> None:
    work, inside, most = OneAtATime(), [0], [0]
    start, lock = threading.Barrier(8), threading.Lock()

    def go() -> None:
        start.wait(30)
        for _ in range(500):
            turn = work.begin("a")
            if turn is None:
                continue
            with turn:
                going = True
                while going:
                    with lock:
                        inside[0] += 1
                        most[0] = max(most[0], inside[0])
                    with lock:
                        inside[0] -= 1
                    going = turn.again()

    threads = [threading.Thread(target=go) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (most[0], inside[0]) == (1, 0)
    assert work.begin("a") is not None


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The clusters to which messages were sent."""
    clusters: list[str] = []
    monkeypatch.setattr(tasks.place_jobs, "send", clusters.append)
    return clusters


@pytest.mark.django_db(transaction=True)
def test_one_message_is_sent_for_many_submissions_until_a_worker_begins(
    submit: Submit, fake_grid: FakeGrid, sent: list[str], settings: Any
) -> None:
    settings.PORTAL = settings.PORTAL.model_copy(update={"redis_url": "redis://here"})  # the cache stays this process's
    jobs = [submit(1) for _ in range(3)]
    for job in jobs:
        tasks.place_soon(job)
    assert sent == ["grid"]
    tasks.place_jobs("grid")
    assert set(Job.objects.values_list("state", flat=True)) == {"starting"}
    tasks.place_soon(submit(1))
    assert sent == ["grid", "grid"]


def test_without_redis_each_submission_sends_its_message(submit: Submit, fake_grid: FakeGrid, settings: Any) -> None:
    assert not settings.PORTAL.redis_url
    assert [asked.is_first("grid") for _ in range(3)] == [True, True, True]
