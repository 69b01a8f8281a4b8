"""Several ranks on a node, with real programs of MPICH and Open MPI, on the Grid and on a real Slurm."""

from __future__ import annotations

import json
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
from gridportal.slurm.submit import SlurmOptions
from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from scheduling.jobs.core import parameters
from scheduling.jobs.core.launcher import OPEN_MPI_LAUNCHER
from scheduling.jobs.core.program_request import ProgramRequest
from scheduling.runs.adapters.grid import GridBackend
from scheduling.runs.core.script import Script, render
from tests.applications.conftest import example, need
from tests.gridportal.testbed.networks import crossbar
from tests.waiting import looks

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
LONGEST = 180.0  # seconds of a run, on a machine that does much else
RANK = r"rank (\d+) on (\S+) shares memory with (\d+), threads (\S+), processors (\S+)"


#: The nodes of smp6, on a network that is fast enough for HPCC, which measures it with messages of 2 MB.
CPUS = {"duo1": 2, "duo2": 2, "quad1": 4, "duo3": 2, "duo4": 2, "quad2": 4}
RATE = 3000.0


@pytest.fixture(scope="module")
def backends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Backend]]:
    """A Grid whose nodes have several processors, and a Slurm on these nodes."""
    try:
        place.check(machine.choose()[0], accounting=False)
    except BackendError as error:
        pytest.skip(str(error))
    document = crossbar({(one, other): RATE for one in CPUS for other in CPUS if one != other})
    for node in document["nodes"]:
        node["cpus"] = CPUS[node["id"]]
    for link in document["links"]:
        link["capacity"] = RATE * 1e6
    root = tmp_path_factory.mktemp("ranks")
    file = tmp_path_factory.mktemp("topology") / "fast.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    launch.up(file, root, with_parent=True, slurm="slurm")
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
    backend.submit(RunSpec(folder.name, text, nodes, str(folder), LONGEST, "tests", cpus))
    return folder


def printed(backend: Backend, folder: Path) -> str:
    """What it printed until its good end."""
    run = folder.name
    for _ in looks(LONGEST):
        if backend.poll([run])[run].state is BackendState.FINISHED:
            break
    log = (folder / "output.log").read_text()
    assert backend.poll([run])[run].exit_code == 0, log
    return log


@pytest.mark.in_turn("kind")
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
        assert [int(count) for _, _, count, _, _ in ranks] == beside, log
        assert {threads for _, _, _, threads, _ in ranks} == {"1"}


@pytest.mark.parametrize("kind", KINDS)
def test_two_threads_a_rank_are_told_and_given(
    backends: dict[str, Backend], programs: Path, tmp_path: Path, kind: str
) -> None:
    nodes, argv = ("quad1", "quad2", "quad1", "quad2"), (built(kind, programs),)
    for cluster, backend in backends.items():
        folder = start(backend, tmp_path / f"{cluster}-{kind}-threads", nodes, argv, cpus_per_rank=2, **KINDS[kind][1])
        ranks = re.findall(RANK, printed(backend, folder))
        assert [(host, threads) for _, host, _, threads, _ in ranks] == [(node, "2") for node in nodes]


@pytest.mark.parametrize("kind", KINDS)
def test_on_nodes_that_others_use_too_unlike_numbers_of_ranks_have_room_beside_them(
    backends: dict[str, Backend], programs: Path, tmp_path: Path, kind: str
) -> None:
    """Of a node with two processors and one with four others have one; each rank is where it was placed."""
    backend, shared = backends["slurm"], SlurmOptions(shared=True)
    assert isinstance(backend, SlurmBackend)
    others = tmp_path / f"{kind}-others"
    others.mkdir()
    beside = RunSpec(others.name, "sleep 600", ("duo3", "quad1"), str(others), LONGEST, memory_per_rank=50)
    backend.submit(beside, shared)
    nodes = ("quad1", "duo3", "quad1", "quad1")
    folder = tmp_path / f"{kind}-parts"
    folder.mkdir()
    text = render(Script("ranks on nodes", "random", nodes, (built(kind, programs),), str(folder), **KINDS[kind][1]))
    backend.submit(RunSpec(folder.name, text, nodes, str(folder), LONGEST, memory_per_rank=50), shared)
    log = printed(backend, folder)
    assert backend.poll([beside.key])[beside.key].state is BackendState.RUNNING
    backend.cancel(beside.key)
    ranks = re.findall(RANK, log)
    assert [host for _, host, _, _, _ in ranks] == list(nodes), log
    assert [int(count) for _, _, count, _, _ in ranks] == [3, 1, 3, 3], log


#: Notes what it hears, by the rank.
LISTEN = (
    'rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}; trap "echo rank $rank heard; exit 0" USR1 TERM; touch begun.$rank; '
    "while :; do sleep 0.1; done"
)


def test_all_parts_of_a_job_hear_that_it_is_to_stop_and_end_with_it(
    backends: dict[str, Backend], tmp_path: Path
) -> None:
    """By what each launcher hands on, and by a signal to the ranks alone, which is sent in each part."""
    backend, nodes = backends["slurm"], ("quad1", "duo3", "quad1")
    assert isinstance(backend, SlurmBackend)
    runs = {("mpich", "USR1"): 1, ("openmpi", "USR1"): 2, ("mpich", "TERM"): 3}
    folders = {}
    for (kind, signal), number in runs.items():
        need(Path(KINDS[kind][1]["launcher"][0]).name)
        folder = folders[kind, signal] = tmp_path / f"stop-{number}"
        folder.mkdir()
        stop = ProgramRequest.read({"signal": signal})
        script = Script("stops", "random", nodes, ("bash", "-c", LISTEN), str(folder), stop=stop, **KINDS[kind][1])
        spec = RunSpec(folder.name, render(script), nodes, str(folder), LONGEST, memory_per_rank=20)
        backend.submit(spec, SlurmOptions(shared=True))
    for folder in folders.values():
        for _ in looks(LONGEST):
            if len(list(folder.glob("begun.*"))) == len(nodes):
                break
        backend.signal(folder.name, 10)
    for folder in folders.values():
        log = printed(backend, folder)
        assert sorted(re.findall(r"rank (\d) heard", log)) == ["0", "1", "2"], log


#: Eight ranks on four nodes, of which two have three, and the next rank is never on the same node.
EIGHT = ("quad1", "duo4", "quad2", "quad1", "duo1", "quad2", "quad1", "quad2")
SAY_WHERE = ("sh", "-c", 'echo "rank $OMPI_COMM_WORLD_RANK on $(hostname)"; exec "$@"', "sh")


def placed(backend: Backend, folder: Path, name: str, **values: Any) -> str:
    """What an example of docs/applications printed, each of whose eight ranks was where it was placed."""
    fields = example(f"{name}.json")
    argv = (*SAY_WHERE, *parameters.render(fields["command"], values))
    start(backend, folder, EIGHT, argv, mpi=fields["mpi"], launcher=tuple(fields["launcher"]))
    log = printed(backend, folder)
    hosts = dict(re.findall(r"^rank (\d) on (\S+)$", log, re.MULTILINE))
    assert [hosts[str(rank)] for rank in range(8)] == list(EIGHT), log
    return log


@pytest.mark.in_turn("cluster")
@pytest.mark.parametrize("cluster", ["grid", "slurm"])
def test_lammps_runs_with_eight_ranks_on_four_nodes(backends: dict[str, Backend], tmp_path: Path, cluster: str) -> None:
    need("lmp", "mpirun.openmpi")
    log = placed(backends[cluster], tmp_path / f"{cluster}-lammps", "lammps", cells=5, steps=60)
    assert "8 procs for 60 steps with 500 atoms" in log


@pytest.mark.slow
@pytest.mark.parametrize("cluster", ["grid", "slurm"])
def test_hpcc_runs_with_eight_ranks_on_four_nodes(backends: dict[str, Backend], tmp_path: Path, cluster: str) -> None:
    """With matrices of 240: of the updates of a smaller table HPCC itself loses more than the 1 % that it allows. It
    takes half a minute on two busy processors."""
    need("hpcc", "mpirun.openmpi")
    folder = tmp_path / f"{cluster}-hpcc"
    placed(backends[cluster], folder, "hpcc", size=240)
    assert {"CommWorldProcs=8", "Success=1"} <= set((folder / "hpccoutf.txt").read_text().splitlines())
