"""The recording library, built with the compiler of the application's own MPI.

One library serves all programs of one MPI, so it is built once and kept, by compiler, its version and our sources.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from gridportal.base import atomic_file, run_files
from gridportal.base import processes as shell
from gridportal.base.errors import BackendError, InputError, ShellError
from gridportal.runtime import trace as library
from gridportal.runtime.trace import wrappers
from scheduling.jobs.core.launcher import is_open_mpi

#: Where ranks write; without it the library only passes calls on.
DIRECTORY_VARIABLE = "GRIDPORTAL_TRACE_DIR"
#: In a run directory, and beside run directories.
FOLDER, CACHE = run_files.TRACE, ".trace"
SOURCES = Path(library.__file__).parent
_FLAGS = ("-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Wno-unused-parameter")
_COMPILING = 300.0


def build(mpicc: str, output: Path) -> Path:
    """Compile the library with `mpicc` into `output`. Raises BackendError with the compiler's words, InputError for
    what is no compiler."""
    if shutil.which(mpicc) is None:
        raise InputError("mpicc", mpicc, "the MPI compiler that the application was built with, on PATH or in full")
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        generated = Path(folder, "wrappers.c")
        generated.write_text(wrappers.source(), encoding="utf-8")
        made = Path(folder, "trace.so")
        files = [str(generated), *map(str, sorted(SOURCES.glob("*.c")))]
        try:
            shell.run([mpicc, *_FLAGS, f"-I{SOURCES}", "-o", str(made), *files, "-lpthread"], timeout=_COMPILING)
        except ShellError as error:
            raise BackendError(f"The recording library could not be built with {mpicc}: {error}") from error
        if not made.exists():
            raise InputError("mpicc", mpicc, "the compiler of an MPI; this one wrote no library")
        # Whole or not at all: programs may be starting with it.
        atomic_file.write(output, made.read_bytes(), mode=stat.S_IMODE(made.stat().st_mode))
    return output


def built(mpicc: str, cache: Path) -> Path:
    """The library for the MPI of `mpicc`, from `cache`, where it is built when it is not there."""
    place = shutil.which(mpicc)
    if place is None:
        raise InputError("mpicc", mpicc, "the MPI compiler that the application was built with, on PATH or in full")
    try:
        key = _key(place, os.stat(place).st_mtime_ns)
    except ShellError as error:
        raise InputError("mpicc", mpicc, f"the compiler of an MPI, which knows -show ({error})") from error
    library = cache / f"trace-{key}.so"
    return library if library.exists() else build(place, library)


@lru_cache(maxsize=64)
def _key(mpicc: str, changed: int) -> str:
    """What the library hangs on: the compiler, what it links, and our sources; asked once for each compiler."""
    shown = shell.run([mpicc, "-show"], timeout=30).stdout
    version = shell.run([mpicc, "-v"], timeout=30, check=False)
    digest = hashlib.sha256(f"{os.path.realpath(mpicc)}\n{shown}\n{version.stdout}{version.stderr}".encode())
    digest.update(wrappers.source().encode())
    for source in sorted([*SOURCES.glob("*.c"), *SOURCES.glob("*.h")]):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def prefix(library: Path, directory: Path | str) -> tuple[str, ...]:
    """The words before a program's own that make it record into `directory`, a folder that is there."""
    return ("env", f"LD_PRELOAD={library}", f"{DIRECTORY_VARIABLE}={directory}")


def mpicc_of(mpi: str, launcher: Sequence[str] = ()) -> str:
    """The compiler of an application's MPI: Open MPI's where its words say so, else the one beside our Python."""
    if is_open_mpi(mpi) or any("openmpi" in word for word in launcher[:3]):
        return "mpicc.openmpi" if shutil.which("mpicc.openmpi") else "mpicc"
    return beside_python("mpicc")


def beside_python(program: str) -> str:
    """A program of our own environment, else the one on PATH."""
    own = Path(sys.executable).parent / program
    return str(own) if own.exists() else program
