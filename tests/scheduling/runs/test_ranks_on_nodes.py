"""Several ranks on a node, with real programs of MPICH and Open MPI, on the Grid and on a real Slurm."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gridportal.base.batch_system import Backend, BackendState, RunSpec
from gridportal.base.errors import BackendError
from gridportal.slurm.backend import SlurmBackend
from gridportal.slurm.commands import SlurmCommands
from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from scheduling.jobs.core.launcher import OPEN_MPI_LAUNCHER
from scheduling.runs.adapters.grid import GridBackend
from scheduling.runs.core.script import Script, render
from tests.gridportal.testbed.conftest import eventually

pytestmark = pytest.mark.grid
BESIDE = Path(sys.executable).parent
SOURCE = Path(__file__).parents[2] / "gridportal" / "testbed" / "pingpong.c"
#: MPI -> (compiler, what a script says of it)
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "mpich": (str(BESIDE / "mpicc"), {"launcher": (str(BESIDE / "mpiexec"), "-n", "{ranks}", "-hosts", "{hosts}")}),
    "openmpi": (
        "mpicc.openmpi",
        {"mpi": "Open MPI", "launcher": ("mpirun.openmpi", *OPEN_MPI_LAUNCHER[1:])},
    ),
}
#: Nodes rank by rank, with how many ranks of its node each shares memory.
ORDERS = {
    "interleaved": ("duo1 duo2 duo1 duo2", [2, 2, 2, 2]),
    "uneven": ("quad1 quad1 quad1 duo3", [3, 3, 3, 1]),
    "out of turn": ("quad2 duo3 quad2 quad2", [3, 1, 3, 3]),
    "8 on 4": ("quad2 quad1 duo2 duo4 quad2 quad1 duo2 duo4", [2] * 8),
}
RANK = r"rank (\d+) on (\S+) shares memory with (\d+), threads (\S+), processors (\S+)"


@pytest.fixture(scope="module")
def backends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Backend]]:
    """smp6 with a Slurm on its nodes, and the Grid itself."""
    try:
        place.check(machine.choose()[0], accounting=False)
    except BackendError as error:
        pytest.skip(str(error))
    root = tmp_path_factory.mktemp("smp6")
    launch.up("smp6", root, with_parent=True, slurm="slurm")
    grid = Grid(root)
    info = grid.slurm_info()
    assert info is not None
    yield {"grid": GridBackend(grid), "slurm": SlurmBackend(SlurmCommands(tuple(info["prefix"])))}
    grid.down()


def built(kind: str, folder: Path) -> str:
    """`pingpong.c` compiled with an MPI."""
    compiler, program = KINDS[kind][0], folder / "pingpong"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed here")
    subprocess.run([compiler, "-o", program, SOURCE], check=True, timeout=60, cwd=folder)
    return str(program)


def start(backend: Backend, folder: Path, nodes: tuple[str, ...], argv: tuple[str, ...], **script: Any) -> Path:
    """Submit a program on these nodes; its run directory."""
    folder.mkdir()
    cpus = script.get("cpus_per_rank", 1)
    text = render(Script("ranks on nodes", "random", nodes, argv, str(folder), **script))
    backend.submit(RunSpec(folder.name, text, nodes, str(folder), 60.0, "tests", cpus))
    return folder


def printed(backend: Backend, folder: Path) -> str:
    """What it printed until its good end."""
    run = folder.name
    eventually(lambda: backend.poll([run])[run].state is BackendState.FINISHED, f"the end of {run}")
    log = (folder / "output.log").read_text()
    assert backend.poll([run])[run].exit_code == 0, log
    return log


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cluster", ["grid", "slurm"])
def test_ranks_run_where_they_were_placed_and_share_the_memory_of_their_node(
    backends: dict[str, Backend], programs: Path, tmp_path: Path, cluster: str, kind: str
) -> None:
    backend, argv = backends[cluster], (built(kind, programs),)
    folders = {}
    for order, (names, _) in ORDERS.items():
        folder = tmp_path / f"{cluster}-{kind}-{order.replace(' ', '-')}"
        folders[order] = start(backend, folder, tuple(names.split()), argv, **KINDS[kind][1])
    for order, (names, beside) in ORDERS.items():
        log = printed(backend, folders[order])
        ranks = re.findall(RANK, log)
        assert [host for _, host, _, _, _ in ranks] == names.split(), log
        if kind != "mpich" or order != "out of turn":  # its mpiexec takes such ranks for those of several nodes
            assert [int(count) for _, _, count, _, _ in ranks] == beside, log
        assert {threads for _, _, _, threads, _ in ranks} == {"1"}


def test_two_threads_a_rank_are_told_and_given(backends: dict[str, Backend], programs: Path, tmp_path: Path) -> None:
    nodes, argv = ("quad1", "quad2", "quad1", "quad2"), (built("mpich", programs),)
    for cluster, backend in backends.items():
        folder = start(backend, tmp_path / f"{cluster}-threads", nodes, argv, cpus_per_rank=2, **KINDS["mpich"][1])
        ranks = re.findall(RANK, printed(backend, folder))
        assert [(host, threads) for _, host, _, threads, _ in ranks] == [(node, "2") for node in nodes]
