"""The calls of SRS for Python over mpi4py (Migration 2003, sections 4.1 and 5).

    >>> def program(comm, folder, steps):
    ...     way, step = layouts.block(comm.Get_size()), np.zeros(1, dtype=int)
    ...     x = np.zeros(way.local_shape((1000,), comm.Get_rank()))
    ...     state = init(comm, folder)
    ...     state.register("x", x, (1000,), way)
    ...     state.register("step", step)
    ...     if state.restart_value():
    ...         state.read("x")
    ...         state.read("step")
    ...     while steps and not state.check_stop():
    ...         x += 1
    ...         step += 1
    ...         steps -= 1
    ...     state.finish()
    ...     return state.restart_value(), int(step[0]), set(x.tolist())

A folder that all ranks reach holds the checkpoints, and the file `stop`: whoever makes it asks the program to stop.
What was stopped goes on where it is started again, on any number of ranks.

    >>> import tempfile, threading, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     threading.Timer(0.2, Path(folder, "stop").touch).start()
    ...     began, stopped, _ = program(MPI.COMM_WORLD, folder, 10**9)
    ...     again, ended, values = program(MPI.COMM_WORLD, folder, 5)  # five steps more
    >>> began, again, ended - stopped, values == {float(ended)}
    (0, 1, 5, True)
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mpi4py import MPI
from numpy.typing import NDArray

from gridportal.base.checked_numbers import above_zero, whole
from gridportal.base.errors import GridPortalError, InputError
from gridportal.base.job_files import CHECKPOINTS_VARIABLE, FINISHED, MAPS
from gridportal.runtime import progress_file
from gridportal.runtime.depot import depot_access
from gridportal.runtime.depot.depot_access import DepotAccess
from gridportal.runtime.progress_events import CheckpointWritten, ProgressEvent, Restored, StartsAnew, Stopped
from gridportal.runtime.srs import checkpoint_files, layouts
from gridportal.runtime.srs.agreement import agreed, on_first, together
from gridportal.runtime.srs.array_checks import check_alike, check_read, check_registration
from gridportal.runtime.srs.checkpoint_writing import CheckpointWriter, Outcome, Registered
from gridportal.runtime.srs.layouts import Layout
from gridportal.runtime.srs.newest_checkpoint import newest
from gridportal.runtime.srs.redistribution import Redistribution
from gridportal.runtime.srs.shard_depots import ShardDepots
from gridportal.runtime.srs.stop_requests import StopRequests, write_beside
from gridportal.runtime.srs.stop_votes import StopVotes, Wish

Array = NDArray[Any]
#: The variable that names the folder where the program does not.
FOLDER_VARIABLE = CHECKPOINTS_VARIABLE


@dataclass(frozen=True, slots=True)
class Settings:
    """`every`: seconds, and `every_calls`: calls of `check_stop`, between checkpoints that nobody asks for; these are
    written in the `background` where memory allows. `signals`: those that ask for the stop."""

    every: float | None = None
    every_calls: int | None = None
    background: bool = True
    signals: Sequence[int] = (signal.SIGUSR1,)


class StopRestart:
    """SRS of the ranks of a communicator. All calls are collective but `restart_value`, `ask_stop` and `registered`.

    `passed_over`: sentences on checkpoints that could not be used. `seconds`: what was spent reading, what all
    checkpoints took to be written, and for how much of that the program was blocked.
    """

    def __init__(self, comm: MPI.Intracomm, folder: Path, settings: Settings, access: DepotAccess | None) -> None:
        self._comm, self._folder, self._settings = comm, folder, settings
        self.registered: dict[str, Registered] = {}
        self.seconds = {"writing": 0.0, "blocked": 0.0, "reading": 0.0}
        self.passed_over: list[str] = []
        self._stopped = self._restored = False
        self._read_bytes = self._calls = 0
        self._last = Outcome()
        self._unwritten = 0  # checkpoints in a row
        self._depots = ShardDepots(comm, access) if access else None
        self._writer = CheckpointWriter(comm, folder, self._depots)
        self._reader = newest(comm, folder, self._writer, self._depots, self.passed_over)
        self._writer.number = comm.bcast(max(checkpoint_files.numbers(folder), default=0))
        first = comm.Get_rank() == 0
        self._requests = StopRequests(folder, settings.every, settings.signals, first=first)
        self._votes = StopVotes(comm, self._heard)
        if self._reader is None:
            self._tell(StartsAnew())

    def restart_value(self) -> int:
        """0 when the program starts, 1 when it goes on from a checkpoint."""
        return int(self._reader is not None)

    def register(
        self, name: str, held: Array, shape: Sequence[int] | None = None, layout: Layout | None = None
    ) -> None:
        """Let checkpoints hold `held`, this rank's part of an array of `shape` in `layout`; without these it is the
        same on all ranks, as a scalar in an array of one element is.

        Raises InputError, on every rank, for a name that is taken, an array that is not as its layout has it, or one
        whose elements do not follow each other in memory.
        """
        size = self._comm.Get_size()
        entire = tuple(held.shape if shape is None else shape)
        way = layout or layouts.replicated(size)
        together(self._comm, lambda: check_registration(self._comm, self.registered, name, held, entire, way))
        first = self._comm.bcast((name, held.dtype.str, entire, layouts.dump(way)))
        mine = (name, held.dtype.str, entire, layouts.dump(way))
        together(self._comm, lambda: check_alike(mine, first))
        self.registered[name] = Registered(held, entire, way)

    def read(self, name: str, old: Layout | None = None, new: Layout | None = None) -> Array:
        """Fill the array that was registered as `name` from the checkpoint, whatever its layout and number of ranks.

        `old` and `new`: the layouts then and now, where the program wants them compared with what the checkpoint and
        `register` say. Raises InputError, on every rank, for what does not agree; nothing is changed then. Raises
        GridPortalError, on every rank, where its bytes are not to be had any more: a program that is started again
        finds that out first.
        """
        before = time.perf_counter()
        together(self._comm, lambda: check_read(self.registered, self._reader, name, old, new))
        reader = self._reader
        assert reader is not None  # noqa: S101 - just checked
        stored, mine = reader.checkpoint.arrays[name], self.registered[name]
        way = Redistribution(stored.layout, mine.layout, stored.shape)
        if problem := agreed(self._comm, lambda: reader.fill(name, way, mine.held)):
            raise GridPortalError(f"{name} cannot be read: {problem}")
        self.seconds["reading"] += time.perf_counter() - before
        self._read_bytes += stored.dtype.itemsize * math.prod(stored.shape)
        return mine.held

    def check_stop(self) -> int:
        """1 when the program is to stop: its checkpoint is written, and it does its own last actions and ends. Else 0.

        All ranks get the same answer at the same call. A checkpoint that cannot be written stops nothing: the program
        goes on, and the file not-stopped.json says why.
        """
        self._tell_restored()
        wish = self._votes.check()
        self._calls += 1
        if self._stopped:
            return 1
        if self._writer.is_done(wish.written):
            self._account(self._writer.complete())
        if wish.stop:
            self._stop()
        elif (wish.checkpoint or self._is_due_by_calls()) and not self._writer.pending:
            self._begin()
        return int(self._stopped)

    def _heard(self) -> Wish:
        heard = self._requests.heard()
        return Wish(heard.stop, heard.checkpoint and not self._writer.pending, self._writer.done)

    def _is_due_by_calls(self) -> bool:
        every = self._settings.every_calls
        return every is not None and self._calls % every == 0

    def _stop(self) -> None:
        problem = self.checkpoint()
        self._stopped = not problem
        self._requests.answer(problem)
        if self._stopped:
            self._tell(Stopped(self._last.number, self._last.seconds, self._last.bytes))

    def _begin(self) -> None:
        """Write a checkpoint that nobody asked for; one that cannot be written costs nothing but itself."""
        if not self._settings.background:
            self.checkpoint()
            return
        self._requests.begun()
        if outcome := self._writer.begin(self.registered):
            self._account(outcome)

    def checkpoint(self) -> str:
        """Write all that is registered now; the sentence why that was impossible, "" when it is done."""
        if self._writer.pending:
            self._account(self._writer.complete())
        return self._account(self._writer.write(self.registered))

    def _account(self, outcome: Outcome) -> str:
        self._requests.written(outcome.seconds)
        self.seconds["writing"] += outcome.seconds
        self.seconds["blocked"] += outcome.blocked
        if outcome.problem:
            if self._unwritten == 0:
                self._warn(f"A checkpoint was not written in {self._folder}: {outcome.problem}")
            self._unwritten += 1
            return outcome.problem
        self._count_unwritten()
        self._last = outcome
        self._tell(CheckpointWritten(outcome.number, outcome.blocked, outcome.bytes, outcome.seconds))
        return ""

    def _count_unwritten(self) -> None:
        """The sentence why is said once; how often that was follows when it is over."""
        if self._unwritten > 1:
            self._warn(f"{self._unwritten} checkpoints in a row were not written.")
        self._unwritten = 0

    def _warn(self, sentence: str) -> None:
        if self._comm.Get_rank() == 0:
            sys.stderr.write(f"{sentence}\n")

    def _tell_restored(self) -> None:
        """Once, when all is read that the program goes on with."""
        if self._restored or self._reader is None or not self._read_bytes:
            return
        self._restored = True
        self._tell(Restored(self._reader.checkpoint.number, self.seconds["reading"], self._read_bytes))

    def _tell(self, event: ProgressEvent) -> None:
        if self._comm.Get_rank() == 0:
            progress_file.tell(event)

    def store_map(self) -> None:
        """Leave in `maps.json` what others predict a move from: ranks, hosts, each array's type, shape and layout."""
        hosts = self._comm.gather(MPI.Get_processor_name())
        arrays = {
            name: {"dtype": each.held.dtype.str, "shape": list(each.shape), "layout": layouts.dump(each.layout)}
            for name, each in self.registered.items()
        }
        document = json.dumps({"ranks": self._comm.Get_size(), "hosts": hosts, "arrays": arrays})
        on_first(self._comm, partial(write_beside, self._folder, MAPS, document))

    def ask_stop(self) -> None:
        """Ask for the stop from inside the program; any rank may."""
        self._requests.ask()

    def finish(self) -> None:
        """End SRS. A program that has come to its end, and was not stopped, needs its checkpoints no more."""
        self._tell_restored()
        self._votes.close()
        self._requests.close()
        if self._writer.pending:
            self._account(self._writer.complete())
        self._count_unwritten()
        if not self._stopped:
            on_first(self._comm, self._forget)
        self._writer.wait()
        self._comm.Barrier()

    def _forget(self) -> None:
        self._writer.swept(partial(checkpoint_files.clear, self._folder))
        write_beside(self._folder, FINISHED, "")


def init(
    comm: MPI.Intracomm,
    folder: str | Path | None = None,
    *,
    every: float | None = None,
    every_calls: int | None = None,
    background: bool = True,
    depots: str | Path | None = None,
    signals: Sequence[int] = (signal.SIGUSR1,),
) -> StopRestart:
    """Begin SRS on all ranks of `comm`, after MPI_Init. Collective.

    `folder`: where checkpoints are, reached by all ranks; else what GRIDPORTAL_CHECKPOINTS names, else ./checkpoints.
    `every`: seconds, `every_calls`: calls of `check_stop` between checkpoints that nobody asks for; while one of these
    is written in the `background` the next is left out. `depots`: the file that lets the program use depots
    (`runtime.depot.depot_access`), else what GRIDPORTAL_DEPOTS names; read by rank 0. `signals`: those that ask for the
    stop, on any rank. Raises InputError, on every rank.
    """
    if every is not None:
        above_zero("every", every)
    if every_calls is not None:
        whole("every_calls", every_calls, 1, 2**53)
    if folder == "":
        raise InputError("folder", folder, f"the name of a folder, or None for what {FOLDER_VARIABLE} names")
    place = Path(folder or os.environ.get(FOLDER_VARIABLE) or "checkpoints")
    access = _access(comm, depots or os.environ.get(depot_access.VARIABLE))
    return StopRestart(comm, place, Settings(every, every_calls, background, signals), access)


def _access(comm: MPI.Intracomm, file: str | Path | None) -> DepotAccess | None:
    """What lets the program use depots, as rank 0 reads it. Raises InputError on every rank."""
    read: list[DepotAccess] = []

    def look() -> None:
        if comm.Get_rank() == 0 and file:
            read.append(depot_access.read(file))

    together(comm, look)
    access: DepotAccess | None = comm.bcast(read[0] if read else None)
    together(comm, lambda: access and access.address(depot_access.own_node(access)))
    return access
