"""The trials of an experiment on moves: each case as the portal decides, and with the opposite decision.

Source: Migration 2003, 8.1: for every run there are results in the default and in the non-default mode, so that right
and wrong decisions can be told. First two runs without load: one that stays, one that is moved. All cases begin with
what the portal knows after these, and with a Grid of their own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gridportal.base.errors import BackendError, InputError
from gridportal.experiments.interface import Trial, TrialResult
from gridportal.experiments.moves import case_process, scaled_grid
from gridportal.experiments.moves.move_case import CaseJob, MoveCase, Rule
from gridportal.experiments.moves.move_verdicts import outcomes
from gridportal.experiments.test_grid import TestGrids

#: A load comes up to this part earlier or later than planned; the seed says when.
_JITTER = 0.05
#: A run that stays is ended when it has taken so many times as long as the one that was moved: the move is half as long
#: then, which is more than any threshold or goal of the paper asks for; ten times is usual.
ENOUGH = 2.0
IDLE, FIRST_MOVE = "idle", "first-move"
PORTAL, OPPOSITE = "portal", "opposite"


@dataclass(frozen=True, slots=True)
class CaseSeries:
    """All cases of an experiment, by their names; on these nodes. `warm_up`: the job of the runs without load, one of
    which goes to `to`. `minutes`: what it took in the paper, where that is told."""

    nodes: Sequence[str]
    cases: Mapping[str, MoveCase]
    warm_up: CaseJob
    to: tuple[str, ...]
    processors: int
    minutes: float | None = None

    def minute(self, done: Mapping[str, TrialResult]) -> float:
        """Seconds that a minute of the paper takes here, by the run without load where it is known."""
        if self.minutes is None or IDLE not in done:
            return scaled_grid.seconds_a_minute(self.processors)
        seconds: float = done[IDLE]["jobs"][-1]["runs"][-1]["seconds"]
        return seconds / self.minutes


class MoveTrials:
    """The measurement of an experiment on moves."""

    def __init__(self, series: CaseSeries, seed: int, folder: Path, grids: TestGrids | None) -> None:
        self.series, self.seed = series, seed
        self._folder, self._grids = folder.resolve() / "work", grids

    def trials(self) -> Sequence[Trial]:
        cases = [Trial(f"{name}/{way}", {"case": name}) for name in self.series.cases for way in (PORTAL, OPPOSITE)]
        return [Trial(IDLE), Trial(FIRST_MOVE), *cases]

    def perform(self, trial: Trial, done: Mapping[str, TrialResult]) -> TrialResult:
        if trial.key in (IDLE, FIRST_MOVE):
            rule = Rule.STAY if trial.key == IDLE else Rule.MOVE
            before = None if trial.key == IDLE else self._home(IDLE)
            return self._run(trial.key, MoveCase((self.series.warm_up,), rule=rule, to=self.series.to), before)
        if FIRST_MOVE not in done:
            raise BackendError("Nothing can be decided: the runs without load did not end well.")
        rng = random.Random(f"{self.seed}/{trial.facts['case']}")  # noqa: S311
        case = _jittered(self.series.cases[trial.facts["case"]].scaled(self.series.minute(done)), rng)
        rule = _rule(trial, done)
        return self._run(trial.key, replace(case, rule=rule, enough=_enough(trial, done, rule)), self._home(FIRST_MOVE))

    def summarize(self, done: Mapping[str, TrialResult]) -> dict[str, Any]:
        """What was decided and what was right, by case and kind of cost; see `move_verdicts`."""
        runs = {name: {way: done.get(f"{name}/{way}") for way in (PORTAL, OPPOSITE)} for name in self.series.cases}
        minute = self.series.minute(done)
        scale = {
            "minute": minute,
            "size": scaled_grid.SIZE,
            "network": scaled_grid.network_factor(self.series.processors),
        }
        return {
            **outcomes(runs),
            "idle": done[IDLE]["seconds"] if IDLE in done else None,
            "scale": {**scale, "worst_case": 900.0 * scaled_grid.COST},
            "runs": len(done),
            "seed": self.seed,
        }

    def _run(self, key: str, case: MoveCase, before: Path | None) -> TrialResult:
        assert self._grids is not None  # noqa: S101 - only summaries are made without a Grid
        self._folder.mkdir(parents=True, exist_ok=True)
        file = scaled_grid.write(self._folder, self.series.nodes, processors=self.series.processors)
        self._grids.close()  # keys of runs are those of the same database again
        grid = self._grids.on(str(file))
        if not grid.client.status()["cgroups"]:
            raise BackendError(
                "Nodes cannot be held to their share of the processor here, so that busy processes on some would slow "
                "all down: no control group is writable (gridportal doctor says more)."
            )
        found = case_process.run(case, self._home(key), grid.client.directory, before)
        last = found["jobs"][-1]
        ended_well = found.get("cut") or all(job["state"] == "succeeded" for job in found["jobs"])
        if last["seconds"] is None or not ended_well:
            reasons = "; ".join(f"{job['state']} {job['reason']}" for job in found["jobs"])
            raise BackendError(f"A job of the case did not succeed: {reasons}")
        return {**found, "nodes": last["runs"][0]["nodes"], "seconds": last["seconds"], "rule": case.rule.value}

    def _home(self, key: str) -> Path:
        """The first runs keep theirs, for the others begin with it."""
        return self._folder / (key if key in (IDLE, FIRST_MOVE) else "case")


def of_plan(
    series: Callable[[bool], CaseSeries],
) -> Callable[..., MoveTrials]:
    """How an experiment makes its measurement; `series` takes whether all of it is wanted."""

    def measurement(plan: Any, folder: Path, grids: TestGrids | None) -> MoveTrials:
        return MoveTrials(_only(series(plan.full), plan.only), plan.seed, folder, grids)

    return measurement


def _only(all_cases: CaseSeries, name: str) -> CaseSeries:
    """The series, or one of its cases. Raises InputError for a name that it has not."""
    if not name:
        return all_cases
    if name not in all_cases.cases:
        raise InputError("only", name, "one of " + ", ".join(all_cases.cases))
    return replace(all_cases, cases={name: all_cases.cases[name]})


def _rule(trial: Trial, done: Mapping[str, TrialResult]) -> Rule:
    if trial.key.endswith(f"/{PORTAL}"):
        return Rule.PORTAL
    decided = done.get(f"{trial.facts['case']}/{PORTAL}")
    if decided is None:
        raise BackendError("Its opposite is not known: the run in which the portal decides did not end well.")
    return Rule.STAY if decided["moved"] else Rule.MOVE


def _enough(trial: Trial, done: Mapping[str, TrialResult], rule: Rule) -> float | None:
    """Seconds after which a run that stays need not go on; one in which the portal decides runs to its end."""
    if rule is not Rule.STAY:
        return None
    moved: float = done[f"{trial.facts['case']}/{PORTAL}"]["seconds"]
    return ENOUGH * moved


def _jittered(case: MoveCase, rng: random.Random) -> MoveCase:
    if case.load is None:
        return case
    return replace(case, load=replace(case.load, after=case.load.after * rng.uniform(1 - _JITTER, 1 + _JITTER)))
