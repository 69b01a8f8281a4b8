"""The recording library for each MPI that is here, and a way to trace a program with it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scheduling.profiles.adapters import trace_library
from scheduling.profiles.core.trace import Trace
from scheduling.runs.adapters import recorder

BESIDE = Path(sys.executable).parent
MPICH = str(BESIDE / "mpicc")
#: By compiler of C: what starts its programs.
LAUNCHERS = {
    MPICH: [str(BESIDE / "mpiexec")],
    "mpicc.openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"],
    "mpicc.mpich": ["mpiexec.mpich"],
}
Traced = Callable[..., Trace]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this session's libraries are kept."""
    return tmp_path_factory.mktemp("libraries")


@pytest.fixture
def traced(cache: Path, tmp_path: Path) -> Traced:
    """traced(mpicc, ranks, *argv, code=0) -> the trace; skips where there is no such MPI."""

    def go(mpicc: str, ranks: int, *argv: str, code: int = 0) -> Trace:
        library = recorder.built(need(mpicc, "gcc"), cache)
        folder = tmp_path / "trace"
        words = [*LAUNCHERS[mpicc], "-n", str(ranks), *recorder.prefix(library, folder), *argv]
        done = subprocess.run(words, capture_output=True, text=True, timeout=240)
        assert done.returncode == code, done.stdout + done.stderr
        return trace_library.collect(folder)

    return go


def need(*programs: str) -> str:
    """The first of `programs`; skips where one of them is not installed."""
    if missing := [program for program in programs if not shutil.which(program)]:
        pytest.skip(f"not installed here: {', '.join(missing)}")
    return programs[0]
