"""Builds the library of SRS for programs in C and Fortran with the compilers of their own MPI: a header and a static
library, and a module where there is a compiler of Fortran."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path

from gridportal.base import atomic_file
from gridportal.base import processes as shell
from gridportal.base.errors import GridPortalError, InputError, ShellError

SOURCES = Path(__file__).parent
HEADER, LIBRARY, MODULE = "gridportal_srs.h", "libgridportal_srs.a", "gridportal_srs.mod"
_FORTRAN = "gridportal_srs.f90"
_FLAGS = ("-std=c99", "-O2", "-fPIC", "-pthread", "-Wall", "-Wextra")
_FORTRAN_FLAGS = ("-O2", "-fPIC")
_COMPILING = 300.0


def build(mpicc: str, folder: Path, mpifort: str | None = None) -> list[Path]:
    """Leave header and library for the MPI of `mpicc` in `folder`; the files there.

    With `mpifort`, the compiler of Fortran, also the module; without it the one beside `mpicc` where there is one. Its
    source is left in any case. Raises InputError for what is no compiler, GridPortalError with the compiler's words,
    OSError.
    """
    compiler = _compiler("mpicc", mpicc)
    fortran = _compiler("mpifort", mpifort) if mpifort else _beside(compiler)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch)
        _run(compiler, *_FLAGS, f"-I{SOURCES}", "-c", *map(str, sorted(SOURCES.glob("*.c"))), cwd=made)
        if fortran:  # compilers write modules into the folder that they run in
            _run(fortran, *_FORTRAN_FLAGS, "-c", str(SOURCES / _FORTRAN), cwd=made)
        _run("ar", "rcs", LIBRARY, *(path.name for path in sorted(made.glob("*.o"))), cwd=made)
        for name in (HEADER, _FORTRAN):
            shutil.copyfile(SOURCES / name, made / name)
        wanted = (HEADER, LIBRARY, _FORTRAN, *([MODULE] if fortran else []))
        return [_placed(made / name, folder) for name in wanted]


def _compiler(field: str, name: str) -> str:
    place = shutil.which(name)
    if place is None:
        raise InputError(field, name, "the MPI compiler of the program, on PATH or in full")
    return os.path.abspath(place)


def _beside(mpicc: str) -> str | None:
    """The compiler of Fortran that belongs to one of C, as mpifort.openmpi to mpicc.openmpi; None where it is not there
    or compiles nothing, as without gfortran."""
    if "mpicc" not in Path(mpicc).name:
        return None
    place = shutil.which(str(Path(mpicc).with_name(Path(mpicc).name.replace("mpicc", "mpifort"))))
    works = place is not None and shell.run([place, "--version"], timeout=30, check=False).returncode == 0
    return place if works else None


def link_flags(folder: Path) -> str:
    """The words for a compiler that builds a program with the library in `folder`."""
    return f"-I{folder} -L{folder} -lgridportal_srs -lm -pthread"


def _run(*argv: str, cwd: Path) -> None:
    try:
        shell.run(argv, timeout=_COMPILING, cwd=str(cwd))
    except ShellError as error:
        raise GridPortalError(f"The library of SRS could not be built with {argv[0]}: {error}") from error


def _placed(made: Path, folder: Path) -> Path:
    """Whole or not at all: programs may be linked with it just now."""
    if not made.exists():
        raise InputError("mpicc", made.name, "the compiler of an MPI; this one wrote nothing")
    atomic_file.write(folder / made.name, made.read_bytes(), mode=stat.S_IMODE(made.stat().st_mode))
    return folder / made.name
