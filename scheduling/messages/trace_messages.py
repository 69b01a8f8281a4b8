"""What a trace cannot show of its program, and why a job left none."""

from __future__ import annotations

from collections.abc import Sequence

from gridportal.base.reasons import Code
from scheduling.jobs.core.units import listed, share_text
from scheduling.messages.parts import ranks_text
from scheduling.messages.parts import seconds as seconds_text
from scheduling.messages.registry import plain, says

_UNSEEN = "Its communication was not recorded: no rank called MPI_Init where the recording library could see it."
_WATCH = "If it runs without recording, watch its nodes instead: gridportal trace monitor."

plain(
    {
        Code.TRACE_NO_CALLS: (
            "Its ranks made no MPI call between MPI_Init and MPI_Finalize: it computes alone, or another program that "
            "it starts does the work."
        ),
        Code.TRACE_PARTITIONS: (
            "It sends partitioned messages: the trace shows each as one message, not when which part was ready."
        ),
        Code.TRACE_SHARED_WINDOWS: (
            "It shares memory between ranks (MPI_Win_allocate_shared): what they read and write there is no call, and "
            "stands in no trace."
        ),
        Code.TRACE_NO_LIBRARY: (
            "Its communication was not recorded: when it was started the portal could not build the recording library "
            "for its MPI. Install that MPI's compiler where the portal runs."
        ),
        Code.TRACE_NO_MPI: (
            f"{_UNSEEN} The program ended before it, uses no MPI, is linked with it statically, or its wrapper clears "
            f"LD_PRELOAD. {_WATCH}"
        ),
        Code.TRACE_NOT_SEEN: (
            f"{_UNSEEN} The program uses no MPI, is linked with it statically, or its wrapper clears LD_PRELOAD. "
            f"{_WATCH}"
        ),
    }
)


@says(Code.BOUND_BY_LATENCY)
def _(share: float, rate: float, size: float) -> str:
    return (
        f"It is bound by latency: each rank sends {rate:,.0f} messages a second of {size:,.0f} bytes on average, and "
        f"spends {share_text(share)} of its time in MPI. Short paths help it, wide ones do not: where "
        "latencies are known, ask for latency<=SECONDS between the nodes that talk (in the form under Node labels)."
    )


@says(Code.TRACE_SEVERAL)
def _(runs: int) -> str:
    return f"MPI was started {runs} times in this job; its profile is that of the run which ended last."


@says(Code.TRACE_CUT_SHORT)
def _(ranks: int) -> str:
    return f"{ranks_text(ranks)} ended without MPI_Finalize; the trace shows what was called before."


@says(Code.TRACE_UNORDERED)
def _(ranks: int) -> str:
    return (
        f"The calls of {ranks_text(ranks)} repeated too little to keep their order; how many there were and of which "
        "size is known."
    )


@says(Code.TRACE_THREADS)
def _(ranks: int, threads: int) -> str:
    if threads == 1:
        return f"The MPI calls of {ranks_text(ranks)} came from one thread, another than the one that called MPI_Init."
    return (
        f"At most {threads} threads of {ranks_text(ranks)} called MPI at a time: the calls of each are in their order, "
        "and how those of different threads lie between each other is not known."
    )


@says(Code.TRACE_OTHER_WORLDS)
def _(calls: Sequence[str]) -> str:
    return (
        f"It talks to other MPI programs or processes that it spawned ({listed(calls)}); neither these nor the "
        "messages to them are in the trace."
    )


@says(Code.TRACE_HELPERS)
def _(seconds: float) -> str:
    return f"Other processes that its ranks started worked for {seconds_text(seconds)}; the trace does not show them."


@says(Code.TRACE_GPU)
def _(library: str) -> str:
    return (
        f"It uses a GPU ({library}): work there counts as waiting, and messages between the memories of GPUs may take "
        "other ways than the network's."
    )


@says(Code.TRACE_STAND_INS)
def _(calls: Sequence[str]) -> str:
    return f"A skeleton plays ordinary messages and collectives in the place of {listed(calls)}."


@says(Code.TRACE_NO_FILES)
def _(seconds: float) -> str:
    return (
        f"On average a rank spent {seconds_text(seconds)} in reading and writing files with MPI; that counts as no "
        "communication, and a skeleton leaves it out."
    )


@says(Code.TRACE_INSIDE)
def _(inside: str) -> str:
    return (
        f"{_UNSEEN} Its program calls {inside} itself, and was started once for each rank. Let the application's "
        "launcher start the program itself."
    )


@says(Code.TRACE_COPIES)
def _(copies: int, ranks: int) -> str:
    return (
        f"Its communication was not recorded: MPI was started {copies} times in this job, and each process took itself "
        f"for a run of its own, not for one of {ranks} ranks. The launcher belongs to another MPI than the program, or "
        "the command calls mpirun itself. Give the application the launcher of its MPI, and the program itself as its "
        "command."
    )


@says(Code.TRACE_OTHER_RANKS)
def _(found: int, ranks: int) -> str:
    return (
        f"Its communication was not recorded: MPI ran with {ranks_text(found)} in this job, which has {ranks}. The "
        "command calls mpirun itself, or the launcher is another MPI's; let the application's launcher start the ranks."
    )


@says(Code.TRACE_INCOMPLETE)
def _(found: int, ranks: int) -> str:
    left = f"{found} of {ranks_text(ranks)} left a trace. The others" if found else "no rank left a trace. They"
    return (
        f"Its communication was not recorded: {left} were ended before they could write it, or could not write into "
        "the run directory."
    )


@says(Code.TRACE_UNREADABLE)
def _(error: str) -> str:
    return f"Its communication was not recorded: {error}"
