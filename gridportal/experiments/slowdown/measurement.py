"""Pattern 2003, 3: by how much other traffic slows programs down, by the way their nodes were selected.

On crossbar10 every ordered pair of nodes has a bandwidth of its own between 10 and 100 Mbit/s, set by the traffic model
of section 3.3. In a round every method meets the same traffic: it is replayed from the same seed before each run. The
dedicated time of each program is measured in every round too, so that the machine's own ups and downs cancel.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from gridportal.experiments.grid_programs import Program
from gridportal.experiments.interface import Trial, TrialResult
from gridportal.experiments.plan import Plan
from gridportal.experiments.statistics import resampled
from gridportal.experiments.test_grid import TestGrid, TestGrids
from gridportal.network import topology as topologies
from scheduling.jobs.core.methods import CANDIDATES
from scheduling.jobs.core.patterns import Pattern
from scheduling.profiles.core import profile
from scheduling.selection.core.selection import Request, select
from scheduling.skeletons.adapters import skeleton_runs
from scheduling.skeletons.core.skeleton import build, document

RANKS = 4
#: Of other people, when a round begins: one for each ordered pair of nodes, so that a link is shared with one other
#: stream in the mean. The paper gives no number; with more of them random nodes slow programs down by several
#: times what they did there.
STREAMS = 90
METHODS = ("random", "all-all", "pattern-only", "pattern", "oracle")


@dataclass(frozen=True, slots=True)
class Scale:
    """How large: programs, rounds, seconds of a skeleton, and how much faster than the paper's the traffic changes."""

    programs: Mapping[str, Program]
    rounds: int
    skeleton_seconds: float
    time_scale: float
    oracle_program: str
    oracle_groups: int


def _nas(**classes: str) -> dict[str, Program]:
    modules = {"is": "is_sort"}
    return {name: Program(name, ("--class", k), modules.get(name, "")) for name, k in classes.items()}


#: Programs of one to a few seconds: ten minutes in all on two cores.
SCALED = Scale(_nas(cg="W", **{"is": "A"}, mg="A", lu="S", bt="S", ep="W"), 4, 0.25, 10.0, "cg", 6)
#: The paper's class A where a night allows it.
FULL = Scale(_nas(cg="A", **{"is": "B"}, mg="A", lu="W", bt="W", ep="A"), 30, 1.0, 1.0, "cg", 20)


def measurement(plan: Plan, folder: Path, grids: TestGrids | None) -> Slowdown:
    """The experiment of a plan."""
    return Slowdown(FULL if plan.full else SCALED, plan.seed, folder, grids)


class Slowdown:
    """The experiment, on crossbar10."""

    def __init__(self, scale: Scale, seed: int, folder: Path, grids: TestGrids | None) -> None:
        self.scale, self.seed, self.folder = scale, seed, folder
        self._grids = grids

    def trials(self) -> Sequence[Trial]:
        prepared = [Trial(f"prepare/{name}", {"program": name}) for name in self.scale.programs]
        return [*prepared, *(trial for number in range(self.scale.rounds) for trial in self._round(number))]

    def _round(self, number: int) -> list[Trial]:
        trials = [Trial(f"{number}/network", {"round": number})]
        for name in self.scale.programs:
            facts = {"round": number, "program": name}
            trials.append(Trial(f"{number}/{name}/dedicated", facts))
            methods = [method for method in METHODS if method != "oracle" or name == self.scale.oracle_program]
            trials += [Trial(f"{number}/{name}/{method}", {**facts, "method": method}) for method in methods]
        return trials

    def perform(self, trial: Trial, done: Mapping[str, TrialResult]) -> TrialResult:
        if trial.key.startswith("prepare/"):
            return self._prepare(trial.facts["program"])
        if trial.key.endswith("/network"):
            return self._measure(trial.facts["round"])
        if trial.key.endswith("/dedicated"):
            return self._dedicated(trial)
        return self._under_traffic(trial, done)

    @property
    def grid(self) -> TestGrid:
        assert self._grids is not None  # noqa: S101 - only summaries are made without a Grid
        return self._grids.on("crossbar10")

    def _prepare(self, name: str) -> TrialResult:
        """Find the pattern and build the skeleton on the dedicated Grid (2.1, 2.2)."""
        program, nodes = self.scale.programs[name], self._first()
        self.grid.client.traffic(stop=True)
        self.grid.run(program, nodes)
        trace = self.grid.trace(program, nodes)
        observed = profile.of_trace(trace)
        made = document(build(trace, target=self.scale.skeleton_seconds), rate=skeleton_runs.rate())
        file = self._skeleton_file(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(made), encoding="utf-8")
        reference = self.grid.skeleton(file, nodes)
        return {"profile": profile.document(observed), "skeleton": reference, "traced": trace.wall}

    def _measure(self, number: int) -> TrialResult:
        self._replay(number)
        return {"topology": topologies.dump(self.grid.measured())}

    def _dedicated(self, trial: Trial) -> TrialResult:
        self.grid.client.traffic(stop=True)
        nodes = self._random_nodes(trial.key)
        return {"seconds": self.grid.run(self.scale.programs[trial.facts["program"]], nodes), "nodes": nodes}

    def _under_traffic(self, trial: Trial, done: Mapping[str, TrialResult]) -> TrialResult:
        number, name, method = trial.facts["round"], trial.facts["program"], trial.facts["method"]
        if method == "oracle":
            return self._oracle(trial, done)
        self._replay(number)
        began = time.monotonic()
        chosen = self._choose(trial, done)
        choosing = time.monotonic() - began
        return {**chosen, "choosing": choosing, "seconds": self.grid.run(self.scale.programs[name], chosen["nodes"])}

    def _choose(self, trial: Trial, done: Mapping[str, TrialResult]) -> dict[str, Any]:
        if trial.facts["method"] == "random":
            return {"nodes": self._random_nodes(trial.key)}
        candidates = self._candidates(trial, done)
        if trial.facts["method"] != "pattern" or len(candidates) == 1:
            return {"nodes": candidates[0]}
        predicted = [self._predicted(trial.facts["program"], group) for group in candidates]
        best = min(range(len(candidates)), key=predicted.__getitem__)
        return {"nodes": candidates[best], "candidates": candidates, "predicted": predicted}

    def _predicted(self, name: str, nodes: Sequence[str]) -> float:
        return float(self.grid.skeleton(self._skeleton_file(name), nodes)["predicted"])

    def _candidates(self, trial: Trial, done: Mapping[str, TrialResult], groups: int = CANDIDATES) -> list[list[str]]:
        """The best groups, on what the round's measurement showed; an own pattern where messages were seen."""
        network = topologies.parse(done[f"{trial.facts['round']}/network"]["topology"])
        pattern = self._pattern(trial.facts["program"], done)
        everywhere = trial.facts["method"] == "all-all" or not pattern.edges
        request = Request(
            nodes=RANKS,
            method="communication" if everywhere else "pattern",
            pattern=None if everywhere else pattern,
            candidates=groups,
            time_budget=5.0,
            slack=profile.SLACK,
        )
        selection = select(network, request, rng=self._rng(trial.key), clock=time.perf_counter)
        return [list(candidate.nodes) for candidate in selection.candidates]

    def _oracle(self, trial: Trial, done: Mapping[str, TrialResult]) -> TrialResult:
        """The best in hindsight: the program really runs on many of the best groups, each under the same traffic."""
        groups = self._candidates(trial, done, self.scale.oracle_groups)
        seconds = []
        for group in groups:
            self._replay(trial.facts["round"])
            seconds.append(self.grid.run(self.scale.programs[trial.facts["program"]], group))
        best = min(range(len(groups)), key=seconds.__getitem__)
        return {"nodes": groups[best], "seconds": seconds[best], "groups": len(groups), "all_seconds": seconds}

    def _pattern(self, name: str, done: Mapping[str, TrialResult]) -> Pattern:
        return profile.parse(done[f"prepare/{name}"]["profile"]).pattern

    def _replay(self, number: int) -> None:
        self.grid.client.traffic(seed=self.seed * 1000 + number, streams=STREAMS, time_scale=self.scale.time_scale)

    def _random_nodes(self, key: str) -> list[str]:
        return self._rng(key).sample([node.id for node in self.grid.topology.compute_nodes()], RANKS)

    def _first(self) -> list[str]:
        return [node.id for node in self.grid.topology.compute_nodes()[:RANKS]]

    def _rng(self, key: str) -> random.Random:
        return random.Random(f"{self.seed}/{key}")  # noqa: S311 - a draw that can be repeated

    def _skeleton_file(self, name: str) -> Path:
        return self.folder.resolve() / "skeletons" / f"{name}.json"

    def summarize(self, done: Mapping[str, TrialResult]) -> dict[str, Any]:
        """Slowdown as a fraction of the dedicated time: by method over all programs but EP, and by program."""
        rounds = [self._slowdowns(number, done) for number in range(self.scale.rounds)]
        rng = random.Random(self.seed)  # noqa: S311
        names = [name for name in self.scale.programs if name != "ep"]
        return {
            "mean_slowdown": {method: _mean(rounds, names, method) for method in METHODS if method != "oracle"},
            "intervals": {
                method: resampled(some, lambda drawn, m=method: _mean(drawn, names, m) or 0.0, rng).document()  # type: ignore[misc]
                for method in METHODS
                if method != "oracle" and (some := _rounds_with(rounds, names, method))
            },
            "programs": {name: _of_program(rounds, name, rng) for name in self.scale.programs},
            "ratios": _ratios({method: _mean(rounds, names, method) for method in METHODS}),
            "runs": sum("method" in key or key.count("/") == 2 for key in done),
            "seed": self.seed,
        }

    def _slowdowns(self, number: int, done: Mapping[str, TrialResult]) -> dict[tuple[str, str], float]:
        found = {}
        for name in self.scale.programs:
            times = [done[key]["seconds"] for r in range(self.scale.rounds) if (key := f"{r}/{name}/dedicated") in done]
            for method in METHODS:
                run = done.get(f"{number}/{name}/{method}")
                if run and times:
                    found[name, method] = run["seconds"] / fmean(times) - 1.0
        return found


def _rounds_with(
    rounds: Sequence[Mapping[tuple[str, str], float]], names: Sequence[str], method: str
) -> list[Mapping[tuple[str, str], float]]:
    """The rounds in which this method has run at all: those that its mean counts, the one under way too."""
    return [found for found in rounds if any((name, method) in found for name in names)]


def _mean(rounds: Sequence[Mapping[tuple[str, str], float]], names: Sequence[str], method: str) -> float | None:
    """The mean over programs of the mean over rounds."""
    by_name = [[found[name, method] for found in rounds if (name, method) in found] for name in names]
    means = [fmean(values) for values in by_name if values]
    return fmean(means) if means else None


def _of_program(rounds: Sequence[Mapping[tuple[str, str], float]], name: str, rng: random.Random) -> dict[str, Any]:
    values = {method: [found[name, method] for found in rounds if (name, method) in found] for method in METHODS}
    return {method: resampled(some, fmean, rng).document() for method, some in values.items() if some}


def _ratios(means: Mapping[str, float | None]) -> dict[str, float | None]:
    """How much of the slowdown of the other methods is left (paper: 0.51 and 0.73)."""
    ours = means["pattern"]
    return {
        f"pattern/{other}": None if ours is None or not means[other] else ours / means[other]  # type: ignore[operator]
        for other in ("random", "all-all")
    }
