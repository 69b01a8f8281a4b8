"""Migration 2003, 8.3, figure 7: the predicted and the real cost of a redistribution, for several sizes.

On the Grid `grads` (table II: two clusters with a slow link between them) a QR factorization is stopped on the four msc
nodes; its shards are in the depots of these nodes. Ten busy processes run on each of them then, as in the paper. What
reading on the eight opus nodes will take is predicted by simulating the reads on the network as it was measured; then
the program goes on there, and tells what reading took.

What a depot can serve beside the busy processes follows from the load that telemetry tells, and from what one processor
of this machine can gather of a shard.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from gridportal.base import bounded_json, rank_order, run_files
from gridportal.base.errors import BackendError
from gridportal.base.job_files import CHECKPOINTS, CHECKPOINTS_VARIABLE, MAPS, STOP
from gridportal.experiments.interface import Trial, TrialResult
from gridportal.experiments.plan import Plan
from gridportal.experiments.test_grid import TestGrid, TestGrids
from gridportal.network import topology as topologies
from gridportal.network.topology import Topology
from gridportal.runtime.agent import keys
from gridportal.runtime.depot import depot_access, slabs
from gridportal.runtime.srs import layouts
from gridportal.runtime.srs.redistribution import Message, Redistribution
from gridportal.testbed import cgroups
from gridportal.testbed.state import State
from gridportal.workloads.dense.grid_shapes import grid_shape
from scheduling.checkpoints.core.redistribution_time import ArrayMove, array_move, reading_seconds

TOPOLOGY = "grads"
OLD = tuple(f"msc{number}" for number in range(1, 5))
NEW = tuple(f"opus{number}" for number in range(1, 9))
#: Busy processes on each of the old nodes.
LOADING = 10
BLOCK = 64
#: What the issue wants; fractions.
GOALS = {"mean_error": 0.10, "worst_error": 0.20}
_PROGRAM = "gridportal.workloads.dense.qr"
_SETTLED = 3.0  # seconds that agents smooth over
_LONGEST = 3600.0
_GATHERED = 16 * 2**20  # bytes of a shard by which a processor is measured


@dataclass(frozen=True, slots=True)
class Scale:
    """Rows of the matrices, and how often each moves."""

    sizes: Sequence[int]
    rounds: int


#: Seconds to half a minute on the slow link of 20 Mbit/s.
SCALED = Scale((1000, 1500, 2000, 2500, 3000), 1)
#: The paper's sizes.
FULL = Scale((6000, 7000, 8000, 9000, 10_000, 11_000, 12_000), 3)


def measurement(plan: Plan, folder: Path, grids: TestGrids | None) -> RedistributionCost:
    """The experiment of a plan."""
    return RedistributionCost(FULL if plan.full else SCALED, plan.seed, folder, grids)


class RedistributionCost:
    """The experiment, on grads."""

    def __init__(self, scale: Scale, seed: int, folder: Path, grids: TestGrids | None) -> None:
        self.scale, self.seed, self.folder = scale, seed, folder
        self._grids = grids

    def trials(self) -> Sequence[Trial]:
        moves = [
            Trial(f"{number}/{size}", {"size": size, "round": number})
            for number in range(self.scale.rounds)
            for size in self.scale.sizes
        ]
        return [Trial("network"), *moves]

    def perform(self, trial: Trial, done: Mapping[str, TrialResult]) -> TrialResult:
        assert self._grids is not None  # noqa: S101 - only summaries are made without a Grid
        grid = self._grids.on(TOPOLOGY)
        if not grid.client.status()["cgroups"]:
            raise BackendError(
                "Nodes cannot be held to their share of the processor here, so that busy processes on some would slow "
                "all down: no control group is writable (gridportal doctor says more)."
            )
        grid.client.load(stop=True)
        if trial.key == "network":
            return {"topology": topologies.dump(grid.measured()), "gathered": gathering_rate()}
        if "network" not in done:
            raise BackendError("Nothing can be predicted: the network was not measured.")
        try:
            return self._moved(grid, trial.key, trial.facts["size"], done["network"])
        finally:
            grid.client.load(stop=True)

    def _moved(self, grid: TestGrid, key: str, size: int, network: TrialResult) -> TrialResult:
        job = _Job(grid, self.folder.resolve() / "work" / "job", key.replace("/", "-"), size)
        try:
            stopped = job.run(OLD, "stopped")
            grid.client.load(list(OLD), processes=LOADING)
            time.sleep(_SETTLED)
            loads = {load["id"]: float(load["cpu"]) for load in grid.client.node_load() if load["id"] in OLD}
            began = time.monotonic()
            arrays = job.arrays(len(NEW))
            serving = {
                node: 8.0 * network["gathered"] * _share(node, grid.topology) * cpu for node, cpu in loads.items()
            }
            predicted = reading_seconds(topologies.parse(network["topology"]), arrays, serving)
            choosing = time.monotonic() - began
            restored = job.run(NEW, "restored")
        finally:
            job.forget()
        return {
            "size": size,
            "nodes": list(NEW),
            "bytes": restored["bytes"],
            "predicted": predicted,
            "seconds": restored["seconds"],
            "choosing": choosing,
            "writing": stopped["seconds"],
            "cpu": loads,
        }

    def summarize(self, done: Mapping[str, TrialResult]) -> dict[str, Any]:
        """Errors (fractions of the real time) by size, and over all moves."""
        moves = [done[trial.key] for trial in self.trials() if trial.key in done and trial.facts]
        sizes = {str(size): _of([move for move in moves if move["size"] == size]) for size in self.scale.sizes}
        errors = [_error(move) for move in moves]
        return {
            "sizes": sizes,
            "overall": {
                "n": len(moves),
                "mean_error": fmean(map(abs, errors)) if errors else None,
                "worst_error": max(map(abs, errors)) if errors else None,
                "bias": fmean(errors) if errors else None,
                "too_short_seconds": _range([move["seconds"] - move["predicted"] for move in moves]),
            },
            "goals": GOALS,
            "runs": len(moves),
            "seed": self.seed,
        }


class _Job:
    """A QR factorization with a folder of its own, that is asked to stop as soon as it runs."""

    def __init__(self, grid: TestGrid, folder: Path, key: str, size: int) -> None:
        self._grid, self._folder, self._size = grid, folder / key, size
        shutil.rmtree(self._folder, ignore_errors=True)
        (self._folder / CHECKPOINTS).mkdir(parents=True)
        state, self._access = State(grid.client.directory), self._folder / run_files.DEPOTS
        addresses = json.loads(state.depots.read_text(encoding="utf-8"))
        master = keys.from_file(str(state.agent_key))
        depot_access.write(self._access, depot_access.issued(master, f"redistribution-{key}", addresses))

    def run(self, nodes: Sequence[str], event: str) -> dict[str, Any]:
        """Run it on `nodes` until it stops; its event of this name. Raises BackendError."""
        run_dir = self._folder / event
        run_dir.mkdir(exist_ok=True)
        rank_order.write_hosts(run_dir, nodes)
        (self._folder / CHECKPOINTS / STOP).touch()
        variables = {
            run_files.RUN_DIR_VARIABLE: run_dir,
            CHECKPOINTS_VARIABLE: self._folder / CHECKPOINTS,
            depot_access.VARIABLE: self._access,
        }
        given = [f"{name}={value}" for name, value in variables.items()]
        words = [sys.executable, "-m", _PROGRAM, "--size", str(self._size), "--block", str(BLOCK)]
        argv = ["mpiexec", "-n", str(len(nodes)), "env", *given, *words]
        done = self._grid.client.run(list(nodes), argv, timeout=_LONGEST, cwd=str(run_dir))[0]
        lines = (
            (run_dir / run_files.PROGRESS).read_text(encoding="utf-8").splitlines() if done["exit_code"] == 0 else []
        )
        entries = [entry for line in lines if (entry := bounded_json.loads(line))["event"] == event]
        if not entries:
            output = " ".join(done["output"].split())[-300:]
            raise BackendError(f"The program on {', '.join(nodes)} ended with {done['exit_code']}: {output}")
        return dict(entries[0])

    def arrays(self, ranks: int) -> list[ArrayMove]:
        """What reading moves when it goes on with so many ranks, from the map that it has left."""
        stored = bounded_json.load(self._folder / CHECKPOINTS / MAPS, MAPS)["arrays"]
        return [array_move(_messages(entry, ranks), OLD, NEW) for entry in stored.values()]

    def forget(self) -> None:
        """Free what it has in depots, from a node, which reaches them."""
        words = [sys.executable, "-m", "gridportal.runtime.depot.free_job", str(self._access), *OLD, *NEW]
        self._grid.client.run([NEW[0]], words, cwd=str(self._folder))


def gathering_rate() -> float:
    """Bytes that one second of a processor here gathers of a block-cyclic shard, and sums up, as a depot does."""
    block, width = 8 * BLOCK, 2048 * 8
    rows = _GATHERED // width
    slab = slabs.Slab(0, block, ((rows, width), (width // block // 2, 2 * block)))
    with tempfile.TemporaryFile() as file:
        file.write(bytes(_GATHERED))
        file.flush()
        started = time.process_time()
        for part in slabs.gathered(file.fileno(), slab):
            zlib.crc32(part)
        return slab.bytes / (time.process_time() - started)


def new_layout(entry: Mapping[str, Any], ranks: int) -> layouts.Layout:
    """How the program lays out an array with so many ranks."""
    dealt = bool(layouts.load(entry["layout"]).dealings)
    return layouts.block_cyclic((BLOCK, BLOCK), grid_shape(ranks)) if dealt else layouts.replicated(ranks)


def _messages(entry: Mapping[str, Any], ranks: int) -> list[Message]:
    way = Redistribution(layouts.load(entry["layout"]), new_layout(entry, ranks), entry["shape"])
    return way.messages(np.dtype(entry["dtype"]).itemsize)


def _share(node: str, topology: Topology) -> float:
    """The part of a processor of this machine that a node has."""
    nodes = topology.compute_nodes()
    speeds = {each.id: each.speed for each in nodes}
    return cgroups.shares(speeds, dict.fromkeys(speeds, 1), len(os.sched_getaffinity(0)))[node]


def _of(moves: Sequence[TrialResult]) -> dict[str, Any]:
    """The means of moves of one size."""
    if not moves:
        return {"n": 0, "bytes": None, "predicted": None, "seconds": None, "error": None}
    means = {name: fmean(move[name] for move in moves) for name in ("bytes", "predicted", "seconds")}
    return {"n": len(moves), **means, "error": fmean(_error(move) for move in moves)}


def _error(move: TrialResult) -> float:
    """Below 0: less was predicted than it took."""
    return float(move["predicted"] / move["seconds"] - 1.0)


def _range(values: Sequence[float]) -> dict[str, float] | None:
    return {"least": min(values), "most": max(values)} if values else None
