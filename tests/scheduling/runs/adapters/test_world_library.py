"""What processes note of their MPI worlds, with real MPIs: C, Fortran and mpi4py, each by its own launcher and by the
other MPI's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gridportal.base.reasons import NOTHING, Code
from scheduling.runs.adapters import world_library
from scheduling.runs.core.started_worlds import World, fewer, verdict
from tests.applications.conftest import need

C = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("of %d\\n", size);
  MPI_Finalize();
  return 0;
}
"""
FORTRAN = """
program main
  use mpi
  integer :: size, error
  call MPI_Init(error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  print *, 'of ', size
  call MPI_Finalize(error)
end program
"""
PYTHON = "from mpi4py import MPI; import os; os.write(1, b'of %d\\n' % MPI.COMM_WORLD.size)"
OWN = Path(sys.executable).parent
OPEN_MPI = ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2")
HYDRA = (str(OWN / "mpiexec"), "-n", "2")
DEBIAN = ("mpiexec.mpich", "-n", "2")
#: Two processes at once that no MPI has started: MPICH 5 ends where it finds Open MPI's variables.
NOBODY = ("sh", "-c", '"$@" & "$@"; wait', "sh")
_TOGETHER = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def compiled(compiler: str, source: str, folder: Path, *flags: str) -> str:
    need(compiler)
    file = folder / ("main.f90" if source is FORTRAN else "main.c")
    file.write_text(source)
    subprocess.run([compiler, *flags, "-o", str(folder / "main"), str(file)], check=True, timeout=60)
    return str(folder / "main")


def noted(launcher: Sequence[str], program: Sequence[str], folder: Path) -> tuple[list[World], str]:
    """The worlds of a run, and its output."""
    need(launcher[0])
    words = world_library.prefix(world_library.built(folder / "cache"), folder)
    argv = [*launcher, *words, *program]
    done = subprocess.run(argv, env=_TOGETHER, capture_output=True, text=True, timeout=120, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "LD_PRELOAD" not in done.stderr
    files = sorted((folder / "mpi-worlds").glob("*"))
    return [world for file in files if (world := World.read(file.read_text().strip()))], done.stdout


@pytest.mark.parametrize(
    ("compiler", "source", "right", "wrong", "mpi"),
    [
        ("mpicc.openmpi", C, OPEN_MPI, HYDRA, "Open MPI"),
        ("mpifort.openmpi", FORTRAN, OPEN_MPI, DEBIAN, "Open MPI"),
        (str(OWN / "mpicc"), C, HYDRA, NOBODY, "MPICH"),
        ("mpifort.mpich", FORTRAN, DEBIAN, OPEN_MPI, "MPICH"),
    ],
)
def test_a_program_of_another_mpi_than_its_launcher_is_seen(tmp_path, compiler, source, right, wrong, mpi):
    program = compiled(compiler, source, tmp_path)
    (tmp_path / "right").mkdir()
    (tmp_path / "wrong").mkdir()
    worlds, output = noted(right, [program], tmp_path / "right")
    assert output.split() == ["of", "2"] * 2
    assert [world.size for world in worlds] == [2]
    assert verdict(worlds, 2, right) == NOTHING
    worlds, output = noted(wrong, [program], tmp_path / "wrong")
    assert output.split() == ["of", "1"] * 2
    reason = verdict(worlds, 2, wrong)
    assert reason.code is Code.START_SINGLETONS
    assert reason.facts["mpi"].startswith(mpi)


@pytest.mark.parametrize(
    ("compiler", "launcher"),
    [(str(OWN / "mpicc"), (*HYDRA[:-1], "1")), ("mpicc.openmpi", (*OPEN_MPI[:-1], "1")), ("mpicc.mpich", ("env",))],
)
def test_one_rank_where_two_were_asked_for_is_seen(tmp_path, compiler, launcher):
    worlds, output = noted(launcher, [compiled(compiler, C, tmp_path)], tmp_path)
    assert output.split() == ["of", "1"]
    assert verdict(worlds, 2, launcher) == NOTHING
    reason = fewer(worlds, 2, launcher)
    assert (reason.code, reason.facts["found"], reason.facts["runs"]) == (Code.START_FEWER, 1, 1)


def test_mpi4py_is_seen_though_python_hides_its_library(tmp_path):
    (tmp_path / "right").mkdir()
    (tmp_path / "wrong").mkdir()
    program = [sys.executable, "-c", PYTHON]
    worlds, output = noted(HYDRA, program, tmp_path / "right")
    assert (output.split(), [world.size for world in worlds]) == (["of", "2"] * 2, [2])
    worlds, output = noted(NOBODY, program, tmp_path / "wrong")
    assert output.split() == ["of", "1"] * 2
    assert verdict(worlds, 2, NOBODY).code is Code.START_SINGLETONS


def test_a_script_that_calls_mpirun_itself_is_seen(tmp_path):
    program = compiled(str(OWN / "mpicc"), C, tmp_path)
    script = tmp_path / "wrapper"
    script.write_text(f"#!/bin/sh\nunset PMI_FD PMI_RANK PMI_SIZE PMI_PORT\nexec {' '.join(HYDRA)} {program}\n")
    script.chmod(0o755)
    worlds, output = noted(HYDRA, [str(script)], tmp_path)
    assert output.split() == ["of", "2"] * 4
    reason = verdict(worlds, 2, HYDRA)
    assert (reason.code, reason.facts["found"]) == (Code.START_COPIES, 2)


def test_a_program_that_runs_another_first_is_in_order(tmp_path):
    program = compiled(str(OWN / "mpicc"), C, tmp_path)
    worlds, output = noted(HYDRA, ["sh", "-c", f"true && {program}"], tmp_path)
    assert (output.split(), verdict(worlds, 2, HYDRA)) == (["of", "2"] * 2, NOTHING)


def test_programs_without_mpi_and_with_a_sanitizer_run_as_before(tmp_path):
    worlds, output = noted(HYDRA, ["echo", "of"], tmp_path)
    assert (worlds, output) == ([World(0, "pmi", "")] * 2, "of\nof\n")
    shutil.rmtree(tmp_path / "mpi-worlds")
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed here")
    plain = "int main(void) { return 0; }"
    (tmp_path / "main.c").write_text(plain)
    built = subprocess.run(["gcc", "-fsanitize=address", "-o", str(tmp_path / "main"), str(tmp_path / "main.c")])
    if built.returncode:
        pytest.skip("gcc has no sanitizer here")
    assert noted(HYDRA, [str(tmp_path / "main")], tmp_path)[0] == []


PLAIN = '#include <stdio.h>\nint main(void) { puts("of"); return 0; }'
#: As one with a static MPI, which brings its own MPI_Init.
INSIDE = (
    "#include <stdio.h>\nint MPI_Init(int *c, char ***v) { return c && v; }\n"
    'int main(void) { puts("MPI_Init" + 8 * MPI_Init(0, 0)); return 0; }'
)
#: Linked with MPI, of which it calls nothing that begins.
UNCALLED = "#include <mpi.h>\nint main(void) { int yes; return MPI_Initialized(&yes); }"
LATE = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI"


def test_copies_of_a_program_without_mpi_are_seen(tmp_path):
    program = compiled("gcc", PLAIN, tmp_path)
    worlds, output = noted(HYDRA, [program], tmp_path)
    assert output.split() == ["of"] * 2
    assert verdict(worlds, 2, HYDRA).code is Code.START_NO_MPI


@pytest.mark.parametrize(
    ("compiler", "source", "before"),
    [
        ("gcc", PLAIN, ["sh", "-c", '"$0"; true']),  # what a child does is not known
        ("gcc", INSIDE, []),
        (str(OWN / "mpicc"), UNCALLED, []),
        ("true", "", [sys.executable, "-c", LATE]),
    ],
)
def test_where_it_is_not_certain_nothing_is_said(tmp_path, compiler, source, before):
    program = compiled(compiler, source, tmp_path)
    assert noted(HYDRA, [*before, program], tmp_path)[0] == []
