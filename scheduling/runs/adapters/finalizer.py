"""The library that lets programs of MPICH 4.0 end over TCP, built with Debian's compiler of that MPICH."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath

from gridportal.runtime import finalize as library
from scheduling.runs.adapters import mpi_build, preloading

#: Debian's names of its MPICH beside other MPIs end in this.
_DEBIAN = ".mpich"
_VERSION = "mpich4.0"
_RECIPE = mpi_build.Recipe(
    noun="library for the end of MPICH 4.0 programs",
    file="finalize-{key}.so",
    sources=Path(library.__file__).parent,
    flags=("-O2", "-fPIC", "-shared", "-Wall", "-Wextra"),
    libraries=("-ldl",),
)


def is_needed(mpi: str, launcher: Sequence[str]) -> bool:
    """Whether a program is one of MPICH 4.0, by what is said of its MPI and by its launcher.

    >>> is_needed("MPICH 4.0.2", ()), is_needed("", ("mpiexec.mpich", "-n", "{ranks}")), is_needed("MPICH 5.0", ())
    (True, True, False)
    """
    said = mpi.lower().replace(" ", "").replace("-", "")
    return said.startswith(_VERSION) or any(PurePath(word).name.endswith(_DEBIAN) for word in launcher)


def built(cache: Path) -> Path:
    """The library, from `cache`, where it is built when it is not there. Raises InputError without that compiler."""
    return mpi_build.built(_RECIPE, f"mpicc{_DEBIAN}", cache)


def prefix(library: Path) -> tuple[str, ...]:
    """The words before a program's own that load the library."""
    return preloading.prefix(library)
