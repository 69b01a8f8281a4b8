"""The times of an application's phases, for the run directory's progress file.

One JSON object per line (`progress_events`), written and flushed by rank 0 alone: `start`, then `phase` after phase,
then `result`. Times are seconds and the largest over all ranks. Without GRIDPORTAL_RUN_DIR nothing is written.

    phases = Phases(comm, "cg", **{"class": "S"})
    with phases.phase("conj_grad", iteration=1, of=15):
        with phases.communicating:
            comm.Sendrecv(...)
    phases.result(True, phases.slowest(seconds), zeta=8.597)
"""

from __future__ import annotations

import json
import math
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from mpi4py import MPI

from gridportal.base.errors import GridPortalError
from gridportal.base.run_files import PROGRESS, RUN_DIR_VARIABLE
from gridportal.runtime import progress_events
from gridportal.runtime.progress_events import Phase, ProgressEvent, Result, Start

#: A rank is ahead of rank 0 by fewer phases than that.
LEAD = 256


class CommunicationClock:
    """Adds up the seconds this rank spends inside `with clock:`; waiting for others counts as well."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._entered = 0.0

    def __enter__(self) -> None:
        self._entered = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._entered


class Phases:
    """Times phases over all ranks of `comm` and tells the portal.

    Collective: the constructor (one gather of host names), the end of every `phase` (one reduction of three
    doubles) and `slowest`. So every rank enters the same phases in the same order.

    A rank goes on while rank 0 has not taken its times yet, and those wait in rank 0's memory: without a bound two
    ranks that do nothing else ran out of it after 7,710 phases. So at the end of every `LEAD`th phase, and in no
    phase's time, all wait for each other: one reduction of so many is an Allreduce. A trace of the program has it, too.
    Raises GridPortalError on rank 0 when the run directory cannot be written.
    """

    def __init__(self, comm: MPI.Intracomm, program: str, **start_fields: object) -> None:
        self._comm = comm
        self._ended = 0
        self.communicating = CommunicationClock()
        hosts = comm.gather(socket.gethostname(), root=0)
        self._file = _open_progress() if comm.Get_rank() == 0 else None
        self._write(Start(hosts or [], {"program": program, **start_fields, "ranks": comm.Get_size()}))

    @contextmanager
    def phase(self, name: str, iteration: int | None = None, of: int | None = None) -> Iterator[None]:
        """Time what is inside; the split into compute and communicate is given where the clock was used.

        Each of the three times is the largest over ranks by itself, so the two parts may add up to more
        than the whole. A phase that raises is not reported.
        """
        communicated = self.communicating.seconds
        started = time.perf_counter()
        yield
        seconds = time.perf_counter() - started
        communicate = self.communicating.seconds - communicated
        longest = self._max_on_root([seconds, seconds - communicate, communicate])
        if longest is not None:
            self._write(Phase(name, iteration=iteration, of=of, **_times(*longest)))

    def result(self, verified: bool | None, seconds: float, **figures: object) -> None:
        """Report the end; not collective. `seconds` is that of the slowest rank (see `slowest`)."""
        self._write(Result(verified, seconds, figures))

    def slowest(self, seconds: float) -> float:
        """The largest of the ranks' `seconds`, on every rank."""
        longest = np.empty(1)
        self._comm.Allreduce(np.array([seconds]), longest, op=MPI.MAX)
        return float(longest[0])

    def _max_on_root(self, values: list[float]) -> list[float] | None:
        mine, largest = np.array(values), np.empty(len(values))
        self._ended += 1
        if self._ended % LEAD:
            self._comm.Reduce(mine, largest, op=MPI.MAX, root=0)
        else:  # nobody leaves before everybody, rank 0 too, has come
            self._comm.Allreduce(mine, largest, op=MPI.MAX)
        return [float(value) for value in largest] if self._comm.Get_rank() == 0 else None

    def _write(self, event: ProgressEvent) -> None:
        if self._file is None:
            return
        line = progress_events.written(event, time.time())
        # One write of a whole line, so that a reader following the file never sees half of one as complete.
        self._file.write(json.dumps(_plain(line), allow_nan=False) + "\n")
        self._file.flush()


def _open_progress() -> TextIO | None:
    directory = os.environ.get(RUN_DIR_VARIABLE)
    if not directory:
        return None
    path = Path(directory) / PROGRESS
    try:
        return path.open("a", encoding="utf-8")
    except OSError as error:
        raise GridPortalError(
            f"{RUN_DIR_VARIABLE} is {directory!r}, where {PROGRESS} cannot be written "
            f"({error.strerror}); name a directory that this user may write to."
        ) from error


def _times(seconds: float, compute: float, communicate: float) -> dict[str, float]:
    if communicate <= 0.0:
        return {"seconds": seconds}
    return {"seconds": seconds, "compute": compute, "communicate": communicate}


def _plain(value: Any) -> Any:
    """What JSON can say: numpy scalars as Python's, and null for what is not a finite number."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
