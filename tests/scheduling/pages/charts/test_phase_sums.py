"""Times of phases are those of the slowest rank, so they may add up to more than the run took: the page says so."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from gridportal.runtime.progress_events import Phase
from scheduling.pages.charts import phases
from scheduling.runs.services import phase_totals
from tests.markup import markup


def test_phases_that_add_up_to_more_than_the_run_are_told_in_words(client_as: Any, people: Any, make_job: Any) -> None:
    run, now = make_job(people["user"], "succeeded").runs.get(), timezone.now()
    phase_totals.add_phases(run, [Phase("compute", 60.0, 1, 1), Phase("exchange", 70.0, 1, 1)])
    for lasted, is_told in ((100.0, True), (140.0, False)):
        run.started_at, run.ended_at = now - timedelta(seconds=lasted), now
        run.save()
        for path in (f"/jobs/{run.job_id}/", f"/jobs/{run.job_id}/runs/1/"):
            page = markup(client_as("user").get(path))
            assert "Times are of the slowest rank in each step." in page
            assert ("So all phases add up to 2 min 10 s, though the run lasted 1 min 40 s" in page) is is_told


def test_two_repetitions_are_counted_in_whole_numbers() -> None:
    reports = [
        {"phase": "step", "number": k, "iteration": None, "seconds": 1.0, "communicate": None} for k in range(40)
    ]
    assert phases.figure(reports[:2], "step")["layout"]["xaxis"]["dtick"] == 1
    assert "dtick" not in phases.figure(reports, "step")["layout"]["xaxis"]


def test_nothing_is_said_of_no_phases_or_of_a_run_that_goes_on() -> None:
    assert phases.overlap([], 10.0) == ""
    assert "add up" not in phases.overlap([{"seconds": 20.0}], None)
