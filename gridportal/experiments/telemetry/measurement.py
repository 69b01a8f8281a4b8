"""Whether telemetry tells the truth, on Grids with traffic and load running.

Four questions in rounds, each with traffic of its own seed: does a probe see what was shaped, does a flow query know
beforehand what two transfers at once will get, does cpu availability tell what a new process gets, is the set that
selection picks as good as the best there is. The truth is the shaping that the Grid tells of itself, real transfers,
and a real process.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from gridportal.base.errors import BackendError
from gridportal.experiments.interface import Trial, TrialResult
from gridportal.experiments.plan import Plan
from gridportal.experiments.telemetry_probe import Pair, TelemetryProbe
from gridportal.experiments.test_grid import TestGrid, TestGrids
from gridportal.network import topology as topologies
from gridportal.network.flows import Flow, flow_query
from gridportal.network.routes import Routes
from gridportal.network.topology import Topology
from scheduling.jobs.core import patterns
from scheduling.selection.core.selection import Request, select

#: What issue and papers ask for.
GOALS = {"bandwidth": (0.10, 0.95), "flows": (0.15, 1.0), "cpu": (0.1, 1.0), "selection": (0.9, 0.9)}
STREAMS = {"crossbar10": 150, "cmu8": 6}
PATTERNS = ("ring", "all-to-all", "star", "binary-tree")
#: Rounds of each question.
SCALED, FULL = 10, 40
_BUSY = (0, 1, 2, 3)
_SETTLED = 9.0  # seconds: four times what agents smooth over
_TRANSFER = 1.5
_SPIN = (
    "import time\nstart, cpu = time.monotonic(), time.process_time()\n"
    "while time.monotonic() - start < 5: pass\n"
    "print((time.process_time() - cpu) / (time.monotonic() - start))"
)


def measurement(plan: Plan, folder: Path, grids: TestGrids | None) -> Telemetry:
    """The experiment of a plan."""
    return Telemetry(FULL if plan.full else SCALED, plan.seed, grids)


class Telemetry:
    """The experiment; `rounds` of each question."""

    def __init__(self, rounds: int, seed: int, grids: TestGrids | None) -> None:
        self.rounds, self.seed, self._grids = rounds, seed, grids

    def trials(self) -> Sequence[Trial]:
        kinds = [("bandwidth", "crossbar10"), ("selection", "crossbar10"), ("bandwidth", "cmu8"), ("flows", "cmu8")]
        kinds.append(("cpu", "cmu8"))
        return [
            Trial(f"{kind}/{topology}/{number}", {"kind": kind, "topology": topology, "round": number})
            for kind, topology in kinds
            for number in range(self.rounds)
        ]

    def perform(self, trial: Trial, done: Mapping[str, TrialResult]) -> TrialResult:
        assert self._grids is not None  # noqa: S101 - only summaries are made without Grids
        grid = self._grids.on(trial.facts["topology"])
        probe = TelemetryProbe(grid)
        try:
            grid.client.load(stop=True)
            number = self.seed * 1000 + trial.facts["round"]
            grid.client.traffic(seed=number, streams=STREAMS[trial.facts["topology"]])
            rng = random.Random(f"{self.seed}/{trial.key}")  # noqa: S311 - a draw that can be repeated
            return dict(getattr(self, f"_{trial.facts['kind']}")(grid, probe, rng, trial.facts["round"]))
        finally:
            grid.client.load(stop=True)
            probe.close()

    def _bandwidth(self, grid: TestGrid, probe: TelemetryProbe, rng: random.Random, number: int) -> TrialResult:
        """Every pair, with one node busy; pairs whose shaping changed meanwhile say nothing."""
        grid.client.load([rng.choice(probe.nodes)])
        before = _shaped(grid)
        swept = probe.sweep()
        after = _shaped(grid)
        truth = {pair: (_along(before, pair), _along(after, pair)) for pair in swept}
        pairs = [
            {"pair": list(pair), "measured": rate, "shaped": truth[pair][0]}
            for pair, rate in swept.items()
            if truth[pair][0] == truth[pair][1]
        ]
        return {"pairs": pairs}

    def _flows(self, grid: TestGrid, probe: TelemetryProbe, rng: random.Random, number: int) -> TrialResult:
        """Two flows over a link that both need: the query first, then both transfers at once."""
        flows = _sharing(grid.topology, rng)
        network = probe.network(probe.sweep())
        asked = flow_query(network, [Flow(*pair) for pair in flows])
        got = probe.together(flows, _TRANSFER, 10**8)
        return {
            "flows": [
                {"pair": list(pair), "asked": answer.bandwidth, "got": got[pair], "binding": answer.binding}
                for pair, answer in zip(flows, asked, strict=True)
            ]
        }

    def _cpu(self, grid: TestGrid, probe: TelemetryProbe, rng: random.Random, number: int) -> TrialResult:
        """What a new process gets on a node where some are busy, against what was said to be available."""
        node, busy = rng.choice(probe.nodes), _BUSY[number % len(_BUSY)]
        if busy:
            grid.client.load([node], busy)
        time.sleep(_SETTLED)
        reported = float(probe.reports()[node]["cpu"])
        done = grid.client.run([node], [sys.executable, "-c", _SPIN])[0]
        if done["exit_code"] != 0:
            raise BackendError(f"The process on {node} ended with {done['exit_code']}: {done['output'][-200:]}")
        return {"node": node, "busy": busy, "said": reported, "got": float(json.loads(done["output"]))}

    def _selection(self, grid: TestGrid, probe: TelemetryProbe, rng: random.Random, number: int) -> TrialResult:
        """The chosen set's slowest pair, measured again, against the best set on the shaping of that moment."""
        pattern = patterns.named(PATTERNS[number % len(PATTERNS)], 4)
        request = Request(nodes=4, method="pattern", pattern=pattern)
        chosen = select(probe.network(probe.sweep()), request, rng=rng, clock=time.perf_counter)
        best = select(_shaped(grid), request, rng=rng, clock=time.perf_counter)
        pairs = [(chosen.nodes[a], chosen.nodes[b]) for a, b, _ in pattern.edges]
        slowest = min(probe.each([*pairs, *((b, a) for a, b in pairs)]).values())
        return {
            "pattern": pattern.name,
            "nodes": list(chosen.nodes),
            "measured": slowest,
            "best": best.objective.min_bandwidth,
            "best_nodes": list(best.nodes),
            "optimal": best.optimal,
        }

    def summarize(self, done: Mapping[str, TrialResult]) -> dict[str, Any]:
        """For each question the errors, and the share of them within the goal."""
        errors = {
            kind: [error for key, trial in done.items() if key.startswith(f"{kind}/") for error in errors_of(trial)]
            for kind in GOALS
        }
        answers = {kind: _answer(kind, errors[kind]) for kind in GOALS}
        return {
            **answers,
            "errors": errors,
            "reached": {kind: _reached(kind, answer) for kind, answer in answers.items()},
            "goals": {kind: {"within": within, "share": share} for kind, (within, share) in GOALS.items()},
            "runs": len(done),
            "seed": self.seed,
        }


def errors_of(trial: TrialResult) -> list[float]:
    """Relative errors of one trial; of cpu absolute ones; of selection what is missing to the best. None of others."""
    if "pairs" in trial:
        return [abs(pair["measured"] / pair["shaped"] - 1.0) for pair in trial["pairs"]]
    if "flows" in trial:
        return [abs(flow["asked"] / flow["got"] - 1.0) for flow in trial["flows"]]
    if "said" in trial:
        return [abs(trial["said"] - trial["got"])]
    return [max(0.0, 1.0 - trial["measured"] / trial["best"])] if "best" in trial else []


def _answer(kind: str, errors: Sequence[float]) -> dict[str, Any]:
    within = GOALS[kind][0] if kind != "selection" else 1.0 - GOALS[kind][0]
    if not errors:
        return {"n": 0, "share": None, "median_error": None, "worst_error": None}
    share = sum(error <= within for error in errors) / len(errors)
    return {"n": len(errors), "share": share, "median_error": median(errors), "worst_error": max(errors)}


def _reached(kind: str, answer: Mapping[str, Any]) -> bool:
    return answer["share"] is not None and answer["share"] >= GOALS[kind][1]


def _shaped(grid: TestGrid) -> Topology:
    """The Grid as it says it is shaped at this moment."""
    return topologies.parse(grid.client.topology())


def _along(network: Topology, pair: Pair) -> float:
    """Bit/s of the slowest link from one node to another."""
    return flow_query(network, [Flow(*pair)])[0].bandwidth


def _sharing(network: Topology, rng: random.Random) -> list[Pair]:
    """Two pairs of four different nodes whose paths have a directed link in common."""
    routes = Routes(network)
    nodes = [node.id for node in network.compute_nodes()]
    while True:
        a, b, c, d = rng.sample(nodes, 4)
        one, other = routes.path(a, b), routes.path(c, d)
        if one and other and set(one.arcs) & set(other.arcs):
            return [(a, b), (c, d)]
