"""Selection 1999, table 1: what automatic node selection saves where others compute and send on the same nodes.

On cmu8 the load and traffic models of section 4.2 are replayed (gridportal.testbed.arrivals): real busy processes, real
TCP messages. Each program runs on nodes selected automatically (balanced, on what the agents counted in the two seconds
before: probes took up to seven, after which other messages were under way) and on random ones, from the same moment of
the same load and traffic on; a round's random nodes are the same in all conditions and in the reference on the unloaded
testbed, so that nothing but load and traffic differs. Automatic selection is the paper's balanced one, with the pairs
of each program talking at once as they do: the paper leaves out that a program's own streams share links (3.4).

Eight nodes do not have eight processors here. Every node is held to SHARE of one by its control group, whatever the
others do: eight times 0.2 are 1.6 processors of two, so a node is slower for its own load only, and 0.4 are left for
the Grid, its probes and the messages. A node has 0.67 jobs on average (JobModel), so that the worst of four random ones
has about 1.4 besides the program: FFT then takes about 2.3 times as long, as in the paper.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from gridportal.base.errors import BackendError
from gridportal.experiments.grid_programs import Program
from gridportal.experiments.interface import Trial, TrialResult
from gridportal.experiments.loadtraffic.paper import CONDITIONS, METHODS, ratios
from gridportal.experiments.plan import Plan
from gridportal.experiments.statistics import resampled
from gridportal.experiments.telemetry_probe import TelemetryProbe
from gridportal.experiments.test_grid import TestGrid, TestGrids, with_readings
from gridportal.network import residual_capacity as passing
from gridportal.network.topology import Topology
from gridportal.testbed import topologies
from scheduling.jobs.core import patterns
from scheduling.selection.core.selection import Request, Selection, select

#: Of one processor, for each node.
SHARE = 0.2
#: Automatic selection's increase as a part of random's: what the issue wants.
GOAL = 0.40
_SETTLED = 2.0  # seconds that agents smooth over
_BUDGET = 5.0
_WATCHED = 2.0  # seconds for which the agents' counters are watched
#: The part of the messages that is taken to last for most of a program's time. By simulation of the traffic model
#: over other seeds, 0.5 to 0.85 save the same within two points of a hundred; 0 and 1 save less.
_STAYING = 0.7
#: Loads of nodes are told apart in such steps (fractions): less is how processes happen to be scheduled.
_STEP = 0.05


@dataclass(frozen=True, slots=True)
class Sized:
    """A program, on how many nodes, and which of its ranks talk."""

    program: Program
    nodes: int
    pattern: str


@dataclass(frozen=True, slots=True)
class Scale:
    """Which programs how large, how many rounds, and what the models are told in place of their own parameters."""

    programs: Mapping[str, Sized]
    rounds: int
    job_model: Mapping[str, float]
    message_model: Mapping[str, float]


def _programs(fft: int, iterations: int, airshed: str, mri: str) -> dict[str, Sized]:
    sizes = ("--size", str(fft), "--iterations", str(iterations))
    return {
        "fft2d": Sized(Program("fft2d", sizes), 4, "all-to-all"),
        "airshed": Sized(Program("airshed", ("--class", airshed)), 5, "all-to-all"),
        "mri": Sized(Program("mri", ("--class", mri)), 4, "star"),
    }


#: Programs of some seconds. Airshed of class S meets every few milliseconds, and a held node stands still for longer.
SCALED = Scale(_programs(512, 24, "W", "S"), 5, {}, {})
#: The paper's FFT(1K) with its 32 iterations; load and messages last as much longer as the programs do.
FULL = Scale(
    _programs(1024, 32, "W", "W"),
    20,
    {"gap": 60.0, "mean": 10.0, "least": 20.0, "most": 600.0},
    {"gap": 11.0, "median": 150e6},
)


def measurement(plan: Plan, folder: Path, grids: TestGrids | None) -> LoadTraffic:
    """The experiment of a plan."""
    return LoadTraffic(FULL if plan.full else SCALED, plan.seed, folder, grids)


class LoadTraffic:
    """The experiment, on cmu8."""

    def __init__(self, scale: Scale, seed: int, folder: Path, grids: TestGrids | None) -> None:
        self.scale, self.seed, self.folder = scale, seed, folder
        self._grids = grids

    def trials(self) -> Sequence[Trial]:
        return [
            trial
            for number in range(self.scale.rounds)
            for name in self.scale.programs
            for trial in self._of_program(number, name)
        ]

    def _of_program(self, number: int, name: str) -> list[Trial]:
        facts = {"round": number, "program": name}
        rest = [
            Trial(f"{number}/{name}/{condition}/{method}", {**facts, "condition": condition, "method": method})
            for condition in CONDITIONS
            for method in METHODS
        ]
        return [Trial(f"{number}/{name}/unloaded", facts), *rest]

    def perform(self, trial: Trial, done: Mapping[str, TrialResult]) -> TrialResult:
        grid = self._shared_grid()
        _quiet(grid)
        sized = self.scale.programs[trial.facts["program"]]
        drawn = self._random_nodes(trial.facts["round"], trial.facts["program"], sized.nodes, grid)
        if "condition" not in trial.facts:
            return {"nodes": drawn, "seconds": grid.run(sized.program, drawn)}
        try:
            self._disturb(grid, trial)
            return self._disturbed(grid, trial, sized, drawn)
        finally:
            _quiet(grid)

    def _disturbed(self, grid: TestGrid, trial: Trial, sized: Sized, drawn: list[str]) -> TrialResult:
        """Both methods look at the network first, so that both programs begin at the same age of load and traffic."""
        time.sleep(_SETTLED)
        began = time.monotonic()
        probe = TelemetryProbe(grid)
        try:
            network = seen(grid, probe)
        finally:
            probe.close()
        random_draw = trial.facts["method"] == "random"
        chosen = None if random_draw else _balanced(network, sized, self._rng(trial.key))
        choosing = time.monotonic() - began
        nodes = drawn if chosen is None else list(chosen.nodes)
        cpu = {node.id: node.cpu for node in network.nodes if node.id in nodes}
        objective = None if chosen is None else chosen.objective.min_bandwidth
        found = {"nodes": nodes, "choosing": choosing, "cpu": cpu, "min_bandwidth": objective}
        return {**found, "seconds": grid.run(sized.program, nodes)}

    def _disturb(self, grid: TestGrid, trial: Trial) -> None:
        seed = self.seed * 10_000 + trial.facts["round"] * 10 + list(self.scale.programs).index(trial.facts["program"])
        if trial.facts["condition"] != "load":
            grid.client.traffic_model(seed, self.scale.message_model)
        if trial.facts["condition"] != "traffic":
            grid.client.load_model(seed, self.scale.job_model)

    def topology_file(self) -> Path:
        """The file of its Grid, written."""
        return shared(self.folder / "cmu8.json")

    def _shared_grid(self) -> TestGrid:
        """On a cmu8 whose nodes have their share of a processor each. BackendError where that cannot be held."""
        assert self._grids is not None  # noqa: S101 - only summaries are made without a Grid
        grid = self._grids.on(str(self.topology_file()))
        if not grid.client.status()["cgroups"]:
            raise BackendError(
                "Nodes cannot be held to their share of the processor here, so that a loaded node would be as fast as "
                "an idle one: no control group is writable (gridportal doctor says more)."
            )
        return grid

    def _random_nodes(self, number: int, name: str, count: int, grid: TestGrid) -> list[str]:
        return self._rng(f"{number}/{name}").sample([node.id for node in grid.topology.compute_nodes()], count)

    def _rng(self, key: str) -> random.Random:
        return random.Random(f"{self.seed}/{key}")  # noqa: S311 - a draw that can be repeated

    def summarize(self, done: Mapping[str, TrialResult]) -> dict[str, Any]:
        """Seconds, increase over the unloaded time (fractions) and how much of random's is left, by condition."""
        rng = random.Random(self.seed)  # noqa: S311
        programs = {name: self._of(name, done, rng) for name in self.scale.programs}
        return {
            "programs": programs,
            **ratios(programs),
            "goal": GOAL,
            "runs": len(done),
            "seed": self.seed,
            "share": SHARE,
        }

    def _of(self, name: str, done: Mapping[str, TrialResult], rng: random.Random) -> dict[str, Any]:
        numbers = range(self.scale.rounds)
        unloaded = {n: done[key]["seconds"] for n in numbers if (key := f"{n}/{name}/unloaded") in done}
        found: dict[str, Any] = {"nodes": self.scale.programs[name].nodes, "unloaded": None}
        found |= {"seconds": {m: {} for m in METHODS}, "increase": {m: {} for m in METHODS}}
        if not unloaded:
            return found
        found["unloaded"] = resampled(list(unloaded.values()), fmean, rng).document()
        for method in METHODS:
            for condition in CONDITIONS:
                keys = [f"{n}/{name}/{condition}/{method}" for n in unloaded]
                seconds = [done[key]["seconds"] for key in keys if key in done]
                if seconds:
                    ours = resampled(seconds, fmean, rng)
                    before = found["unloaded"]["mean"]
                    found["seconds"][method][condition] = ours.document()
                    found["increase"][method][condition] = replace(
                        ours, mean=ours.mean / before - 1, low=ours.low / before - 1, high=ours.high / before - 1
                    ).document()
        return found


def shared(file: Path) -> Path:
    """Write cmu8 with nodes of SHARE of a processor each to `file`."""
    document = json.loads(topologies.find("cmu8").read_text(encoding="utf-8"))
    for node in document["nodes"]:
        if node["kind"] == "compute":
            node["speed"] = SHARE
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document), encoding="utf-8")
    return file.resolve()


def seen(grid: TestGrid, probe: TelemetryProbe) -> Topology:
    """The network as the agents tell it: bandwidth of links from who sends to whom, processors from their loads.

    Of both directions of a link the lower counts (3.3).
    """
    reports, flows = probe.counted(_WATCHED)
    cpu = {node: _STEP * round(float(report["cpu"]) / _STEP) for node, report in reports.items()}
    return of_equals(_shared(with_readings(grid.topology, passing.left(grid.topology, flows, _STAYING), cpu)))


def _shared(topology: Topology) -> Topology:
    """The same with all that links do not leave used by streams that give way, as messages over TCP do."""
    busy = (replace(link, used=link.capacity if link.bandwidth < link.capacity else None) for link in topology.links)
    return replace(topology, links=tuple(busy))


def of_equals(topology: Topology) -> Topology:
    """The same with nodes of speed 1: all are alike, and what is held of each is no load. With SHARE for their speed
    the fraction of the processor would bind every group, and the network none."""
    return replace(topology, nodes=tuple(replace(node, speed=1.0) for node in topology.nodes))


def _balanced(network: Topology, sized: Sized, rng: random.Random) -> Selection:
    pattern = patterns.named(sized.pattern, sized.nodes)
    request = Request(nodes=sized.nodes, method="balanced", pattern=pattern, flows=True, time_budget=_BUDGET)
    return select(network, request, rng=rng, clock=time.perf_counter)


def _quiet(grid: TestGrid) -> None:
    grid.client.load_model(stop=True)
    grid.client.traffic_model(stop=True)
