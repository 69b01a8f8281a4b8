"""A tiny experiment, all of it: how long a sleep really lasts. The test of one folder adds it to the portal."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gridportal.experiments.charts import Figure, layout
from gridportal.experiments.interface import Experiment, Trial, TrialResult
from gridportal.experiments.plan import Plan
from gridportal.experiments.tables import Table, number
from gridportal.experiments.test_grid import TestGrids
from gridportal.experiments.trial_columns import TOOK, Column

_ASKED = {"short": 0.001, "long": 0.002}


class _Sleeping:
    def __init__(self, rounds: int) -> None:
        self.rounds = rounds

    def trials(self) -> list[Trial]:
        return [Trial(f"{name}/{n}", {"asked": asked}) for n in range(self.rounds) for name, asked in _ASKED.items()]

    def perform(self, trial: Trial, done: Mapping[str, TrialResult]) -> TrialResult:
        began = time.monotonic()
        time.sleep(trial.facts["asked"])
        return {"asked": trial.facts["asked"], "slept": time.monotonic() - began}

    def summarize(self, done: Mapping[str, TrialResult]) -> dict[str, Any]:
        return {"ratios": {key: trial["slept"] / trial["asked"] for key, trial in done.items()}}


def _measurement(plan: Plan, folder: Path, grids: TestGrids | None) -> _Sleeping:
    return _Sleeping(5 if plan.full else 2)


def _tables(result: Mapping[str, Any]) -> list[Table]:
    rows = [[key, number(ratio), number(result["paper"]["ratio"])] for key, ratio in result["ratios"].items()]
    return [Table("How much longer a sleep lasts", ["sleep", "ours", "the paper"], rows)]


def _figure(result: Mapping[str, Any]) -> Figure:
    ratios = result["ratios"]
    return {"data": [{"type": "bar", "x": list(ratios), "y": list(ratios.values())}], "layout": layout("times")}


def _finding(result: Mapping[str, Any]) -> str:
    return f"{len(result['ratios'])} sleeps were at least as long as was asked (the paper: always)."


EXPERIMENT = Experiment(
    name="tiny",
    order=5,
    about="Sleep 2026: how long a sleep really lasts.",
    help="how long a sleep really lasts",
    duration="a moment",
    measurement=_measurement,
    tables=_tables,
    figure=_figure,
    caption="The time that a sleep lasted, as a multiple of what was asked.",
    finding=_finding,
    paper={"ratio": 1.05},
    methods={"short": "one millisecond"},
    columns=(Column("slept", "Slept, s", lambda trial: trial.get("slept"), 4), TOOK),
)
