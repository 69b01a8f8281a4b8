"""A Grid of the experiment's own, and what is done on it: measure, trace, run a program, run a skeleton."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from gridportal.base import rank_order, run_files
from gridportal.base.errors import BackendError
from gridportal.experiments.grid_programs import GridProgram, Mpi, Ran
from gridportal.network import estimate
from gridportal.network.topology import Topology
from gridportal.testbed import cgroups, launch
from gridportal.testbed.client import Grid
from gridportal.testbed.state import State
from monitoring.telemetry.adapters.grid import GridTelemetry
from scheduling.profiles.adapters import trace_library
from scheduling.profiles.core.trace import Trace
from scheduling.runs.adapters import recorder
from scheduling.skeletons.adapters import skeleton_runs
from scheduling.skeletons.adapters.skeleton_runs import Player

_LONGEST = 900.0
#: As many processes of the machine as the whole Grid weighs, so that a portal beside it does not show in the figures.
_WEIGHT = 20


class TestGrid:
    """Everything is done through `client`, the Grid's daemon; files go to `folder`."""

    def __init__(self, client: Grid, folder: Path) -> None:
        self.client, self.folder = client, folder
        self._telemetry = GridTelemetry(client)
        self.topology = self._telemetry.facts().topology

    def measured(self) -> Topology:
        """The network as one sweep of real transfers shows it, and the nodes' loads of this moment."""
        swept = self._telemetry.measure()
        rates = estimate.link_bandwidths(self.topology, swept.pairs, swept.together)
        return with_readings(self.topology, rates, {load.node: load.cpu for load in self._telemetry.loads()})

    def run(self, program: GridProgram, nodes: Sequence[str], traced: Path | None = None) -> float:
        """Seconds that the program tells of itself on `nodes` (rank order). Raises BackendError unless it verified."""
        return self._ran(program, nodes, traced).seconds

    def whole(self, program: GridProgram, nodes: Sequence[str]) -> float:
        """The same for all that the program does once its ranks have met, its set-up and verification too."""
        return self._ran(program, nodes).whole

    def timed(self, program: GridProgram, nodes: Sequence[str]) -> Ran:
        """Both of them."""
        return self._ran(program, nodes)

    def trace(self, program: GridProgram, nodes: Sequence[str]) -> Trace:
        """What the program calls when it runs on `nodes`."""
        folder = self._fresh(f"trace-{program.name}")
        self.run(program, nodes, traced=folder)
        return trace_library.collect(folder)

    def skeleton(self, file: Path, nodes: Sequence[str], player: Player | None = None) -> dict[str, Any]:
        """Run a skeleton: `seconds` and `predicted` (see gridportal.runtime.skeleton). Without `player` by Python."""
        return skeleton_runs.on_grid(file, list(nodes), self.client.directory, _LONGEST, player)

    def _ran(self, program: GridProgram, nodes: Sequence[str], traced: Path | None = None) -> Ran:
        run_dir = self._fresh("run")
        rank_order.write_hosts(run_dir, nodes)
        program.prepare(run_dir)
        recording = [] if traced is None else recorder.prefix(self._library(program.mpi), traced)
        given = ["env", f"{run_files.RUN_DIR_VARIABLE}={run_dir}", *recording]
        argv = [*program.mpi.launcher(len(nodes)), *given, *program.command]
        done = self.client.run(list(nodes), argv, timeout=_LONGEST, cwd=str(run_dir))[0]
        if done["exit_code"] != 0:
            output = " ".join(done["output"].split())[-300:]
            raise BackendError(f"{program.name} on {', '.join(nodes)} ended with {done['exit_code']}: {output}")
        ran = program.ran(run_dir, done["output"])
        if ran is None:
            raise BackendError(f"{program.name} on {', '.join(nodes)} did not verify.")
        return ran

    def _library(self, mpi: Mpi) -> Path:
        return recorder.built(mpi.mpicc, self.folder / "trace-library")

    def _fresh(self, name: str) -> Path:
        path = self.folder / "work" / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path


class TestGrids:
    """One Grid at a time, of the topology that is wanted; it ends with this process by whatever means."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._state = State(self._folder / "grid")
        self._topology = ""
        self._open: TestGrid | None = None

    def on(self, topology: str) -> TestGrid:
        """The Grid of `topology`, which is built if it is not there."""
        if self._open is None or self._topology != topology:
            self.close()
            launch.up(topology, self._state.root, with_parent=True)
            cgroups.favour(self._state, _WEIGHT)
            self._topology, self._open = topology, TestGrid(Grid(self._state.root), self._folder)
        return self._open

    def close(self) -> None:
        """Take the Grid down."""
        if self._open is not None:
            self._open = None
            launch.down(self._state)


def with_readings(topology: Topology, rates: Mapping[tuple[str, str], float], cpu: Mapping[str, float]) -> Topology:
    """`topology` with bandwidths of links (bit/s, by their ends) and available processors (fractions, by node)."""
    return replace(
        topology,
        nodes=tuple(replace(node, cpu=min(1.0, cpu.get(node.id, node.cpu))) for node in topology.nodes),
        links=tuple(
            replace(link, bandwidth=rates.get((link.source, link.target), link.capacity)) for link in topology.links
        ),
    )


@contextmanager
def own_grids(folder: Path) -> Iterator[TestGrids]:
    """Grids of an experiment, of which the last is taken down at the end."""
    grids = TestGrids(folder)
    try:
        yield grids
    finally:
        grids.close()
