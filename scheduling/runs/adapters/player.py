"""The program that plays skeletons, built with the compiler of the application's own MPI."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from gridportal.base import processes as shell
from gridportal.base.errors import BackendError, ShellError
from gridportal.runtime import player
from scheduling.runs.adapters import mpi_build

_RECIPE = mpi_build.Recipe(
    noun="player of skeletons",
    file="player-{key}",
    sources=Path(player.__file__).parent,
    # gcc 12 takes the constant for "no statuses" for an array.
    flags=("-std=c99", "-O2", "-Wall", "-Wextra", "-Wno-stringop-overflow"),
)
_CALIBRATION = 60.0


def built(mpicc: str, cache: Path) -> Path:
    """The player for the MPI of `mpicc`, from `cache`, where it is built when it is not there."""
    return mpi_build.built(_RECIPE, mpicc, cache)


@lru_cache(maxsize=64)
def rate(program: Path) -> float:
    """Units of work (runtime/player/work.c) for each cpu second of this machine with `program`; asked once for each.
    Raises BackendError."""
    try:
        done = shell.run([str(program), "--rate"], timeout=_CALIBRATION)
        return float(done.stdout)
    except (ShellError, ValueError) as error:
        raise BackendError(f"The player {program} could not be calibrated: {error}") from error


@lru_cache(maxsize=64)
def mpi(program: Path) -> str:
    """The name of the MPI that `program` plays with, such as Open MPI v4.1.4. Raises BackendError."""
    try:
        return shell.run([str(program), "--mpi"], timeout=_CALIBRATION).stdout.strip()
    except ShellError as error:
        raise BackendError(f"The player {program} could not be started: {error}") from error
