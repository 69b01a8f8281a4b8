"""What a skeleton plays in the place of calls that it cannot repeat: one-sided transfers, files, neighbourhoods.

What is put and got between two fences of a window is exchanged at the second, by an all-to-all with these sizes: fences
hold all ranks together, and it is then at the latest that the bytes have come. Between other synchronizations the rank
at the other end does not know of a transfer, so nothing can be played there. Collective calls on files become barriers,
others go: a skeleton writes no files. Neighbours exchange by an all-to-all in which the others get nothing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from gridportal.base.errors import ImpossibleError
from scheduling.profiles.core.trace import Call, Trace, unfolded, weighted

#: By window, then by fence: bytes from one rank to another before it and after the one before.
Epoch = Mapping[tuple[int, int], float]
Exchanges = Mapping[str, Sequence[Epoch]]

_GETS = re.compile(r"MPI_R?(get|get_accumulate)|MPI_Fetch_and_op|MPI_Compare_and_swap", re.IGNORECASE)
_PUTS = re.compile(r"MPI_R?(put|accumulate|get_accumulate)|MPI_Fetch_and_op|MPI_Compare_and_swap", re.IGNORECASE)
_FENCE = "MPI_Win_fence"
_IGNORED = re.compile(r"MPI_Win_(create|create_dynamic|allocate|allocate_shared|free|sync)")
_FILES_TOGETHER = re.compile(r"MPI_File_(open|close|sync|set_view|set_size|preallocate|.*_(all|ordered)(_begin)?)")


def is_transfer(name: str) -> bool:
    """Whether a call puts something into a window or gets it from there."""
    return bool(_PUTS.fullmatch(name) or _GETS.fullmatch(name))


def exchanges(trace: Trace) -> Exchanges:
    """What is put and got before each fence of each window; empty for a program that has none. O(calls)."""
    found: dict[str, list[dict[tuple[int, int], float]]] = defaultdict(list)
    if not any(call.call == _FENCE for process in trace.processes for call, _ in weighted(process.body)):
        return found
    fenced: set[str] = set()
    for process in trace.processes:
        fences: Counter[str] = Counter()
        for call in unfolded(process.body):
            if call.call == _FENCE:
                _epoch(found[call.comm], fences[call.comm])
                fences[call.comm] += 1
                fenced.add(call.comm)
            elif is_transfer(call.call) and call.peer is not None and call.peer != process.rank:
                _add(_epoch(found[call.comm], fences[call.comm]), process.rank, call.peer, call)
    return {window: epochs for window, epochs in found.items() if window in fenced}


def refusal(call: Call) -> ImpossibleError:
    """What is said of one-sided calls that do not lie between fences."""
    return ImpossibleError(
        f"A skeleton cannot repeat {call.call}: the rank at the other end does not know what is put there or got from "
        "there; it knows one-sided transfers between fences."
    )


def _epoch(epochs: list[dict[tuple[int, int], float]], number: int) -> dict[tuple[int, int], float]:
    epochs.extend({} for _ in range(number + 1 - len(epochs)))
    return epochs[number]


def _add(epoch: dict[tuple[int, int], float], rank: int, peer: int, call: Call) -> None:
    if _PUTS.fullmatch(call.call):
        epoch[rank, peer] = epoch.get((rank, peer), 0.0) + call.bytes
    if _GETS.fullmatch(call.call):
        epoch[peer, rank] = epoch.get((peer, rank), 0.0) + call.bytes


def at_fence(epochs: Sequence[Epoch], number: int, rank: int, members: Sequence[int]) -> tuple[int, ...]:
    """Bytes to each of `members` at a rank's fence of this number; empty where nobody put or got anything.

    >>> at_fence([{(0, 1): 8.0}], 0, 0, (0, 1)), at_fence([{}], 0, 0, (0, 1))
    ((0, 8), ())
    """
    epoch = epochs[number] if number < len(epochs) else {}
    return tuple(round(epoch.get((rank, member), 0.0)) for member in members) if epoch else ()


def is_fence(call: Call) -> bool:
    """Whether a call is a fence; false for what needs nothing. Raises ImpossibleError for what cannot be played."""
    if call.call == _FENCE:
        return True
    if not _IGNORED.fullmatch(call.call):
        raise refusal(call)
    return False


def holds_together(name: str) -> bool:
    """Whether a call on a file is one of all its ranks.

    >>> holds_together("MPI_File_write_at_all"), holds_together("MPI_File_write_at")
    (True, False)
    """
    return bool(_FILES_TOGETHER.fullmatch(name))


def to_neighbours(call: Call, members: Sequence[int]) -> tuple[int, ...]:
    """Bytes to each of `members` in a neighbourhood collective."""
    sizes: Counter[int] = Counter()
    for peer, size in zip(call.peers, call.counts, strict=False):
        if peer is not None:
            sizes[peer] += round(size)
    return tuple(sizes[member] for member in members)
