"""When jobs that run are expected to end: by which source, and steadily between two reports."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from scheduling.contracts.core.first_reports import FIRST_REPORTS
from scheduling.contracts.core.monitor_state import MonitorState
from scheduling.contracts.core.phase_ratio import PhaseRatio
from scheduling.contracts.models import Contract
from scheduling.contracts.selectors import run_ends
from scheduling.contracts.selectors.run_ends import expected_ends, rest_of_run
from scheduling.jobs.models import Job
from scheduling.performance.core.phase_prediction import PhasePrediction, Prediction
from scheduling.placing.core.expected_ends import EndSource
from scheduling.placing.services import rounds
from scheduling.placing.services.start_estimate import ways_to_start
from scheduling.runs.models import Run
from tests.fake_grid import FakeGrid
from tests.markup import markup

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def running(people: Any, make_job: Any) -> Job:
    """A job that has run for 10 s, of a limit of an hour."""
    job: Job = make_job(people["user"], "running", time_limit=3600)
    began = NOW - timedelta(seconds=10)
    Job.objects.filter(pk=job.pk).update(started_at=began)
    Run.objects.filter(job=job).update(started_at=began)
    job.refresh_from_db()
    return job


def contract(job: Job, model: str = "cactus", reported: float | None = None) -> Contract:
    """20 steps of 5 s were promised; one was reported `reported` seconds ago."""
    promised = Prediction(model, (PhasePrediction("step", 20, (5.0,)),))
    state = MonitorState()
    if reported is not None:
        phases = {"step": PhaseRatio(1, 0.05, 5.0, 5.0)}
        state = MonitorState(phases=phases, actual=5.0, predicted=5.0, heard_at=NOW.timestamp() - reported)
    monitor = state.document()
    return Contract.objects.create(run=job.runs.get(), promised=promised.document(), monitor=monitor)


def rest(job: Job, row: Contract | None, after: float = 0.0) -> tuple[float, EndSource]:
    found = rest_of_run(job, row, NOW + timedelta(seconds=after))
    assert found is not None
    return round(found.seconds, 2), found.by


def ran(make_job: Any, people: Any, seconds: float, ended: datetime) -> None:
    job = make_job(people["other"], "succeeded")
    Run.objects.filter(job=job).update(started_at=ended - timedelta(seconds=seconds), ended_at=ended)


def test_it_counts_down_between_two_reports_and_then_stands(running: Job) -> None:
    row = contract(running, reported=0.0)
    assert rest(running, row) == (95.0, EndSource.CONTRACT)
    assert rest(running, row, after=3.0) == (92.0, EndSource.CONTRACT)
    assert rest(running, row, after=30.0) == (90.0, EndSource.CONTRACT)


def test_one_source_is_kept_while_others_come_up(running: Job, people: Any, make_job: Any) -> None:
    ran(make_job, people, 40, NOW - timedelta(seconds=60))
    assert rest(running, None) == (30.0, EndSource.RUNS)
    assert rest(running, contract(running, FIRST_REPORTS, reported=0.0)) == (30.0, EndSource.RUNS)
    cache.clear()
    ran(make_job, people, 4000, NOW)  # it ended later than this one began
    assert rest(running, None) == (30.0, EndSource.RUNS)


def test_its_skeleton_on_its_own_nodes_goes_before_earlier_runs_on_others(
    running: Job, people: Any, make_job: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran(make_job, people, 85, NOW - timedelta(seconds=60))
    for predicted, expected in ((39.9, (29.9, EndSource.TRIAL)), (None, (75.0, EndSource.RUNS))):
        tried = SimpleNamespace(predicted=predicted)
        monkeypatch.setattr(run_ends, "trial", lambda _, tried=tried: tried)
        assert rest(running, None) == expected


def test_the_end_is_by_the_contract_and_at_the_latest_by_the_limit(running: Job) -> None:
    assert expected_ends([running.pk])[running.pk].by is EndSource.LIMIT
    contract(running, reported=0.0)
    end = expected_ends([running.pk])[running.pk]
    assert end.by is EndSource.CONTRACT
    assert 80 < (end.at - NOW).total_seconds() < 3000
    Job.objects.filter(pk=running.pk).update(time_limit=30)
    end = expected_ends([running.pk])[running.pk]
    assert (end.by, round((end.at - NOW).total_seconds())) == (EndSource.LIMIT, 20)


def test_without_a_limit_and_without_anything_known_it_is_left_out(running: Job) -> None:
    Job.objects.filter(pk=running.pk).update(time_limit=None)
    assert expected_ends([running.pk]) == {}


def test_a_job_that_waits_is_told_its_start_by_the_contract_of_the_job_before_it(
    submit: Callable[..., Job], fake_grid: FakeGrid, client_as: Callable[..., Any]
) -> None:
    first = submit(4)
    rounds.place_and_start_all(first.cluster)
    second = submit(4)
    rounds.place_and_start_all(first.cluster)
    Job.objects.filter(pk=first.pk).update(state="running", started_at=NOW)
    Run.objects.filter(job=first).update(state="running", started_at=NOW)
    second.refresh_from_db()
    assert second.state == "waiting"
    assert {(way["expected_start"], way["by"]) for way in ways_to_start(second, expected_ends)} == {(None, "")}
    cache.clear()
    contract(first)
    starts = ways_to_start(second, expected_ends)
    assert {way["by"] for way in starts} == {"contract"}
    assert all(isinstance(way["expected_start"], datetime) for way in starts)
    assert "by the contract of the job there" in markup(client_as("user").get(f"/jobs/{second.pk}/"))
    assert "left, by its contract" in markup(client_as("user").get(f"/jobs/{first.pk}/"))
