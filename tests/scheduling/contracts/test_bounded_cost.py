"""A run of a million phases costs a poll no more than one of a few thousand."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gridportal.base import run_directory
from gridportal.runtime.progress_events import Phase
from scheduling.contracts.core.limits import Limits
from scheduling.contracts.core.monitor import Monitor
from scheduling.contracts.models import Contract
from scheduling.contracts.services import judging, new_reports
from scheduling.performance.core.phase_prediction import PhasePrediction, Prediction
from scheduling.runs.models import Run

PROMISED = Prediction("a model", (PhasePrediction("step", 1_000_000, (1e-3,)),))


@pytest.fixture
def run(people: Any, make_job: Any) -> Run:
    found: Run = make_job(people["user"], "running").runs.get()
    Contract.objects.create(run=found, promised=PROMISED.document())
    return found


def write_reports(run: Run, number: int) -> int:
    """So many lines; how many bytes they are."""
    line = json.dumps({"t": 1_800_000_000.0, "event": "phase", "phase": "step", "seconds": 1e-3}) + "\n"
    Path(run.run_dir, "progress.jsonl").write_text(line * number)
    return len(line) * number


def test_a_poll_reads_a_bounded_part_and_the_next_one_goes_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that moves on by 0.4 s with each look: a poll of a second takes in three pieces, however many wait."""
    size = write_reports(run, 2000)
    monkeypatch.setattr(new_reports, "_CHUNK", size // 20)
    ticks = count()
    monkeypatch.setattr(judging, "time", SimpleNamespace(monotonic=lambda: 0.4 * next(ticks)))
    read, part = list[int](), run_directory.read_part

    def counted(*arguments: Any) -> Any:
        found = part(*arguments)
        read.append(len(found.data))
        return found

    monkeypatch.setattr(run_directory, "read_part", counted)
    before = 0
    for _ in range(3):
        read.clear()
        judging.judge(Contract.objects.get(run=run))
        assert sum(read) <= 6 * size // 20
        reached = Contract.objects.get(run=run).monitor_state.reports
        assert 0 < reached - before < 400
        before = reached


def test_what_is_kept_of_a_run_does_not_grow_with_its_reports() -> None:
    """Disturbed now and then, so that limits move."""
    monitor, sizes = Monitor(PROMISED, Limits()), []
    for at in range(60_000):
        monitor.observe(Phase("step", 5e-3 if at % 9000 > 8000 else 1e-3))
        if at % 20_000 == 19_999:
            sizes.append(len(json.dumps(monitor.state.document())))
    assert sizes[-1] < 1.2 * sizes[0] + 5000
