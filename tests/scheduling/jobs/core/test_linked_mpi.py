"""Which MPI a program is linked with, by its file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scheduling.jobs.core.linked_mpi import is_of_debians_mpich, linked_mpi
from tests.applications.conftest import need

MAIN = "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); MPI_Finalize(); return 0; }\n"
FORTRAN = "program main\n use mpi\n integer :: error\n call MPI_Init(error)\n call MPI_Finalize(error)\nend program\n"
OWN = Path(sys.executable).parent


@pytest.mark.parametrize(
    ("compiler", "source", "mpi"),
    [
        ("mpicc.openmpi", MAIN, "Open MPI"),
        ("mpifort.openmpi", FORTRAN, "Open MPI"),
        (str(OWN / "mpicc"), MAIN, "MPICH"),
        ("mpicc.mpich", MAIN, "MPICH"),
        ("mpifort.mpich", FORTRAN, "MPICH"),
        ("gcc", "int main(void) { return 0; }", ""),
    ],
)
def test_a_compiled_program_says_its_mpi(tmp_path, compiler, source, mpi):
    need(compiler)
    file = tmp_path / ("main.f90" if source is FORTRAN else "main.c")
    file.write_text(source)
    subprocess.run([compiler, "-o", str(tmp_path / "main"), str(file)], check=True, timeout=60, cwd=tmp_path)
    content = (tmp_path / "main").read_bytes()
    assert linked_mpi(content) == mpi
    assert is_of_debians_mpich(content) == compiler.endswith(".mpich")


def test_a_statically_linked_one_says_it_too():
    elf = Path("/bin/true").read_bytes()
    assert linked_mpi(elf) == ""
    assert linked_mpi(elf + b"MPICH Version:\t4.0.2") == "MPICH"
    assert linked_mpi(elf + b"MPIR_CVAR_DEBUG_SUMMARY") == "MPICH"
    assert linked_mpi(elf + b"Open MPI v4.1.4, package: Debian") == "Open MPI"
    assert linked_mpi(elf + b"Open MPI v4 MPICH Version:") == ""


def test_what_is_damaged_says_nothing():
    elf = Path("/bin/true").read_bytes()
    for length in range(0, 2000, 7):
        assert linked_mpi(elf[:length]) == ""
        assert not is_of_debians_mpich(elf[:length])
    for place in range(16, 900, 5):
        assert linked_mpi(elf[:place] + b"\xff\xff\xff\xff" + elf[place + 4 :]) == ""
