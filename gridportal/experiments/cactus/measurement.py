"""Set matching 2002, 5: the Cactus application on unequal nodes with load, against its model, in four parts.

The machines of the paper are nodes of a Grid (`cactus`), each held to its part of a processor; loads are busy
processes. What the model has to be told is measured first on idle machines: seconds of a point, and of exchanging small
and large planes within a site and over two. A run takes some seconds, by the number of its iterations: that is the
scale. Predictions go by the forecast of what nodes tell of their load before the run, as the portal forecasts it.
Of runs that are held against a prediction, and of those that calibrate it, the shorter of two counts.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gridportal.base.errors import BackendError, InputError
from gridportal.experiments.cactus import plans, summaries
from gridportal.experiments.cactus.choosing_sets import selected
from gridportal.experiments.cactus.machines import kept_to_processors, lengthen_periods, machines, topology_file
from gridportal.experiments.cactus.plans import Kind, Part, Scale
from gridportal.experiments.cactus.predicting import box_of, calibrated, line_of_facts
from gridportal.experiments.grid_programs import Program
from gridportal.experiments.interface import Trial, TrialResult
from gridportal.experiments.plan import Plan
from gridportal.experiments.test_grid import TestGrid, TestGrids
from gridportal.testbed.state import State
from monitoring.forecasting.core.forecasting.mixture import Mixture

_LONGEST_SETTLING, _STEADY = 12, 0.05  # seconds for which the load is watched, and what it may still change
#: Runs of which the shortest counts: what else the machine does only makes them longer.
_TRIES = 2
_TRIED = (Part.COMPUTING, Part.COMMUNICATION)
_FACTS = ("part", "kind", "unit", "nodes", "shares", "line", "loads", "box", "size", "load", "cpus", "sites")
_ABOUT = ("offset", "division", "round", "candidates", "set")


def measurement(plan: Plan, folder: Path, grids: TestGrids | None) -> CactusModelTest:
    """The experiment of a plan. Raises InputError for a part that it does not have."""
    if plan.only and plan.only not in tuple(Part):
        raise InputError("only", plan.only, "one of " + ", ".join(Part))
    parts = [Part(plan.only)] if plan.only else [part for part in Part if plan.full or part is not Part.SIX]
    return CactusModelTest(plans.FULL if plan.full else plans.SCALED, parts, plan.seed, folder, grids)


class CactusModelTest:
    """The experiment, on a Grid for each part."""

    def __init__(self, scale: Scale, parts: Sequence[Part], seed: int, folder: Path, grids: TestGrids | None) -> None:
        self.scale, self.parts, self.seed, self.folder = scale, parts, seed, folder
        self._grids = grids

    def trials(self) -> Sequence[Trial]:
        return [trial for part in self.parts for trial in plans.trials(part, self.scale, self.seed)]

    def perform(self, trial: Trial, done: Mapping[str, TrialResult]) -> TrialResult:
        facts = trial.facts
        kept = {name: facts[name] for name in (*_FACTS, *_ABOUT) if name in facts}
        if facts["kind"] == Kind.CHOICE:
            return {**kept, **_choice(facts, done)}
        grid = self._grid(facts)
        grid.client.load(stop=True)
        if facts["part"] == Part.COMPUTING:
            lengthen_periods(State(grid.client.directory), facts["grid"])
        try:
            # Where ranks wait for each other's planes, a long slice of others holds them up at each of them.
            long_slices = facts["part"] == Part.COMPUTING
            with kept_to_processors(State(grid.client.directory), _cores(facts), long_slices=long_slices):
                ran = _ran(grid, facts)
        finally:
            grid.client.load(stop=True)
        return {**kept, **ran, **_predicted(facts, ran, done)}

    def _grid(self, facts: Mapping[str, Any]) -> TestGrid:
        assert self._grids is not None  # noqa: S101 - only summaries are made without a Grid
        grid = self._grids.on(str(topology_file(self.folder, facts["grid"], facts["unit"])))
        if not grid.client.status()["cgroups"]:
            raise BackendError(
                "Nodes cannot be held to their share of the processor here, so that all would be equally fast: no "
                "control group is writable (gridportal doctor says more)."
            )
        return grid

    def summarize(self, done: Mapping[str, TrialResult]) -> dict[str, Any]:
        return {**summaries.summary(done), "goals": summaries.GOALS, "runs": len(done), "seed": self.seed}


def _cores(facts: Mapping[str, Any]) -> dict[str, int]:
    """The processor of this machine for each node that has one, in turn."""
    single = [each.name for each in machines(facts["grid"], facts["unit"], {}).values() if each.cpus == 1]
    return {name: place % 2 for place, name in enumerate(single)}


def _ran(grid: TestGrid, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Seconds of all iterations, of one, and of the start-up; and the loads that the nodes told before."""
    for node, load in facts["loads"].items():
        grid.client.load([node], processes=round(load))
    told = _settled(grid, facts)
    x, y, z, iterations = facts["box"]
    arguments = {"x": x, "y": y, "z": z, "iterations": iterations, "shares": ",".join(map(str, facts["shares"]))}
    words = [word for name, value in arguments.items() for word in (f"--{name}", str(value))]
    tries = _TRIES if facts["kind"] == Kind.CALIBRATION or facts["part"] in _TRIED else 1
    ran, start_up = min(_timed(grid, words, facts["nodes"]) for _ in range(tries))
    nodes = list(dict.fromkeys(facts["nodes"]))
    loads = {"seen": {node: told[-1][node] for node in nodes}, "forecast": _forecast(told, nodes)}
    return {"loop": ran, "iteration": ran / iterations, "start_up": start_up, **loads}


def _settled(grid: TestGrid, facts: Mapping[str, Any]) -> list[dict[str, float]]:
    """The busy processes of each node as it tells them each second, until that hardly changes any more."""
    cpus = {each.name: each.cpus for each in machines(facts["grid"], facts["unit"], {}).values()}
    told: list[dict[str, float]] = []
    for _ in range(_LONGEST_SETTLING):
        time.sleep(1.0)
        loads = grid.client.node_load()
        told.append({each["id"]: each["load"] * cpus[each["id"]] for each in loads if each["id"] in cpus})
        if len(told) > 1 and max(abs(told[-1][node] - told[-2][node]) for node in cpus) < _STEADY:
            break
    return told


def _forecast(told: Sequence[Mapping[str, float]], nodes: Sequence[str]) -> dict[str, float]:
    """What the portal's forecaster says of the loads that follow."""
    mixture = Mixture(len(nodes))
    for loads in told:
        mixture.update([loads[node] for node in nodes])
    return dict(zip(nodes, (max(0.0, float(value)) for value in mixture.forecast().value), strict=True))


def _timed(grid: TestGrid, words: Sequence[str], nodes: Sequence[str]) -> tuple[float, float]:
    """Seconds of all iterations, and those before the ranks have met and after the result."""
    began = time.monotonic()
    ran = grid.timed(Program("cactus", tuple(words)), nodes)
    return ran.seconds, time.monotonic() - began - ran.whole


def _predicted(facts: Mapping[str, Any], ran: Mapping[str, Any], done: Mapping[str, TrialResult]) -> dict[str, Any]:
    """What the run took, with start-up where the model has one, beside what the model says by the loads seen."""
    with_start_up = facts["part"] == Part.COMMUNICATION
    seconds = ran["loop"] + (ran["start_up"] if with_start_up else 0.0)
    known = calibrated(facts, done) if facts["kind"] == Kind.RUN else None
    if known is None:
        return {"seconds": seconds}
    box, line = box_of(facts), line_of_facts(facts, ran["forecast"])
    told = known if with_start_up else replace(known, start_up={})
    predicted, lockstep = told.seconds(box, line)
    return {"seconds": seconds, "predicted": predicted, "predicted_lockstep": lockstep}


def _choice(facts: Mapping[str, Any], done: Mapping[str, TrialResult]) -> dict[str, Any]:
    known = calibrated(facts, done)
    if known is None:
        raise BackendError("Nothing can be selected: the model was not calibrated.")
    chosen = selected(box_of(facts), list(machines(facts["grid"], facts["unit"], {}).values()), known)
    return {"selected": list(chosen.names), "predicted": chosen.predicted, "exact": chosen.exact}
