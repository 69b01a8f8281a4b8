"""Programs of MPICH 4.0 end where ranks that are through wait for mpiexec, and others still need their answers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from scheduling.runs.adapters import finalizer
from tests.applications.conftest import need

_APART = {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self"}
_RING = Path(__file__).parents[3] / "applications" / "ring.c"


def test_ranks_that_talk_over_tcp_alone_end(tmp_path: Path) -> None:
    need("mpicc.mpich", "mpiexec.mpich")
    program = tmp_path / "ring"
    subprocess.run(["mpicc.mpich", "-o", str(program), str(_RING)], check=True, timeout=60)
    words = finalizer.prefix(finalizer.built(tmp_path / "cache"))
    for _ in range(3):  # each of them stays in about half of all runs without the library
        argv = ["mpiexec.mpich", "-n", "4", *words, str(program)]
        done = subprocess.run(argv, env={**os.environ, **_APART}, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert "kind ring" in done.stdout.splitlines()


def test_it_is_for_programs_of_that_mpich_alone() -> None:
    assert finalizer.is_needed("MPICH 4.0", ())
    assert finalizer.is_needed("", ("wrapper", "/usr/bin/mpiexec.mpich"))
    assert not finalizer.is_needed("MPICH 4.2", ("mpiexec",))
    assert not finalizer.is_needed("Open MPI 4.0", ("mpirun.openmpi",))
