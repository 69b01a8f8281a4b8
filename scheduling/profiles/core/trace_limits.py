"""What a trace cannot show of its program, as values: whoever reads a profile is told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from gridportal.base.reasons import Code, Reason
from scheduling.profiles.core.trace_nodes import Trace, computing, storing, weighted

#: Other processes that worked for less of the time outside MPI than this are not worth a word; I/O of all time too.
_HELPED = 0.05
_PARTITIONED = re.compile(r"MPI_P(send|recv)_init")
_SHARED = "MPI_Win_allocate_shared"
_WORLDS = ("MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join")
#: What a skeleton plays by other calls.
_ONE_SIDED = re.compile(r"MPI_(R?(put|get|accumulate|get_accumulate)|Fetch_and_op|Compare_and_swap)", re.IGNORECASE)
_STAND_INS = re.compile(rf"MPI_I?neighbor_\w+|MPI_P(send|recv)_init|{_ONE_SIDED.pattern}", re.IGNORECASE)
_FENCE = "MPI_Win_fence"


def limits(trace: Trace) -> tuple[Reason, ...]:
    """What this trace leaves out, the gravest first; empty where it shows all that its program did.

    A program that is linked statically leaves no trace at all.
    """
    names = {call.call for process in trace.processes for call, _ in weighted(process.body)}
    return (*_of_order(trace, names), *_of_calls(names), *_of_processes(trace))


def _of_order(trace: Trace, names: Set[str]) -> Iterator[Reason]:
    if not names:
        yield Reason.of(Code.TRACE_NO_CALLS)
    if cut := sum(not process.complete for process in trace.processes):
        yield Reason.of(Code.TRACE_CUT_SHORT, ranks=cut)
    if unordered := sum(not process.ordered and not process.threads for process in trace.processes):
        yield Reason.of(Code.TRACE_UNORDERED, ranks=unordered)
    if threaded := [sum(calls > 0 for calls in process.threads) for process in trace.processes if process.threads]:
        yield Reason.of(Code.TRACE_THREADS, ranks=len(threaded), threads=max(threaded))


def _of_calls(names: Set[str]) -> Iterator[Reason]:
    if any(map(_PARTITIONED.fullmatch, names)):
        yield Reason.of(Code.TRACE_PARTITIONS)
    if _SHARED in names:
        yield Reason.of(Code.TRACE_SHARED_WINDOWS)
    if worlds := [name for name in _WORLDS if name in names]:
        yield Reason.of(Code.TRACE_OTHER_WORLDS, calls=worlds)
    if played := sorted(filter(_STAND_INS.fullmatch, names - _not_played(names))):
        yield Reason.of(Code.TRACE_STAND_INS, calls=played)


def _not_played(names: Set[str]) -> Set[str]:
    """One-sided calls where there are no fences: then there is no skeleton at all."""
    return set() if _FENCE in names else {name for name in names if _ONE_SIDED.fullmatch(name)}


def _of_processes(trace: Trace) -> Iterator[Reason]:
    worked = sum(map(computing, trace.processes))
    children = sum(process.children for process in trace.processes)
    if children > _HELPED * worked:
        yield Reason.of(Code.TRACE_HELPERS, seconds=children)
    if library := next((process.gpu for process in trace.processes if process.gpu), ""):
        yield Reason.of(Code.TRACE_GPU, library=library)
    if (stored := sum(map(storing, trace.processes))) > _HELPED * trace.wall * trace.ranks:
        yield Reason.of(Code.TRACE_NO_FILES, seconds=stored / trace.ranks)
