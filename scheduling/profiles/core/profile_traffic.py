"""Who sent how much to whom: the calls of a trace as matrices of bytes and messages."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from scheduling.profiles.core.profile_spread import sends
from scheduling.profiles.core.trace import Call, Process, Trace, weighted

Floats = NDArray[np.float64]
#: A message: from world rank, to world rank, bytes.
Message = tuple[int, int, float]
_GETS = ("MPI_Get", "MPI_Rget", "MPI_Get_accumulate", "MPI_Rget_accumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap")


def traffic(trace: Trace) -> tuple[Floats, Floats]:
    """Bytes and messages (both ranks x ranks, row sends to column) of a whole run.

    Collectives count as the messages that they are made of (scheduling.profiles.core.profile_spread); what a rank
    sends to itself and what goes to other worlds does not count.
    """
    sizes = np.zeros((trace.ranks, trace.ranks))
    numbers = np.zeros((trace.ranks, trace.ranks))
    for process in trace.processes:
        for call, times in performed(process):
            for source, target, size in messages(trace, process.rank, call):
                sizes[source, target] += size * times
                numbers[source, target] += times
    return sizes, numbers


def performed(process: Process) -> Iterator[tuple[Call, int]]:
    """The calls of a rank with how often each communicated: persistent ones as often as they were started."""
    kept: dict[int, Call] = {}
    for call, times in weighted(process.body):
        if call.call.endswith("_init"):
            if call.request is not None:
                kept[call.request] = call
        elif call.call in ("MPI_Start", "MPI_Startall"):
            yield from ((kept[slot], times) for slot in call.requests if slot in kept)
        else:
            yield call, times


def messages(trace: Trace, rank: int, call: Call) -> Iterator[Message]:
    """What one execution of a call of `rank` sends, by whomever; nothing for what only receives or waits."""
    if call.call.startswith(("MPI_Win_", "MPI_File_")):
        return
    if call.peers:
        yield from _each(rank, call)
    elif call.peer is not None:
        yield from _straight(rank, call.peer, call)
    elif call.comm not in trace.inter and rank in trace.comms[call.comm]:
        yield from _collective(trace.comms[call.comm], rank, call)


def _each(rank: int, call: Call) -> Iterator[Message]:
    for peer, size in zip(call.peers, call.counts, strict=False):
        if peer is not None and peer != rank:
            yield rank, peer, size


def _straight(rank: int, peer: int, call: Call) -> Iterator[Message]:
    if peer == rank:
        return
    if call.call in _GETS:
        yield peer, rank, call.bytes
    if call.call not in ("MPI_Get", "MPI_Rget"):
        yield rank, peer, call.bytes


def _collective(members: tuple[int, ...], rank: int, call: Call) -> Iterator[Message]:
    root = members.index(call.root) if call.root in members else 0
    for to, size in sends(classic(call.call), members.index(rank), len(members), call.bytes, root, call.counts):
        yield rank, members[to], size


def classic(name: str) -> str:
    """The blocking collective of a call: "Bcast" of MPI_Ibcast, MPI_Bcast and MPI_Bcast_init.

    >>> classic("MPI_Ialltoallv"), classic("MPI_Bcast_init"), classic("MPI_Isend")
    ('Alltoallv', 'Bcast', 'Send')
    """
    plain = name.removeprefix("MPI_").removesuffix("_init")
    return plain[1:].capitalize() if plain[0] == "I" and plain[1:2].islower() else plain
