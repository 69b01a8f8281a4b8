"""The recording library for each MPI that is here, and a way to trace a program with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gridportal.base import file_lock
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


def libraries() -> Path:
    """Where the libraries of a run are kept, for all its processes."""
    folder = Path(os.environ["TESTS_HOME"], "libraries")
    folder.mkdir(exist_ok=True)
    return folder


def recording_library(mpicc: str, cache: Path) -> Path:
    """The one for this MPI; of several processes that want it one builds it. Skips where there is no such MPI."""
    with file_lock.hold(cache / f"{Path(mpicc).name}.lock", patience=240):
        return recorder.built(need(mpicc, "gcc"), cache)


@pytest.fixture(scope="session")
def cache() -> Path:
    return libraries()


@pytest.fixture
def traced(cache: Path, tmp_path: Path) -> Traced:
    """traced(mpicc, ranks, *argv, code=0) -> the trace; skips where there is no such MPI."""

    def go(mpicc: str, ranks: int, *argv: str, code: int = 0) -> Trace:
        library = recording_library(mpicc, cache)
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
