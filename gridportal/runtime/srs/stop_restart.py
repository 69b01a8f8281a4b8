"""The calls of SRS for Python over mpi4py (Migration 2003, sections 4.1 and 5).

    from gridportal.runtime.srs import layouts, stop_restart

    state = stop_restart.init(comm, "checkpoints")
    state.register("x", x, shape=(n,), layout=layouts.block(comm.Get_size()))
    state.register("step", step)
    if state.restart_value():
        state.read("x")
        state.read("step")
    while step[0] < steps and not state.check_stop():
        ...
        step[0] += 1
    state.finish()

A folder that all ranks reach holds the checkpoints, and the file `stop`: whoever makes it asks the program to stop.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from gridportal.base.checked_numbers import above_zero
from gridportal.base.errors import GridPortalError, InputError
from gridportal.runtime.srs import checkpoint_files, layouts
from gridportal.runtime.srs.agreement import agreed, together
from gridportal.runtime.srs.checkpoint_files import BadCheckpointError, Checkpoint, Shard, StoredArray
from gridportal.runtime.srs.layouts import Layout
from gridportal.runtime.srs.redistribution import Redistribution
from gridportal.runtime.srs.stop_requests import StopRequests, write_beside
from gridportal.runtime.srs.stop_votes import StopVotes

Array = NDArray[Any]
#: The variable that names the folder where the program does not.
FOLDER_VARIABLE = "GRIDPORTAL_CHECKPOINTS"
FINISHED, MAPS = "finished", "maps.json"


class _Registered:
    """An array of this rank, and what it is a part of."""

    def __init__(self, held: Array, shape: tuple[int, ...], layout: Layout) -> None:
        self.held, self.shape, self.layout = held, shape, layout


class StopRestart:
    """SRS of the ranks of a communicator. All calls are collective but `restart_value`, `ask_stop` and `registered`.

    `passed_over`: sentences on checkpoints that could not be used. `seconds`: what was spent writing and reading.
    """

    def __init__(self, comm: MPI.Intracomm, folder: Path, *, every: float | None, signals: Sequence[int]) -> None:
        self._comm, self._folder = comm, folder
        self.registered: dict[str, _Registered] = {}
        self.seconds = {"writing": 0.0, "reading": 0.0}
        self.passed_over: list[str] = []
        self._stopped = False
        self._checkpoint = self._newest()
        self._number = comm.bcast(max(checkpoint_files.numbers(folder), default=0) if comm.Get_rank() == 0 else 0)
        self._requests = StopRequests(folder, every, signals, first=comm.Get_rank() == 0)
        self._votes = StopVotes(comm, self._requests.heard)

    def restart_value(self) -> int:
        """0 when the program starts, 1 when it goes on from a checkpoint."""
        return int(self._checkpoint is not None)

    def register(
        self, name: str, held: Array, shape: Sequence[int] | None = None, layout: Layout | None = None
    ) -> None:
        """Let checkpoints hold `held`, this rank's part of an array of `shape` in `layout`; without these it is the
        same on all ranks, as a scalar in an array of one element is.

        Raises InputError, on every rank, for a name that is taken, an array that is not as its layout has it, or one
        whose elements do not follow each other in memory.
        """
        size = self._comm.Get_size()
        whole = tuple(held.shape if shape is None else shape)
        way = layout or layouts.replicated(size)
        together(self._comm, lambda: self._check(name, held, whole, way))
        first = self._comm.bcast((name, held.dtype.str, whole, layouts.dump(way)))
        mine = (name, held.dtype.str, whole, layouts.dump(way))
        together(self._comm, lambda: _check_alike(mine, first))
        self.registered[name] = _Registered(held, whole, way)

    def _check(self, name: str, held: Array, shape: tuple[int, ...], layout: Layout) -> None:
        if name in self.registered:
            raise InputError("name", name, "a name that is not registered yet")
        if not isinstance(held, np.ndarray) or held.dtype.hasobject or not held.flags.c_contiguous:
            raise InputError(name, type(held).__name__, "an array of numbers in C order")
        layout.check(shape, self._comm.Get_size())
        wanted = layout.local_shape(shape, self._comm.Get_rank())
        if held.shape != wanted:
            raise InputError(
                name,
                list(held.shape),
                f"the shape {list(wanted)}, which rank {self._comm.Get_rank()} has in {layout.text}",
            )

    def read(self, name: str, old: Layout | None = None, new: Layout | None = None) -> Array:
        """Fill the array that was registered as `name` from the checkpoint, whatever its layout and number of ranks.

        `old` and `new`: the layouts then and now, where the program wants them compared with what the checkpoint and
        `register` say. Raises InputError, on every rank, for what does not agree; nothing is changed then.
        """
        before = time.perf_counter()
        together(self._comm, lambda: self._check_read(name, old, new))
        assert self._checkpoint is not None  # noqa: S101 - just checked
        stored, mine = self._checkpoint.arrays[name], self.registered[name]
        way, rank = Redistribution(stored.layout, mine.layout, stored.shape), self._comm.Get_rank()
        for source in way.sources(rank):
            way.copy(source, self._checkpoint.held(name, source), rank, mine.held)
        self._comm.Barrier()
        self.seconds["reading"] += time.perf_counter() - before
        return mine.held

    def _check_read(self, name: str, old: Layout | None, new: Layout | None) -> None:
        if self._checkpoint is None:
            raise InputError("name", name, "nothing, for the program starts: there is no checkpoint to read from")
        if name not in self.registered:
            raise InputError("name", name, f"a name that is registered: {_listed(self.registered)}")
        if name not in self._checkpoint.arrays:
            raise InputError("name", name, f"an array of the checkpoint: {_listed(self._checkpoint.arrays)}")
        stored, mine = self._checkpoint.arrays[name], self.registered[name]
        for field, value, wanted in (
            (f"{name}.dtype", mine.held.dtype, stored.dtype),
            (f"{name}.shape", mine.shape, stored.shape),
            ("old", old or stored.layout, stored.layout),
            ("new", new or mine.layout, mine.layout),
        ):
            if value != wanted:
                raise InputError(field, _words(value), f"{_words(wanted)}, as it is")

    def check_stop(self) -> int:
        """1 when the program is to stop: its checkpoint is written, and it does its own last actions and ends. Else 0.

        All ranks get the same answer at the same call. A checkpoint that cannot be written stops nothing: the program
        goes on, and the file not-stopped.json says why.
        """
        wish = self._votes.check()
        if not (wish.stop or wish.checkpoint) or self._stopped:
            return int(self._stopped)
        problem = self.checkpoint()
        if wish.stop:
            self._stopped = not problem
            self._requests.answer(problem)
        return int(self._stopped)

    def checkpoint(self) -> str:
        """Write all that is registered now; the sentence why that was impossible, "" when it is done."""
        before = time.perf_counter()
        number, arrays = self._number + 1, sorted(self.registered.items())
        problem = agreed(self._comm, lambda: checkpoint_files.begin(self._folder, number), only_first=True)
        shards: list[Shard | None] = []
        problem = problem or agreed(
            self._comm, lambda: shards.extend(self._shard(number, *each) for each in enumerate(arrays))
        )
        if not problem:
            held = self._comm.gather(shards)
            problem = agreed(self._comm, lambda: self._complete(number, arrays, held or []), only_first=True)
        if problem and self._comm.Get_rank() == 0:
            checkpoint_files.abandon(self._folder, number)
        self._number += 0 if problem else 1
        took = time.perf_counter() - before
        self._requests.written(took)
        self.seconds["writing"] += took
        return problem

    def _shard(self, number: int, place: int, array: tuple[str, _Registered]) -> Shard | None:
        """Of a replicated array rank 0 writes the only one."""
        rank = self._comm.Get_rank()
        if rank and not array[1].layout.dealings:
            return None
        return checkpoint_files.write_shard(self._folder, number, place, rank, array[1].held)

    def _complete(
        self, number: int, arrays: Sequence[tuple[str, _Registered]], held: Sequence[Sequence[Shard | None]]
    ) -> None:
        stored = [
            StoredArray(
                name,
                each.held.dtype,
                each.shape,
                each.layout,
                tuple(s for rank in held if (s := rank[place]) is not None),
            )
            for place, (name, each) in enumerate(arrays)
        ]
        checkpoint_files.complete(self._folder, number, self._comm.Get_size(), time.time(), stored)

    def store_map(self) -> None:
        """Leave in `maps.json` what others predict a move from: ranks, hosts, each array's type, shape and layout."""
        hosts = self._comm.gather(MPI.Get_processor_name())
        arrays = {
            name: {"dtype": each.held.dtype.str, "shape": list(each.shape), "layout": layouts.dump(each.layout)}
            for name, each in self.registered.items()
        }
        document = json.dumps({"ranks": self._comm.Get_size(), "hosts": hosts, "arrays": arrays})
        self._on_first(partial(write_beside, self._folder, MAPS, document))

    def ask_stop(self) -> None:
        """Ask for the stop from inside the program; any rank may."""
        self._requests.ask()

    def finish(self) -> None:
        """End SRS. A program that has come to its end, and was not stopped, needs its checkpoints no more."""
        self._votes.close()
        self._requests.close()
        if not self._stopped:
            self._on_first(self._forget)
        self._comm.Barrier()

    def _forget(self) -> None:
        checkpoint_files.clear(self._folder)
        write_beside(self._folder, FINISHED, "")

    def _on_first(self, step: Callable[[], object]) -> None:
        """Do something on rank 0. Raises GridPortalError on all ranks where it fails."""
        if problem := agreed(self._comm, step, only_first=True):
            raise GridPortalError(problem)

    def _newest(self) -> Checkpoint | None:
        """The newest checkpoint that is whole, on all ranks; None where the program starts."""
        self._on_first(self._start_again)
        for number in self._comm.bcast(checkpoint_files.numbers(self._folder) if self._comm.Get_rank() == 0 else []):
            opened, problem = self._comm.bcast(self._opened(number) if self._comm.Get_rank() == 0 else None)
            problem = problem or agreed(self._comm, partial(self._verify, opened))
            if not problem:
                return opened  # type: ignore[no-any-return]
            self.passed_over.append(problem)
            if self._comm.Get_rank() == 0:
                sys.stderr.write(f"Checkpoint {number} cannot be used: {problem}\n")
            self._on_first(partial(checkpoint_files.set_aside, self._folder, number))
        return None

    def _verify(self, opened: Checkpoint) -> None:
        checkpoint_files.verify(opened, self._comm.Get_rank(), self._comm.Get_size())

    def _start_again(self) -> None:
        """A program that had come to its end starts from the beginning."""
        if (self._folder / FINISHED).exists():
            checkpoint_files.clear(self._folder)
            (self._folder / FINISHED).unlink()

    def _opened(self, number: int) -> tuple[Checkpoint | None, str]:
        try:
            return checkpoint_files.opened(self._folder, number), ""
        except BadCheckpointError as error:
            return None, str(error)


def init(
    comm: MPI.Intracomm,
    folder: str | Path | None = None,
    *,
    every: float | None = None,
    signals: Sequence[int] = (signal.SIGUSR1,),
) -> StopRestart:
    """Begin SRS on all ranks of `comm`, after MPI_Init. Collective.

    `folder`: where checkpoints are, reached by all ranks; else what GRIDPORTAL_CHECKPOINTS names, else ./checkpoints.
    `every`: seconds between checkpoints that nobody asks for. `signals`: those that ask for the stop, on any rank.
    """
    if every is not None:
        above_zero("every", every)
    return StopRestart(
        comm, Path(folder or os.environ.get(FOLDER_VARIABLE) or "checkpoints"), every=every, signals=signals
    )


def _check_alike(mine: Sequence[Any], first: Sequence[Any]) -> None:
    """Raise InputError where a rank registers something else than rank 0."""
    for field, value, wanted in zip(("name", "dtype", "shape", "layout"), mine, first, strict=True):
        if value != wanted:
            raise InputError(field, value, f"{wanted}, as rank 0 has it")


def _listed(names: Any) -> str:
    return ", ".join(sorted(names)) or "there is none"


def _words(value: object) -> str:
    return value.text if isinstance(value, Layout) else str(value)
