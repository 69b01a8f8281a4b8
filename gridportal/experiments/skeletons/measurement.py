"""How well a skeleton predicts its program, which Pattern 2003 (2.2, 4) leaves open.

On crossbar10 each program is traced on a quiet network, and its skeleton is built to take a twentieth of its time.
A condition is a group of nodes, other people's traffic of its own seed, little or much, and in every third one a busy
process on one node of the group. In each, skeleton and program run one after the other, `pairs` times. What is
predicted is what the skeleton says by itself: it knows of the program only the trace of the quiet network.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.experiments.grid_programs import GridProgram, Program
from gridportal.experiments.interface import Trial, TrialResult
from gridportal.experiments.plan import Plan
from gridportal.experiments.skeletons import foreign
from gridportal.experiments.statistics import spearman
from gridportal.experiments.test_grid import TestGrid, TestGrids
from scheduling.profiles.core.trace import Trace
from scheduling.skeletons.adapters import skeleton_runs
from scheduling.skeletons.adapters.skeleton_runs import Player
from scheduling.skeletons.core.skeleton import build, document

RANKS = 4
#: Streams of other people on the network, in one condition after the other.
STREAMS = (40, 100, 150)
#: The skeleton's part of the program's time...
SHARE = 1 / 20
#: ... and what is asked for, of a time that has the start of MPI in it, a second or two; what runs once at least makes
#: some skeletons longer, too.
ASKED = 0.042
#: What the issue wants; errors and share as fractions.
GOALS = {"mean_error": 0.04, "worst_error": 0.12, "share": SHARE, "correlation": 0.95}
_LOADED = 3  # every so-manieth condition has a busy node
_LEAST = 1e-3
#: The shortest of so many traced runs is kept: whatever else the machine does only makes them longer.
_TRACES = 2


@dataclass(frozen=True, slots=True)
class Scale:
    """Which programs, under how many conditions, and how often skeleton and program run in each."""

    programs: Mapping[str, Program | foreign.Foreign]
    conditions: int
    pairs: int


def _programs(plate: int, steps: int, **classes: str) -> dict[str, Program]:
    modules = {"is": "is_sort"}
    heat = Program("heat", ("--rows", str(plate), "--columns", str(plate), "--steps", str(steps)))
    return {**{n: Program(n, ("--class", k), modules.get(n, "")) for n, k in classes.items()}, "heat": heat}


CONDITIONS = 12

#: A twentieth of these is an iteration or a large part of one, and outlasts the scheduler's slices. Where messages must
#: be halved (FT, IS) they are large enough that what a link lets through at once does not show.
SCALED = Scale(_programs(1024, 4000, cg="A", **{"is": "A"}, mg="B", lu="W", bt="W", ft="A"), CONDITIONS, 1)
FULL = Scale(_programs(1024, 16000, cg="B", **{"is": "B"}, mg="B", lu="A", bt="A", ft="B"), 24, 3)


def measurement(plan: Plan, folder: Path, grids: TestGrids | None) -> Skeletons:
    """The experiment of a plan. Raises InputError for a program that it does not have."""
    return Skeletons(_scale(plan), plan.seed, folder, grids)


def _scale(plan: Plan) -> Scale:
    if plan.foreign:
        scale = Scale({each.name: each for each in foreign.programs(full=plan.full)}, CONDITIONS, 1)
    else:
        scale = FULL if plan.full else SCALED
    if not plan.only:
        return scale
    if plan.only not in scale.programs:
        raise InputError("only", plan.only, "one of " + ", ".join(scale.programs))
    return replace(scale, programs={plan.only: scale.programs[plan.only]})


class Skeletons:
    """The experiment, on crossbar10."""

    def __init__(self, scale: Scale, seed: int, folder: Path, grids: TestGrids | None) -> None:
        self.scale, self.seed, self.folder = scale, seed, folder
        self._grids = grids
        self._made: dict[str, GridProgram] = {}

    def trials(self) -> Sequence[Trial]:
        made = [Trial(f"{name}/reference", {"program": name}) for name in self.scale.programs]
        conditions = [
            Trial(f"{name}/{number}", {"program": name, "condition": number})
            for number in range(self.scale.conditions)
            for name in self.scale.programs
        ]
        return [*made, *conditions]

    def perform(self, trial: Trial, done: Mapping[str, TrialResult]) -> TrialResult:
        assert self._grids is not None  # noqa: S101 - only summaries are made without a Grid
        grid = self._grids.on("crossbar10")
        grid.client.load(stop=True)
        grid.client.traffic(stop=True)
        name = trial.facts["program"]
        if "condition" not in trial.facts:
            return self._reference(grid, name)
        if reason := left_out(name, done):
            return {"left_out": reason}
        try:
            number = trial.facts["condition"]
            return {**self._set(grid, number), **self._both(grid, name, self._nodes(grid, number), self.scale.pairs)}
        finally:
            grid.client.load(stop=True)

    def _reference(self, grid: TestGrid, name: str) -> TrialResult:
        """Trace, build, and run both where nothing else is going on."""
        nodes = [node.id for node in grid.topology.compute_nodes()[:RANKS]]
        try:
            program = self._program(name)
            trace = self._trace(grid, program, nodes)
            made = document(build(trace, target=max(_LEAST, ASKED * trace.wall)), rate=skeleton_runs.rate())
        except ImpossibleError as error:
            return {"left_out": str(error)}
        file = self._file(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(made), encoding="utf-8")
        return {
            "traced": trace.wall,
            "expected": made["expected"],
            **self._both(grid, name, nodes, self.scale.pairs),
        }

    def _trace(self, grid: TestGrid, program: GridProgram, nodes: Sequence[str]) -> Trace:
        """Of the run that others disturbed least; a first one of our own is not traced, Python reads its files then."""
        if isinstance(program, Program):
            grid.run(program, nodes)
        return min((grid.trace(program, nodes) for _ in range(_TRACES)), key=lambda found: found.wall)

    def _player(self, name: str) -> Player | None:
        """For a program of others one in C, with the MPI that the program has."""
        program = self.scale.programs[name]
        if isinstance(program, Program):
            return None
        return Player(program.mpi.mpicc, program.mpi.launcher_template, cache=self.folder.resolve() / "player")

    def _program(self, name: str) -> GridProgram:
        """Built, if it has to be; once for each process."""
        if name not in self._made:
            program = self.scale.programs[name]
            at = self.folder.resolve() / "programs"
            self._made[name] = program if isinstance(program, Program) else program.made(at)
        return self._made[name]

    def _set(self, grid: TestGrid, number: int) -> dict[str, Any]:
        """Bring about condition `number`, the same for all programs."""
        grid.client.traffic(seed=self.seed * 1000 + number, streams=STREAMS[number // _LOADED % len(STREAMS)])
        if number % _LOADED != _LOADED - 1:
            return {"loaded": None}
        loaded = self._nodes(grid, number)[number % RANKS]
        grid.client.load([loaded])
        return {"loaded": loaded}

    def _both(self, grid: TestGrid, name: str, nodes: Sequence[str], times: int) -> dict[str, Any]:
        """Skeleton and program in turn, `times`; the medians of each."""
        seconds, found = [], []
        for _ in range(times):
            found.append(grid.skeleton(self._file(name), nodes, self._player(name)))
            seconds.append(grid.whole(self._program(name), nodes))
        return {
            "nodes": list(nodes),
            "seconds": median(seconds),
            "skeleton": median(each["seconds"] for each in found),
            "predicted": median(each["predicted"] for each in found),
            "runs": {"seconds": seconds, "predicted": [each["predicted"] for each in found]},
        }

    def _nodes(self, grid: TestGrid, number: int) -> list[str]:
        rng = random.Random(f"{self.seed}/{number}")  # noqa: S311 - a draw that can be repeated
        return rng.sample([node.id for node in grid.topology.compute_nodes()], RANKS)

    def _file(self, name: str) -> Path:
        return self.folder.resolve() / "skeletons" / f"{name}.json"

    def summarize(self, done: Mapping[str, TrialResult]) -> dict[str, Any]:
        """Errors (fractions), rank correlation and share of time by program, and over all of them: `correlation` is
        the least of the programs', `together` that of all conditions in one row, as multiples of the references."""
        programs = {name: self._summary(name, done) for name in self.scale.programs}
        errors = [abs(point["error"]) for found in programs.values() for point in found["points"]]
        compared = [found for found in programs.values() if found["n"]]
        overall = {
            "mean_error": fmean(errors) if errors else None,
            "worst_error": max(errors) if errors else None,
            "share": fmean(found["share"] for found in compared) if compared else None,
            "correlation": _least([found["correlation"] for found in compared]),
            "together": _together(compared),
        }
        return {
            "programs": programs,
            "overall": overall,
            "goals": GOALS,
            "reached": {name: _reached(name, overall[name]) for name in GOALS},
            "left_out": {name: reason for name in self.scale.programs if (reason := left_out(name, done))},
            "runs": len(done),
            "seed": self.seed,
        }

    def _summary(self, name: str, done: Mapping[str, TrialResult]) -> dict[str, Any]:
        program = self.scale.programs[name]
        about = {} if isinstance(program, Program) else {"mpi": program.mpi.label, "language": program.language.value}
        return {**about, **_of(name, self.scale.conditions, done)}


def left_out(name: str, done: Mapping[str, TrialResult]) -> str:
    """Why a program is not measured: it is not there, or no skeleton can stand for it. Empty for one that is."""
    return str(done.get(f"{name}/reference", {}).get("left_out", ""))


def _of(name: str, conditions: int, done: Mapping[str, TrialResult]) -> dict[str, Any]:
    reference = done.get(f"{name}/reference")
    runs = [(n, done[f"{name}/{n}"]) for n in range(conditions) if f"{name}/{n}" in done]
    nothing: dict[str, Any] = {
        "n": 0,
        "mean_error": None,
        "worst_error": None,
        "correlation": None,
        "share": None,
        "points": [],
    }
    if reference is None or not runs or left_out(name, done):
        return nothing
    points = [_point(number, run) for number, run in runs]
    errors = [abs(point["error"]) for point in points]
    return {
        "n": len(points),
        "mean_error": fmean(errors),
        "worst_error": max(errors),
        "correlation": spearman([p["predicted"] for p in points], [p["seconds"] for p in points]),
        "share": fmean(run["skeleton"] for _, run in runs) / fmean(run["seconds"] for _, run in runs),
        "reference": reference["seconds"],
        "points": points,
    }


def _point(number: int, run: TrialResult) -> dict[str, Any]:
    """A condition: seconds that the program took, those that the skeleton predicted, and the error of these."""
    return {
        "condition": number,
        "nodes": run["nodes"],
        "loaded": run["loaded"],
        "seconds": run["seconds"],
        "predicted": run["predicted"],
        "error": run["predicted"] / run["seconds"] - 1.0,
    }


def _together(compared: Sequence[Mapping[str, Any]]) -> float | None:
    points = [(point, found["reference"]) for found in compared for point in found["points"]]
    predicted, took = ([point[of] / reference for point, reference in points] for of in ("predicted", "seconds"))
    return spearman(predicted, took) if points else None


def _least(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return min(numbers) if numbers else None


def _reached(name: str, value: float | None) -> bool:
    """Correlation is to be at least its goal, all else at most."""
    if value is None:
        return False
    return value >= GOALS[name] if name == "correlation" else value <= GOALS[name]
