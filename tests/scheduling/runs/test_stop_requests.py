"""A run is asked to stop: its ranks hear of it once each, and script, launcher and exit record live to their end.

With each MPI and launcher, on the Grid and on a real Slurm on its nodes: by the signal that launchers hand on, and by
one that they would die of.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gridportal.base.batch_system import Backend, BackendState, RunSpec, RunStatus
from gridportal.base.errors import BackendError
from gridportal.slurm.backend import SlurmBackend
from gridportal.slurm.commands import SlurmCommands
from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from scheduling.jobs.core.program_request import ProgramRequest
from scheduling.runs.adapters.grid import GridBackend
from scheduling.runs.core.script import Script, render
from tests.gridportal.testbed.networks import crossbar
from tests.scheduling.portal import wait_for
from tests.waiting import looks

pytestmark = pytest.mark.grid

#: Goes on until a rank hears the signal of its first argument, then for a while, and says how often each heard it.
RANK = r"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile sig_atomic_t heard = 0;
static void hear(int number) { heard++; }
int main(int argc, char **argv) {
  int rank, size, any = 0, now;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  signal(atoi(argv[1]), hear);
  if (rank == 0) fclose(fopen("ready", "w"));
  for (int left = -1; left != 0; left--) {
    usleep(20000);
    now = heard;
    MPI_Allreduce(&now, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any && left < 0) left = 50;
  }
  printf("rank %d of %d heard %d, until %s\n", rank, size, (int)heard, getenv("GRIDPORTAL_ENDS_AT"));
  MPI_Finalize();
  return 0;
}
"""
BESIDE = Path(sys.executable).parent
LIMIT = 600.0
#: name -> (compiler, launcher, what the application says of its MPI, backends)
KINDS: dict[str, tuple[str, tuple[str, ...], str, tuple[str, ...]]] = {
    "mpich": (
        str(BESIDE / "mpicc"),
        (str(BESIDE / "mpiexec"), "-n", "{ranks}", "-hosts", "{hosts}"),
        "MPICH",
        ("grid", "slurm"),
    ),
    "openmpi": (
        "mpicc.openmpi",
        ("mpirun.openmpi", "-n", "{ranks}", "--map-by", "seq", "--hostfile", "{hostfile}"),
        "Open MPI",
        ("grid", "slurm"),
    ),
    "srun": (str(BESIDE / "mpicc"), ("srun", "--mpi=pmi2"), "MPICH", ("slurm",)),
}
NODES = ("n3", "n1", "n2")
CASES = [(kind, name, where) for kind, known in KINDS.items() for name in ("USR1", "TERM") for where in known[3]]


@dataclass(frozen=True)
class Ended:
    """How a run that was asked to stop ended."""

    status: RunStatus
    asked_at: float
    record: dict[str, float]
    output: str


@pytest.fixture(scope="module")
def backends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Backend]]:
    """The Grid, and the Slurm on its nodes."""
    try:
        place.check(machine.choose()[0], accounting=False)
    except BackendError as error:
        pytest.skip(str(error))
    document = crossbar({(one, other): 900.0 for one in NODES for other in NODES if one != other})
    for node in document["nodes"]:
        node["cpus"] = 8  # for all cases side by side
    root = tmp_path_factory.mktemp("stopping")
    file = root / "three.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    launch.up(file, root / "grid", with_parent=True, slurm="slurm")
    grid = Grid(root / "grid")
    prefix = tuple((grid.slurm_info() or {})["prefix"])
    yield {"grid": GridBackend(grid), "slurm": SlurmBackend(SlurmCommands(prefix, timeout=30))}
    grid.down()


@pytest.fixture(scope="module")
def programs() -> Iterator[Path]:
    """For the whole module: a folder whose programs jobs on the Grid may start."""
    folder = Path(tempfile.mkdtemp(dir=json.loads(os.environ["GRIDPORTAL_GRID_SHOW"])[0]))
    folder.chmod(0o755)
    (folder / "rank.c").write_text(RANK)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def ended(
    backends: dict[str, Backend], programs: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str, str], Ended]:
    """Every case that this machine has the programs for; those of a kind at once, for ranks that wait compute."""
    folder = tmp_path_factory.mktemp("stopped")
    found = dict[tuple[str, str, str], Ended]()
    for kind in KINDS:
        cases = [case for case in CASES if case[0] == kind and shutil.which(KINDS[kind][0])]
        found |= _asked({case: _submit(case, programs, folder, backends) for case in cases}, backends)
    return found


def _asked(
    specs: dict[tuple[str, str, str], RunSpec], backends: dict[str, Backend]
) -> dict[tuple[str, str, str], Ended]:
    asked = {}
    for case, spec in specs.items():
        _wait_for_ranks(spec, backends[case[2]])
    time.sleep(5 if specs else 0)  # no launcher is asked in its first seconds
    for case, spec in specs.items():
        asked[case] = time.time()
        backends[case[2]].signal(spec.key, signal.SIGUSR1)
    return {case: _end(spec, backends[case[2]], asked[case]) for case, spec in specs.items()}


def _wait_for_ranks(spec: RunSpec, backend: Backend) -> None:
    """Until the program has begun; a run that ends first, or does not begin, is told with what it said."""
    for _ in looks(240):
        status = backend.poll([spec.key])[spec.key]
        if (Path(spec.run_dir) / "ready").exists():
            return
        if status.state is BackendState.FINISHED:
            break
    output = Path(spec.run_dir, "output.log")
    said = output.read_text(errors="replace")[-2000:] if output.exists() else "nothing"
    raise AssertionError(f"{spec.key} has not begun: {status}; it said: {said}")


def _submit(case: tuple[str, str, str], programs: Path, folder: Path, backends: dict[str, Backend]) -> RunSpec:
    kind, name, where = case
    compiler, launcher, mpi, _ = KINDS[kind]
    program = programs / kind
    if not program.exists():
        subprocess.run([compiler, "-o", program, programs / "rank.c"], check=True, timeout=60)
    run_dir = folder / "-".join(case)
    run_dir.mkdir()
    text = render(
        Script(
            title="-".join(case),
            method="random",
            nodes=NODES,
            argv=(str(program), str(getattr(signal, f"SIG{name}").value)),
            run_dir=str(run_dir),
            launcher=launcher,
            mpi=mpi,
            time_limit=LIMIT if where == "grid" else None,
            stop=ProgramRequest.read({"signal": name}),
        )
    )
    spec = RunSpec("-".join(case), text, NODES, str(run_dir), LIMIT, memory_per_rank=64)
    backends[where].submit(spec)
    return spec


def _end(spec: RunSpec, backend: Backend, asked_at: float) -> Ended:
    def over() -> bool:
        return backend.poll([spec.key])[spec.key].state is BackendState.FINISHED

    wait_for(over, f"the end of {spec.key}", 120)
    folder = Path(spec.run_dir)
    record = json.loads((folder / "exit.json").read_text())
    return Ended(backend.poll([spec.key])[spec.key], asked_at, record, (folder / "output.log").read_text())


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_ranks_hear_of_it_once_and_script_launcher_and_record_live_on(
    ended: dict[tuple[str, str, str], Ended], case: tuple[str, str, str]
) -> None:
    if case not in ended:
        pytest.skip(f"{KINDS[case[0]][0]} is not installed here")
    found = ended[case]
    heard = sorted(re.findall(r"rank (\d) of 3 heard (\d+)", found.output))
    assert heard == [("0", "1"), ("1", "1"), ("2", "1")], found.output
    assert (found.status.exit_code, found.record["exit_code"]) == (0, 0)


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_ranks_are_told_when_the_run_will_be_ended(
    ended: dict[tuple[str, str, str], Ended], case: tuple[str, str, str]
) -> None:
    if case not in ended:
        pytest.skip(f"{KINDS[case[0]][0]} is not installed here")
    found = ended[case]
    told = {int(seconds) for seconds in re.findall(r"until (\d+)", found.output)}
    began = found.status.started_at
    assert began is not None
    assert len(told) == 1
    assert began + LIMIT - 1 <= min(told) <= found.asked_at + LIMIT
