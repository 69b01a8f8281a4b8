"""Writing a checkpoint: all ranks at once, while the program waits, or in the background from a copy of the arrays.

In the background a rank copies its arrays and goes on; a thread writes the copies, to files or depots, and makes no
call of MPI. When all ranks have heard that every thread is done (`stop_votes`) they complete the checkpoint together.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from gridportal.base.errors import GridPortalError
from gridportal.runtime.depot.depot_client import DepotError
from gridportal.runtime.srs import checkpoint_files, checkpoint_room
from gridportal.runtime.srs.agreement import agreed
from gridportal.runtime.srs.checkpoint_manifest import Shard, StoredArray
from gridportal.runtime.srs.free_memory import free_memory
from gridportal.runtime.srs.layouts import Layout
from gridportal.runtime.srs.shard_depots import ShardDepots

Array = NDArray[Any]
#: One part in so many of the memory that is free on a node may be copies of arrays.
_PART_OF_MEMORY = 2


@dataclass(frozen=True, slots=True)
class Registered:
    """An array of this rank, and what it is a part of."""

    held: Array
    shape: tuple[int, ...]
    layout: Layout


@dataclass(slots=True)
class Outcome:
    """What became of a checkpoint: why it was not written, "" when it was; its number and bytes; for how many seconds
    the program stood still for it, and how many passed until it was complete."""

    problem: str = ""
    number: int = 0
    bytes: int = 0
    blocked: float = 0.0
    seconds: float = 0.0


@dataclass(slots=True)
class _Pending:
    """A checkpoint that is being written: this rank's shards of it, or why there are none."""

    sequence: int
    token: str
    arrays: list[tuple[str, Registered]]
    began: float
    blocked: float = 0.0
    shards: list[Shard | None] = field(default_factory=list)
    error: Exception | None = None
    done: bool = False
    thread: threading.Thread | None = None


class CheckpointWriter:
    """Writes checkpoints of the ranks of `comm` into `folder` and `depots`. Collective, but for `done`.

    `number`: of the last one that is complete, or was tried by an earlier run.
    """

    def __init__(self, comm: MPI.Intracomm, folder: Path, depots: ShardDepots | None) -> None:
        self._comm, self._folder, self._depots, self.number = comm, folder, depots, 0
        self._rank = comm.Get_rank()  # asked once: threads in the background make no call of MPI
        self._pending: _Pending | None = None
        self._sequence = 0
        self._copies: dict[str, Array] = {}
        self._sweeping: threading.Thread | None = None

    @property
    def pending(self) -> bool:
        """Whether one is being written in the background."""
        return self._pending is not None

    @property
    def done(self) -> int:
        """How many checkpoints this rank has done with."""
        busy = self._pending is not None and not self._pending.done
        return self._sequence - busy

    def is_done(self, everywhere: int) -> bool:
        """Whether the one in the background can be completed, when all ranks have done with `everywhere`."""
        return self._pending is not None and everywhere >= self._pending.sequence

    def write(self, arrays: Mapping[str, Registered]) -> Outcome:
        """Write one now."""
        problem = self._begin(arrays)
        if problem:
            return Outcome(problem)
        assert self._pending is not None  # noqa: S101 - it has just begun
        self._write(self._pending)
        return self.complete()

    def begin(self, arrays: Mapping[str, Registered]) -> Outcome | None:
        """Write one in the background, None then; at once where there is no memory for copies."""
        if self.pending or not self._has_memory(arrays):
            return self.write(arrays)
        problem = self._begin(arrays)
        if problem:
            return Outcome(problem)
        pending = self._pending
        assert pending is not None  # noqa: S101 - it has just begun
        if agreed(self._comm, partial(self._copy, pending)):  # no memory after all
            self._write(pending)
            return self.complete()
        pending.blocked = time.perf_counter() - pending.began
        pending.thread = threading.Thread(target=self._write, args=(pending,), daemon=True)
        pending.thread.start()
        return None

    def complete(self) -> Outcome:
        """Wait until the one that was begun is written, and complete it, or take away what there is of it."""
        pending, before = self._pending, time.perf_counter()
        assert pending is not None  # noqa: S101 - there is one, says who calls this
        if pending.thread is not None:
            pending.thread.join()
        outcome = Outcome(agreed(self._comm, partial(_raise, pending)), self.number + 1)
        if not outcome.problem:
            held = self._comm.gather(pending.shards)
            size: list[int] = []
            outcome.problem = agreed(
                self._comm, lambda: size.append(self._finish(pending, held or [])), only_first=True
            )
            outcome.bytes = size[0] if size else 0
        if outcome.problem:
            self._abandon()
        self.number += not outcome.problem
        self._pending = None
        now = time.perf_counter()
        outcome.seconds = now - pending.began
        outcome.blocked = pending.blocked + now - before if pending.thread is not None else outcome.seconds
        return outcome

    def _begin(self, arrays: Mapping[str, Registered]) -> str:
        began = time.perf_counter()
        if self.pending:
            self.complete()
        token = self._comm.bcast(os.urandom(8).hex() if self._rank == 0 else "")
        wanted = self._comm.allreduce(self._bytes_in_files(arrays))
        problem = agreed(self._comm, partial(self._make_room, token, wanted), only_first=True)
        if problem:
            self._abandon()
        else:
            self._sequence += 1
            self._pending = _Pending(self._sequence, token, sorted(arrays.items()), began)
        return problem

    def _bytes_in_files(self, arrays: Mapping[str, Registered]) -> int:
        """What this rank's shards take on the disk."""
        if self._depots is not None and not self._depots.in_files:
            return 0
        return checkpoint_room.on_disk(each.held.nbytes for each in arrays.values() if self._writes(each))

    def _make_room(self, token: str, wanted: int) -> None:
        def begin() -> None:
            checkpoint_files.begin(self._folder, self.number + 1)
            checkpoint_room.make_room(self._folder, wanted)
            if self._depots is not None and self._depots.in_depots:
                checkpoint_files.intend(self._folder, self.number + 1, token, self._depots.all_nodes)

        self.swept(begin)

    def swept(self, change: Callable[[], object]) -> None:
        """Do something to the folder that takes checkpoints away, and let go of what depots had of them, which nobody
        waits for. On one rank."""
        before = checkpoint_files.in_depots(self._folder) if self._depots else {}
        try:
            change()
        finally:
            after = checkpoint_files.in_depots(self._folder) if self._depots else {}
            if self._depots is not None and before.keys() - after.keys():
                self.wait()
                self._sweeping = threading.Thread(target=self._depots.let_go, args=(before, after))
                self._sweeping.start()

    def wait(self) -> None:
        """Until depots have let go of what they were asked to."""
        if self._sweeping is not None:
            self._sweeping.join()

    def _copy(self, pending: _Pending) -> None:
        """From now on write what the arrays are now. The copies stay, for fresh memory costs more than a copy."""
        for place, (name, each) in enumerate(pending.arrays):
            if not self._writes(each):
                continue
            if (kept := self._copies.get(name)) is None:
                kept = self._copies[name] = np.empty_like(each.held)
            kept[...] = each.held
            pending.arrays[place] = (name, Registered(kept, each.shape, each.layout))

    def _has_memory(self, arrays: Mapping[str, Registered]) -> bool:
        """Whether the copies of all ranks of each node have room there."""
        if all(name in self._copies or not self._writes(each) for name, each in arrays.items()):
            size = 0
        else:
            size = sum(each.held.nbytes for each in arrays.values() if self._writes(each))
        mine = MPI.Get_processor_name()
        wanted = sum(other for node, other in self._comm.allgather((mine, size)) if node == mine)
        return bool(self._comm.allreduce(wanted <= free_memory() // _PART_OF_MEMORY, MPI.LAND))

    def _writes(self, each: Registered) -> bool:
        """Of a replicated array rank 0 writes the only shard."""
        return not self._rank or bool(each.layout.dealings)

    def _write(self, pending: _Pending) -> None:
        """Write this rank's shards. Called from a thread in the background: no MPI, and no error leaves it."""
        try:
            for place, (_, each) in enumerate(pending.arrays):
                pending.shards.append(self._shard(pending, place, each.held) if self._writes(each) else None)
        except (OSError, GridPortalError, MemoryError) as error:
            pending.error = error
        finally:
            pending.done = True

    def _shard(self, pending: _Pending, place: int, held: Array) -> Shard:
        depots, number = self._depots, self.number + 1
        file: str | None = None
        nodes: tuple[str, ...] = ()
        checksum = 0
        if depots is None or depots.in_files:
            written = checkpoint_files.write_shard(self._folder, number, place, self._rank, held)
            file, checksum = written.file, written.checksum
        if depots is not None and depots.in_depots:
            content = memoryview(held.reshape(-1).view(np.uint8).data if held.size else b"")
            try:
                nodes, checksum = depots.put(pending.token, place, self._rank, content)
            except DepotError as error:
                if file is None:
                    raise
                sys.stderr.write(f"A shard of rank {self._rank} is a file only: {error}\n")
        return Shard(self._rank, file, held.nbytes, checksum, nodes)

    def _finish(self, pending: _Pending, held: Sequence[Sequence[Shard | None]]) -> int:
        """On rank 0: the manifest, and the name; the bytes of all shards."""
        stored = [
            StoredArray(
                name,
                each.held.dtype,
                each.shape,
                each.layout,
                tuple(s for rank in held if (s := rank[place]) is not None),
                place,
            )
            for place, (name, each) in enumerate(pending.arrays)
        ]
        token = pending.token if self._depots is not None and self._depots.in_depots else ""
        ranks, now = self._comm.Get_size(), time.time()
        self.swept(partial(checkpoint_files.complete, self._folder, self.number + 1, ranks, now, stored, token))
        return sum(shard.bytes for each in stored for shard in each.shards)

    def _abandon(self) -> None:
        if self._rank == 0:
            self.swept(partial(checkpoint_files.abandon, self._folder, self.number + 1))


def _raise(pending: _Pending) -> None:
    if pending.error is not None:
        raise pending.error
