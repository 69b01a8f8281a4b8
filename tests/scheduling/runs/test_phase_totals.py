"""A program may report a million phases: rows are bounded, sums exact, and neither a crash nor a piece counts twice."""

from __future__ import annotations

import importlib
import json
import math
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from gridportal.runtime.progress_events import MOST_SECONDS
from scheduling.runs.core import phase_sums
from scheduling.runs.models import Run
from scheduling.runs.phase_models import PhaseReport, PhaseTotal
from scheduling.runs.selectors import phase_history, phase_summary
from scheduling.runs.services import phase_totals, reading_progress
from tests.conftest import models_after
from tests.scheduling.old_rows import old_job, old_run

MIGRATION: Any = importlib.import_module("scheduling.migrations.0025_phase_totals")
BEFORE = ("scheduling", "0024_problems_as_values")


@pytest.fixture
def run(people: Any, make_job: Any) -> Run:
    """A run that goes on, with an empty progress file."""
    found: Run = make_job(people["user"], "running").runs.get()
    Path(found.run_dir, "progress.jsonl").touch()
    return found


def report(run: Run, *seconds: float, phase: str = "step") -> None:
    """Lines of a program."""
    with Path(run.run_dir, "progress.jsonl").open("a", encoding="utf-8") as file:
        for each in seconds:
            line = {"t": 5.0, "event": "phase", "phase": phase, "seconds": each, "compute": each / 4}
            file.write(json.dumps(line) + "\n")


def kept(run: Run) -> tuple[list[Any], list[Any]]:
    """The rows of a run without their keys."""
    totals = [name for name in vars(PhaseTotal()) if name not in ("id", "_state", "run_id")]
    return (
        list(PhaseTotal.objects.filter(run=run).values_list(*totals)),
        list(run.phases.order_by("phase", "number").values_list("phase", "number", "seconds", "compute")),
    )


def test_many_reports_cost_few_rows_and_their_sums_are_exact(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_progress, "_CHUNK", 10_000)
    seconds = [0.001 * (at % 977) for at in range(8000)]
    report(run, *seconds)
    report(run, 7.5, phase="end")
    while reading_progress.is_behind(run):
        reading_progress.ingest(run)
    reading_progress.ingest(run)
    step, end = phase_summary(run)
    assert (step["count"], step["seconds"], step["min"], step["max"]) == (8000, math.fsum(seconds), 0.0, max(seconds))
    assert step["compute"] == math.fsum(each / 4 for each in seconds)
    assert (end["phase"], end["count"], end["seconds"]) == ("end", 1, 7.5)
    history = phase_history(run, "step")
    assert len(history) == 1000  # the longest of each 8, for each 4 would be 2000 and one more
    assert run.phases.count() == 1001 <= phase_sums.MOST_REPORTS
    assert [row["number"] for row in history] == sorted(row["number"] for row in history)
    assert sum(row["seconds"] == max(seconds) for row in history) == seconds.count(max(seconds))


def test_the_same_file_in_other_pieces_gives_the_same_rows(
    run: Run, make_job: Any, people: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phase_sums, "MOST_REPORTS", 40)
    other = make_job(people["user"], "running").runs.get()
    seconds = [0.1 + 0.37 * (at % 41) for at in range(500)]
    for each in (run, other):
        report(each, *seconds, 1.5, *seconds)
        report(each, *seconds[:90], phase="exchange")
    reading_progress.ingest(run)
    monkeypatch.setattr(reading_progress, "_CHUNK", 1009)
    while reading_progress.is_behind(other):
        reading_progress.ingest(other)
    reading_progress.ingest(other)
    assert kept(run) == kept(other)
    assert run.phases.count() <= 40


def test_a_crash_between_sums_and_offset_counts_nothing_twice(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    report(run, 1.0, 2.0)
    reading_progress.ingest(run)
    report(run, 4.0)

    def killed(*_: Any) -> None:
        PhaseTotal.objects.update(seconds=99.0)
        raise RuntimeError("killed while writing")

    with monkeypatch.context() as patch:
        patch.setattr(phase_totals, "write", killed)
        with pytest.raises(RuntimeError):
            reading_progress.ingest(Run.objects.get(pk=run.pk))
    assert phase_summary(run)[0]["seconds"] == 3.0
    reading_progress.ingest(Run.objects.get(pk=run.pk))
    reading_progress.ingest(Run.objects.get(pk=run.pk))
    assert (phase_summary(run)[0]["seconds"], run.phases.count()) == (7.0, 3)


def test_a_pass_reads_so_much_of_one_run_and_no_more(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_progress, "_CHUNK", 1000)
    monkeypatch.setattr(reading_progress, "_MOST_CHUNKS", 3)
    report(run, *[1.0] * 200)
    reading_progress.ingest(run)
    assert 2000 < run.progress_offset <= 3000
    assert reading_progress.is_behind(run)
    monkeypatch.setattr(reading_progress, "_MOST_SECONDS", -1.0)
    before = run.progress_offset
    reading_progress.ingest(run)
    assert 0 < run.progress_offset - before <= 1000


def test_reports_of_earlier_versions_are_added_up_in_the_database(earlier: Any) -> None:
    before = earlier(*BEFORE)
    one, two = (old_run(before, old_job(before, state="succeeded"), 1, key, state="succeeded").pk for key in "ab")
    old = before.get_model("scheduling", "PhaseReport").objects
    at = timezone.now()
    for seconds, compute, iteration in ((1.0, 0.5, 1), (3.0, None, 2), (1e308, None, 3), (1.0, 1e308, 9)):
        old.create(run_id=one, at=at, phase="step", seconds=seconds, compute=compute, iteration=iteration, of=2)
    old.create(run_id=one, at=at, phase="end", seconds=0.25)
    for number in range(203):
        old.create(run_id=two, at=at, phase=f"phase {number}", seconds=1.0)
    models_after(*MigrationExecutor(connection).loader.graph.leaf_nodes("scheduling"))
    step, end = phase_summary(Run.objects.get(pk=one))
    assert step == {
        **{"phase": "step", "count": 2, "seconds": 4.0, "mean": 2.0, "min": 1.0, "max": 3.0},
        **{"compute": 0.5, "communicate": None, "share": 4 / 4.25, "iteration": 2, "of": 2},
    }
    assert (end["phase"], end["count"], end["compute"]) == ("end", 1, None)
    assert list(PhaseReport.objects.filter(run=one).values_list("number", flat=True)) == [0, 1, 0]
    others = phase_summary(Run.objects.get(pk=two))
    assert [row["phase"] for row in others][198:] == ["phase 198", "phase 199", phase_sums.OTHERS]
    assert others[-1]["count"] == 3
    assert [row["number"] for row in phase_history(Run.objects.get(pk=two), phase_sums.OTHERS)] == [0, 1, 2]


def test_the_bounds_of_the_migration_are_those_of_today() -> None:
    bounds = MIGRATION._MOST_SECONDS, MIGRATION._MOST_NAMES, MIGRATION._OTHERS
    assert bounds == (MOST_SECONDS, phase_sums.MOST_NAMES, phase_sums.OTHERS)


@pytest.mark.parametrize("over", [False, True])
def test_lines_of_a_file_that_was_begun_anew_count_too(run: Run, over: bool) -> None:
    report(run, *[1.0] * 10)
    reading_progress.ingest(run)
    Path(run.run_dir, "progress.jsonl").unlink()
    report(run, 2.0, 2.0, 2.0)
    reading_progress.ingest(run, over=over)
    total = PhaseTotal.objects.get(run=run)
    assert (total.count, total.seconds) == (13, 16.0)
    reading_progress.ingest(run, over=over)
    assert PhaseTotal.objects.get(run=run).count == 13


def test_where_a_file_was_begun_anew_the_short_way_leaves_it_to_the_long_one(run: Run) -> None:
    report(run, *[1.0] * 10)
    reading_progress.ingest(run)
    Path(run.run_dir, "progress.jsonl").unlink()
    report(run, 2.0)
    assert reading_progress.read_plain(run) is None
