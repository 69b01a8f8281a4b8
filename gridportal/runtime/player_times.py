"""Reads what the player in C leaves: the times of all executions on all ranks (gridportal/runtime/player/play.c).

FILE  "gridportal-times 1" and the MPI's name, in 32 and 128 bytes; ranks, executions (int64); of each rank seconds,
      worked, asked, and seconds in MPI_Init; of each rank and execution arrived, ended, first, worked (float64)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gridportal.base.errors import BackendError
from gridportal.runtime.prediction import RankTimes

#: Bytes that a portal reads at most; the player writes no more.
MOST = 2**28 + 2**22
_MAGIC, _LIBRARY, _FIGURES = 32, 128, 4
_NAME = b"gridportal-times 1"


@dataclass(frozen=True, slots=True)
class Played:
    """What each rank has seen, the name of the MPI that played it, and the longest MPI_Init in seconds."""

    ranks: tuple[RankTimes, ...]
    mpi: str
    init: float


def size(ranks: int, executions: int) -> int:
    """Bytes of the file of a skeleton with so many ranks and executions."""
    return _MAGIC + _LIBRARY + 16 + 8 * ranks * (_FIGURES + 4 * executions)


def read(data: bytes, ranks: int, executions: int) -> Played:
    """The times of a skeleton with so many ranks and executions. Raises BackendError for anything else."""
    head = _MAGIC + _LIBRARY + 16
    if len(data) != size(ranks, executions) or data[:_MAGIC].rstrip(b"\0") != _NAME:
        raise BackendError(f"The skeleton's times are no file of {ranks} ranks with {executions:,} executions each.")
    if np.frombuffer(data, np.int64, 2, _MAGIC + _LIBRARY).tolist() != [ranks, executions]:
        raise BackendError("The skeleton's times are those of another skeleton.")
    figures = np.frombuffer(data, np.float64, _FIGURES * ranks, head).reshape(ranks, _FIGURES)
    logs = np.frombuffer(data, np.float64, 4 * executions * ranks, head + 8 * figures.size)
    logs = logs.reshape(ranks, executions, 4)
    if not (np.isfinite(figures).all() and np.isfinite(logs).all()):
        raise BackendError("The skeleton's times hold what is no time.")
    name = data[_MAGIC : _MAGIC + _LIBRARY].rstrip(b"\0").decode(errors="replace")
    return Played(tuple(map(_rank, figures, logs)), name, float(figures[:, 3].max()))


def _rank(figures: np.ndarray[Any, np.dtype[np.float64]], log: np.ndarray[Any, np.dtype[np.float64]]) -> RankTimes:
    seconds, worked, asked, _ = map(float, figures)
    return RankTimes(seconds, worked, asked, log)
