"""Programs that nobody here wrote: compiled C, with MPICH and with Open MPI, on both backends, ranks where placed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gridportal.base.errors import BackendError
from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from tests.scheduling.portal import Portal

pytestmark = [pytest.mark.grid, pytest.mark.slow]

RING = r"""
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, size, from, token = 1;
  char host[256];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  gethostname(host, sizeof host);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &from, 1, MPI_INT, (rank + size - 1) % size, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(MPI_IN_PLACE, &token, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("rank %d of %d on %s heard %d of %d\n", rank, size, host, from, token);
  MPI_Finalize();
  return 0;
}
"""
MPICH = Path(sys.executable).parent
OPEN_MPI = "mpirun.openmpi -n {ranks} --map-by seq --hostfile {hostfile}"
#: name -> (compiler, fields of the application)
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "mpich": (
        str(MPICH / "mpicc"),
        {"mpi": "MPICH", "launcher": [str(MPICH / "mpiexec"), "-n", "{ranks}", "-hosts", "{hosts}"]},
    ),
    "openmpi": ("mpicc.openmpi", {"mpi": "Open MPI", "launcher": OPEN_MPI.split()}),
    # Started by the usual launcher, where the first mpirun is that of the portal's MPICH.
    "openmpi-found": ("mpicc.openmpi", {"mpi": "Open MPI"}),
}


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """Slurm on cmu8 and the Grid itself, side by side."""
    try:
        place.check(machine.choose()[0], accounting=False)
    except BackendError as error:
        pytest.skip(str(error))
    root = tmp_path_factory.mktemp("foreign")
    launch.up("cmu8", root, with_parent=True, slurm="slurm")
    clusters: list[dict[str, Any]] = [
        {"name": "hpc", "backend": "slurm", "state_dir": str(root), "probe": "grid"},
        {"name": "grid", "backend": "grid", "state_dir": str(root)},
    ]
    yield Portal(tmp_path_factory.mktemp("home"), root, clusters=clusters)
    Grid(root).down()


@pytest.mark.parametrize("cluster", ["hpc", "grid"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_compiled_program_runs_where_it_was_placed(portal: Portal, programs: Path, kind: str, cluster: str) -> None:
    compiler, fields = KINDS[kind]
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed here")
    (programs / "ring.c").write_text(RING)
    program = programs / "ring"
    subprocess.run([compiler, "-o", program, programs / "ring.c"], check=True, timeout=60, cwd=programs)
    slug = f"ring-{kind}-{cluster}"
    application = {"slug": slug, "name": slug, "command": [str(program)], "pattern": "ring", **fields}
    portal.run(f"registering.register_application('tests', {application!r})")
    story = portal.to_the_end(portal.submit(slug, 4, asking={"cluster": cluster}), 60)
    log = Path(story["runs"][0]["run_dir"], "output.log").read_text()
    assert story["state"] == "succeeded", f"{story['reason']}\n{log}"
    found = sorted(re.findall(r"rank (\d) of 4 on (\S+) heard (\d) of 4", log))
    assert [host for _, host, _ in found] == story["nodes"][0], log
    assert [int(heard) for _, _, heard in found] == [3, 0, 1, 2]
