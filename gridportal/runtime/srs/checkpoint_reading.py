"""Which checkpoint a program goes on from, and how a rank gets what it needs of it: from files and from depots."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from gridportal.runtime.depot.depot_client import DepotError, Wanted
from gridportal.runtime.srs import checkpoint_files, checkpoint_manifest, shard_parts
from gridportal.runtime.srs.checkpoint_manifest import (
    BadCheckpointError,
    Checkpoint,
    Shard,
    StoredArray,
    UnreachableError,
)
from gridportal.runtime.srs.compiled_copy import MAPPED
from gridportal.runtime.srs.redistribution import Redistribution, copy_elements
from gridportal.runtime.srs.shard_depots import AT_ONCE, ShardDepots

Array = NDArray[Any]
#: A copy of a shard: number of its array, rank, and the node whose depot has it ("" for the file).
Copy = tuple[int, int, str]
_FILE = ""


def opened(folder: Path, number: int) -> tuple[Checkpoint | None, str]:
    """A checkpoint, or why it cannot be used."""
    try:
        return checkpoint_files.opened(folder, number), ""
    except BadCheckpointError as error:
        return None, str(error)


class CheckpointReader:
    """Reads `checkpoint` on the ranks of `comm`. Raises BadCheckpointError, each rank for itself."""

    def __init__(self, comm: MPI.Intracomm, checkpoint: Checkpoint, depots: ShardDepots | None) -> None:
        self.checkpoint = checkpoint
        self._comm, self._depots = comm, depots
        self._bad: set[Copy] = set()
        self._damaged = False

    def verify(self) -> None:
        """Compare this rank's portion of all shards with what was written; a copy that is not right is not used."""
        for stored, shard in list(checkpoint_manifest.shards(self.checkpoint))[
            self._comm.Get_rank() :: self._comm.size
        ]:
            problems = [problem for node in _nodes(shard) if (problem := self._problem(stored, shard, node))]
            if len(problems) == len(_nodes(shard)):
                self._damaged = not any(isinstance(problem, UnreachableError) for problem in problems)
                raise problems[0]
            for problem in problems:
                sys.stderr.write(f"{problem} Another copy is used.\n")

    def is_damaged(self) -> bool:
        """Whether some rank found a shard of which no copy can ever be used. Collective."""
        return bool(self._comm.allreduce(self._damaged, MPI.LOR))

    def share(self) -> None:
        """Let all ranks know which copies are not right. Collective."""
        self._bad = set().union(*self._comm.allgather(self._bad))

    def _problem(self, stored: StoredArray, shard: Shard, node: str) -> BadCheckpointError | None:
        try:
            if node == _FILE:
                checkpoint_files.verify(self.checkpoint, stored, shard)
            elif self._depots is None:
                raise UnreachableError(
                    f"What rank {shard.rank} held of {stored.name} is in the depot of {node}; GRIDPORTAL_DEPOTS must "
                    f"name the file that lets this program use depots."
                )
            else:
                self._depots.verify(self.checkpoint, stored, shard, node)
        except BadCheckpointError as error:
            self._bad.add((stored.place, shard.rank, node))
            return error
        return None

    def fill(self, name: str, way: Redistribution, into: Array) -> None:
        """Fill `into`, this rank's part of array `name`, from the ranks that held it, several of them at once."""
        stored, rank = self.checkpoint.arrays[name], self._comm.Get_rank()
        sources = way.sources(rank)
        if all(stored.shard(source).file is not None and not stored.shard(source).depots for source in sources):
            if not way.filled_by_c(lambda source: self.checkpoint.held(name, source), rank, into):
                for source in sources:
                    self._copy(stored, way, source, into)
            return
        from concurrent.futures import ThreadPoolExecutor  # late: most ranks read no depot

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda source: self._take(stored, way, source, into), sources))

    def _take(self, stored: StoredArray, way: Redistribution, source: int, into: Array) -> None:
        """From the first copy that can be had: this node's own depot, others, the file."""
        shard, rank, problem = stored.shard(source), self._comm.Get_rank(), ""
        for node in self._in_order(shard):
            if (stored.place, shard.rank, node) in self._bad:
                continue
            try:
                if node == _FILE:
                    self._copy(stored, way, source, into)
                elif self._depots is not None:
                    wanted = _Wanted(way, source, rank, into)
                    self._depots.fetch(self.checkpoint, stored, shard.rank, node, wanted)
                return
            except DepotError as error:
                problem = str(error)
        raise BadCheckpointError(problem)

    def _copy(self, stored: StoredArray, way: Redistribution, source: int, into: Array) -> None:
        """From the file, of which never more than a little is in memory."""
        held, touched = self.checkpoint.held(stored.name, source), 0
        for view, place in way.views(source, held, self._comm.Get_rank(), into):
            most = MAPPED * view.nbytes // max(1, _span(view))
            for portion, filled in shard_parts.cut(view, place, most):
                copy_elements(portion, filled)
                touched += _span(portion)
                if touched >= MAPPED:
                    checkpoint_files.forget(held)
                    touched = 0

    def _in_order(self, shard: Shard) -> list[str]:
        """Its copies: that of this node, those of others (not all ranks the same first), the file."""
        own = self._depots.nodes[0] if self._depots is not None else ""
        turn = self._comm.Get_rank() % max(1, len(shard.depots))
        others = [*shard.depots[turn:], *shard.depots[:turn]]
        return sorted([*others, *([_FILE] if shard.file is not None else [])], key=lambda n: (n == _FILE, n != own))


def _span(view: Array) -> int:
    """Bytes from its first to its last."""
    low, high = np.lib.array_utils.byte_bounds(view)
    return int(high - low)


class _Wanted:
    """The parts that a rank wants of a source, again from the beginning each time it is asked."""

    def __init__(self, way: Redistribution, source: int, rank: int, into: Array) -> None:
        self._way, self._source, self._rank, self._into = way, source, rank, into

    def __call__(self) -> Iterator[Wanted]:
        for part in shard_parts.parts(self._way, self._source, self._rank, self._into):
            yield part.slabs, part.fill


def _nodes(shard: Shard) -> tuple[str, ...]:
    return (*shard.depots, *([_FILE] if shard.file is not None else []))
