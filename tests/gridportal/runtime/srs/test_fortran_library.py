"""A program in Fortran stops and goes on, and its arrays are those of C and Python with the dimensions in reverse."""

from __future__ import annotations

import json
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest

from gridportal.runtime.srs import checkpoint_files
from tests.gridportal.runtime.srs.conftest import Compiled
from tests.scheduling.profiles.tracing.conftest import LAUNCHERS, need

SOURCE = "stoppable_fortran.F90"
pytestmark = [
    pytest.mark.parametrize("mpicc", ["mpicc.mpich", "mpicc.openmpi"], ids=["MPICH", "Open MPI"]),
    pytest.mark.in_turn("mpicc"),
]


def run(mpicc: str, ranks: int, *words: Any) -> dict[str, Any]:
    argv = [*LAUNCHERS[mpicc], "-n", str(ranks), *map(str, words)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return {**document, "sum": zlib.crc32(Path(words[-1]).read_bytes())}


def test_it_stops_and_goes_on_with_other_ranks_and_layouts(mpicc: str, compiled: Compiled, tmp_path: Path) -> None:
    need("gfortran", *LAUNCHERS[mpicc][:1])
    fortran, output = compiled(mpicc, SOURCE), tmp_path / "output"
    whole = run(mpicc, 2, fortran, tmp_path / "whole", "block", 9, 40, 300, 0, output)
    first = run(mpicc, 4, fortran, tmp_path / "x", "block-cyclic:2x3:2x2", 9, 40, 10**7, 3, output)
    assert (first["restart"], first["stopped"]) == (0, 1)
    stored = checkpoint_files.opened(tmp_path / "x", 1).arrays["x"]
    assert (stored.shape, stored.layout.text) == ((40, 9), "block-cyclic:3x2:2x2")
    more = max(300, first["step"] + 1)
    second = run(mpicc, 3, fortran, tmp_path / "x", "cyclic:1x3", 9, 40, more, 0, output)
    assert (second["restart"], second["began"]) == (1, first["step"])
    if more != 300:
        whole = run(mpicc, 2, fortran, tmp_path / "whole", "block", 9, 40, more, 0, output)
    assert second["sum"] == whole["sum"]


@pytest.mark.parametrize("binding", ["-DWITH_F08", "-DWITH_MPIF_H"])
def test_any_binding_of_mpi_will_do(mpicc: str, compiled: Compiled, tmp_path: Path, binding: str) -> None:
    need("gfortran", *LAUNCHERS[mpicc][:1])
    program = compiled(mpicc, SOURCE, binding)
    done = run(mpicc, 2, program, tmp_path / "x", "cyclic", 7, 3, 5, 0, tmp_path / "output")
    assert (done["restart"], done["step"], done["stopped"]) == (0, 5, 0)
