"""Work that a move would lose: what a program has computed since the file from which it would go on."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from scheduling.checkpoints.models import RestartFile
from scheduling.jobs.services.registering import register_application
from scheduling.rescheduling import selectors
from scheduling.rescheduling.core.weighing import MoveMode, Verdict
from scheduling.rescheduling.models import MoveDecision
from scheduling.rescheduling.services import rescheduler, weighing_jobs
from scheduling.runs.models import Run
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints.stoppable_jobs import newest, running
from tests.scheduling.checkpoints.test_own_restarts import MEANS
from tests.scheduling.rescheduling.test_rescheduler import Slow, slow_job

__all__ = ["slow_job"]
NOW = timezone.now()


@pytest.fixture
def own_run(submit: Any, application: Any, fake_grid: FakeGrid) -> Run:
    """A run of a program with a restart of its own, an hour old."""
    fields = {"command": ["melt", "-folder", "{checkpoints}", "{restart}"], "stop_means": MEANS}
    register_application("tests", fields, application)
    run = newest(running(submit))
    run.started_at = NOW - timedelta(hours=1)
    return run


def test_without_a_file_all_is_lost_and_with_one_what_came_after_it(own_run: Run) -> None:
    assert selectors.lost_work(own_run, NOW) == pytest.approx(3600.0)
    RestartFile.objects.create(
        job=own_run.job, name="melt.1", bytes=9, written_at=NOW - timedelta(minutes=10), health="whole"
    )
    assert selectors.lost_work(own_run, NOW) == pytest.approx(600.0)


def test_a_file_of_an_earlier_run_says_nothing_of_this_one(own_run: Run) -> None:
    RestartFile.objects.create(
        job=own_run.job, name="melt.1", bytes=9, written_at=NOW - timedelta(hours=3), health="whole"
    )
    assert selectors.lost_work(own_run, NOW) == pytest.approx(3600.0)


def test_a_program_that_writes_when_it_is_stopped_loses_nothing(slow_job: Slow) -> None:
    assert selectors.lost_work(newest(slow_job()), timezone.now() + timedelta(hours=1)) == 0.0


@pytest.mark.parametrize("loses", [0, 1])
def test_of_two_that_want_the_same_nodes_the_one_that_loses_least_gets_them(
    slow_job: Slow, monkeypatch: pytest.MonkeyPatch, loses: int
) -> None:
    jobs = [slow_job(), slow_job()]
    weighed = weighing_jobs.weighed

    def to_the_same(run: Run, mode: MoveMode) -> Any:
        weighing, decision = weighed(run, mode)
        figures = replace(weighing.figures, ret_new=300.0, nodes=("n9",))
        return replace(weighing, verdict=Verdict.MOVE, figures=figures), decision

    monkeypatch.setattr(weighing_jobs, "weighed", to_the_same)
    monkeypatch.setattr(selectors, "lost_work", lambda run, now: 3000.0 if run.job == jobs[loses] else 0.0)
    rescheduler._weigh_all("grid", turn=0)
    assert [each.job for each in MoveDecision.objects.filter(state="proposed")] == [jobs[1 - loses]]
