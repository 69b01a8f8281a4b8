"""What an experiment is: all that the engine, the pages, the API, the CSV and the command line ask of its folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from gridportal.base.errors import InputError
from gridportal.experiments.charts import Figure
from gridportal.experiments.plan import Plan
from gridportal.experiments.tables import Table
from gridportal.experiments.test_grid import TestGrids
from gridportal.experiments.trial_columns import RUN_COLUMNS, Column

#: What one trial measured, and the summary of all trials: JSON, as written into the folder of results.
TrialResult = Mapping[str, Any]
Result = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """One step: `key` names it for ever, `facts` say what to do."""

    key: str
    facts: Mapping[str, Any] = field(default_factory=dict)


class Measurement(Protocol):
    """How an experiment measures."""

    def trials(self) -> Sequence[Trial]:
        """All of them in their order; the same for the same plan."""

    def perform(self, trial: Trial, done: Mapping[str, TrialResult]) -> TrialResult:
        """Do one; `done` are those before it. What it returns can be written as JSON. Raises GridPortalError."""

    def summarize(self, done: Mapping[str, TrialResult]) -> dict[str, Any]:
        """The result so far, with null where nothing is known yet; no Grid is needed for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One experiment. Its folder's `__init__` holds it as EXPERIMENT.

    order: its place in lists, small first.
    about: one sentence: which paper, and what is measured.
    help: what the help page says of it, after "The experiments of the papers, repeated here: ".
    duration: of the scaled plan on two cores.
    measurement: from the plan, the folder of results and the Grids that it may build. Without Grids (None) it is only
    asked for its trials and its summary.
    tables, figure, finding: from the result so far. A table without rows and a figure without marks are not shown; the
    finding is one sentence, against what was to be reached.
    paper: the paper's figures in the shape of a result.
    methods: what the columns of its tables are.
    columns: the figures of single trials.
    options: what a plan may ask for beside seed and length, `foreign` or `only`.
    """

    name: str
    order: int
    about: str
    help: str
    duration: str
    measurement: Callable[[Plan, Path, TestGrids | None], Measurement]
    tables: Callable[[Result], Sequence[Table]]
    figure: Callable[[Result], Figure]
    caption: str
    finding: Callable[[Result], str]
    paper: Result = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=dict)
    columns: Sequence[Column] = RUN_COLUMNS
    options: Sequence[str] = ()

    def check(self, plan: Plan) -> None:
        """Raises InputError for an option that it does not have."""
        for option in ("foreign", "only"):
            if (asked := getattr(plan, option)) and option not in self.options:
                raise InputError(option, asked, f"nothing here: {self.name} has no such option")
