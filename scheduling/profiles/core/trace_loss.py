"""Why the files that the ranks of a job left are no trace of it, as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gridportal.base.reasons import NOTHING, Code, Reason


def loss(documents: Sequence[Any], copies: int, ranks: int, *, begun: bool = False, unseen: Reason = NOTHING) -> Reason:
    """Why there is no trace of a job of `ranks` ranks; none where there is one.

    `documents`: of the ranks that left a file; `copies`: how many more processes were one of these ranks; `begun`:
    whether a rank was seen to begin MPI; `unseen`: why none may have been.

    >>> loss([{"ranks": 1}], 3, 4).facts, loss([{"ranks": 2}] * 2, 0, 2) == NOTHING
    ({'copies': 4, 'ranks': 4}, True)
    """
    if not documents:
        return Reason.of(Code.TRACE_INCOMPLETE, found=0, ranks=ranks) if begun else unseen or why_unseen(None)
    found = _ranks(documents[0])
    if found == 1 < ranks and copies:
        return Reason.of(Code.TRACE_COPIES, copies=copies + 1, ranks=ranks)
    if found is not None and found != ranks:
        return Reason.of(Code.TRACE_OTHER_RANKS, found=found, ranks=ranks)
    if len(documents) < ranks:
        return Reason.of(Code.TRACE_INCOMPLETE, found=len(documents), ranks=ranks)
    return NOTHING


def why_unseen(exit_code: int | None, inside: str = "") -> Reason:
    """Why no rank of a program that ended with this code began MPI. `inside`: what it starts ranks with by itself.

    >>> why_unseen(0).code.value, why_unseen(5).code.value, why_unseen(1, "mpirun").facts
    ('trace_not_seen', 'trace_no_mpi', {'inside': 'mpirun'})
    """
    if inside:
        return Reason.of(Code.TRACE_INSIDE, inside=inside)
    return Reason.of(Code.TRACE_NOT_SEEN if exit_code == 0 else Code.TRACE_NO_MPI)


def remark(copies: int, ranks: int) -> Reason:
    """What is odd about a trace that there is: it is one of several.

    >>> remark(0, 4) == NOTHING, remark(8, 4).facts
    (True, {'runs': 3})
    """
    return Reason.of(Code.TRACE_SEVERAL, runs=1 + -(-copies // ranks)) if copies else NOTHING


def _ranks(document: Any) -> int | None:
    """The size of the world that a rank knew; None for a damaged file."""
    ranks = document.get("ranks") if isinstance(document, Mapping) else None
    return ranks if type(ranks) is int else None
