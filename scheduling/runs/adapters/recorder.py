"""The recording library, built with the compiler of the application's own MPI."""

from __future__ import annotations

from pathlib import Path

from gridportal.base import run_files
from gridportal.runtime import player
from gridportal.runtime import trace as library
from gridportal.runtime.trace import wrappers
from scheduling.runs.adapters import mpi_build, preloading

#: Where ranks write; without it the library only passes calls on.
DIRECTORY_VARIABLE = "GRIDPORTAL_TRACE_DIR"
#: With it only rank 0 is recorded, and only the rounds of its loops are written.
MARKS_VARIABLE = "GRIDPORTAL_TRACE_MARKS"
#: In a run directory, and beside run directories.
FOLDER, CACHE = run_files.TRACE, ".trace"
_RECIPE = mpi_build.Recipe(
    noun="recording library",
    file="trace-{key}.so",
    sources=Path(library.__file__).parent,
    flags=("-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Wno-unused-parameter"),
    libraries=("-lpthread",),
    generated=wrappers.source,
    shared=(Path(player.__file__).parent / "loop.h",),
)


def build(mpicc: str, output: Path) -> Path:
    """Compile the library with `mpicc` into `output`. Raises BackendError with the compiler's words, InputError for
    what is no compiler."""
    return mpi_build.build(_RECIPE, mpicc, output)


def built(mpicc: str, cache: Path) -> Path:
    """The library for the MPI of `mpicc`, from `cache`, where it is built when it is not there."""
    return mpi_build.built(_RECIPE, mpicc, cache)


def prefix(library: Path, directory: Path | str, *more: Path, marks_only: bool = False) -> tuple[str, ...]:
    """The words before a program's own that make it record into `directory`, a folder that is there; `more` libraries
    are loaded behind it. `marks_only`: no calls, only how often its outermost loop has run."""
    marks = (f"{MARKS_VARIABLE}=1",) if marks_only else ()
    return ("env", f"{DIRECTORY_VARIABLE}={directory}", *marks, *preloading.prefix(library, *more))
