"""SRS for the programs that come with the portal, where checkpoints have a place.

    GRIDPORTAL_CHECKPOINTS=checkpoints mpiexec -n 4 python -m gridportal.workloads.cg --class A

The portal sets the variable for its runs. Without it a program runs as if there were no SRS: it sends no message for
that, and leaves no file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias

from mpi4py import MPI
from numpy.typing import NDArray

from gridportal.base.job_files import CHECKPOINTS_VARIABLE
from gridportal.runtime.srs.layouts import Layout

if TYPE_CHECKING:
    from gridportal.runtime.srs.stop_restart import StopRestart


class NeverStopped:
    """The calls of SRS for a program that starts, and runs to its end."""

    def __init__(self) -> None:
        self.registered: dict[str, Any] = {}

    def register(self, name: str, held: NDArray[Any], shape: Any = None, layout: Layout | None = None) -> None:
        """Nobody will ask for it."""

    def restart_value(self) -> int:
        """It starts."""
        return 0

    def read(self, name: str) -> None:
        """It starts, so there is nothing to read."""

    def store_map(self) -> None:
        """Nobody predicts a move."""

    def check_stop(self) -> int:
        """Go on."""
        return 0

    def finish(self) -> None:
        """There is nothing to end."""


State: TypeAlias = "StopRestart | NeverStopped"


def begin(comm: MPI.Intracomm) -> State:
    """Begin SRS on all ranks of `comm`, where rank 0 is told a folder for checkpoints. Collective."""
    folder = comm.bcast(os.environ.get(CHECKPOINTS_VARIABLE))
    if not folder:
        return NeverStopped()
    from gridportal.runtime.srs import stop_restart  # late: a sixth of the start of a rank

    return stop_restart.init(comm, folder)
