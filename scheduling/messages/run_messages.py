"""What backends say of a run, and how one ended."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gridportal.base.reasons import Code, Reason
from gridportal.slurm.pending import explain
from scheduling.jobs.core.last_messages import NO_INTERPRETER
from scheduling.jobs.core.units import listed
from scheduling.messages.job_messages import LOG_SAYS
from scheduling.messages.parts import full_stop
from scheduling.messages.registry import message, plain, says

#: What happened, and what to do; the second is left out of what is told of an earlier attempt.
_CAUSES: dict[Code, tuple[str, str]] = {
    Code.NODES_PREPARED: ("Nodes are assigned and are being made ready", ""),
    Code.NODES_POWERED_UP: ("Nodes are assigned and are being switched on", ""),
    Code.REQUEUED: ("Slurm put the job back into the queue", "it will start again"),
    Code.REQUEUED_ELSEWHERE: ("Slurm put the job back into the queue of another cluster of the federation", ""),
    Code.REQUEUED_AND_HELD: ("Slurm put the job back and holds it", "release it to let it run"),
    Code.SPECIAL_EXIT: ("The job ended with a special exit code and is held", "release it to run it again"),
    Code.RESERVATION_DELETED: (
        "The job is held because its reservation was deleted",
        "choose another and resubmit",
    ),
    Code.CLEANING_UP: ("The job has ended and its nodes are being cleaned up", ""),
    Code.SUSPENDED: ("Slurm has suspended the job", "it goes on when it is resumed"),
    Code.STOPPED_BY_SIGNAL: ("The job was stopped by a signal and keeps its nodes", "it goes on after SIGCONT"),
    Code.RESIZING: ("The job is changing its size", ""),
    Code.COPYING_OUT: ("The job has ended and its files are being copied out", ""),
    Code.EXPEDITED: ("Slurm put the job back to start again with priority, after a node failed", ""),
    Code.JOB_CANCELLED: ("The job was cancelled", ""),
    Code.STOPPED_THERE: ("Cancelled", ""),
    Code.TIMED_OUT: ("The job reached its time limit", "ask for more time and resubmit"),
    Code.NODE_FAILED: ("A node of the job failed", "resubmit the job to run it elsewhere"),
    Code.NODE_NOT_BOOTED: ("A node of the job could not be started", "resubmit the job to run it elsewhere"),
    Code.NOT_LAUNCHED: (
        "Slurm could not launch the job on its nodes",
        "an administrator should see their logs",
    ),
    Code.NODE_NOT_RECONFIGURED: ("A node of the job could not be reconfigured", "resubmit the job"),
    Code.OUT_OF_MEMORY: ("The job used more memory than it asked for", "ask for more and resubmit"),
    Code.PREEMPTED: ("A job of higher priority took the nodes", "resubmit the job"),
    Code.NODES_PREEMPTED: ("A job of higher priority took its nodes", ""),
    Code.PUT_BACK: ("It was stopped and put back into the queue", ""),
    Code.DEADLINE: ("The job could not end before its deadline", ""),
    Code.REVOKED: ("The job runs on another cluster of the federation", ""),
    Code.GRID_ENDED: ("The Grid that ran it ended before it did", ""),
    Code.WATCHER_ENDED: ("What watched it was killed, or this machine was started anew, while it ran", ""),
}
_SIGNALS = {130: "interrupted", 134: "aborted", 137: "killed", 139: "a memory fault", 143: "terminated"}
_COLUMNS = re.compile(r"\S(?: {2,}|\t| \| )\S")
_DOES_NOT_START = {"No such file or directory": "does not exist", "Permission denied": "may not be executed"}

plain({code: f"{what}; {advice}." if advice else f"{what}." for code, (what, advice) in _CAUSES.items()})
plain({code: f"{what}." for code, (what, advice) in _CAUSES.items() if advice}, briefly=True)


@says(Code.OVER_TIME_LIMIT)
def _(limit: float) -> str:
    return f"It ran over its time limit of {limit:g} s and was stopped."


@says(Code.UNKNOWN_STATE)
def _(states: Sequence[str]) -> str:
    return f"Slurm says {' '.join(states) or 'nothing'}, which is not known here."


@says(Code.SLURM_WAITS)
def _(state: Reason, slurm_reason: str) -> str:
    return " ".join(filter(None, [message(state), explain(slurm_reason).sentence]))


@says(Code.BEHIND_JOBS)
def _(nodes: Sequence[str], jobs: Sequence[int]) -> str:
    first, more = ", ".join(nodes[:5]), len(nodes) - 5
    where = f"{first} and {more} more" if more > 0 else first
    ours = ("job " if len(jobs) == 1 else "jobs ") + ", ".join(map(str, jobs))
    who = ours if jobs else "jobs that are not the portal's"
    verb = "is" if len(nodes) == 1 else "are"
    return f"It waits behind {who}: {where} {verb} busy. It starts by itself."


@says(Code.RUN_STEP)
def _(run: int, before: str, now: str) -> str:
    if now == "missing":
        return f"Its backend does not know run {run} at the moment."
    return f"Its backend knows run {run} again: it is {now}." if before == "missing" else f"Run {run} is {now} now."


@says(Code.CLUSTER_AWAY)
def _(cluster: str, error: str) -> str:
    what = f"The cluster {cluster} does not answer; the job goes on there, and what became of it is seen"
    return f"{what} when the cluster is back. ({error})"


@says(Code.GRID_AWAY)
def _(error: str) -> str:
    return f"The Grid that it runs on does not answer; what became of it is seen when the Grid is back. ({error})"


@says(Code.FORGOTTEN_THERE)
def _(fault: str) -> str:
    lost = "Its cluster knows nothing of it any more, and it left no exit record; see its log and resubmit the job."
    return f"{lost} {fault}".strip()


@says(Code.GRID_RESTARTED)
def _(fault: str) -> str:
    return f"The Grid was restarted while the job ran on it; resubmit the job. {fault}".strip()


@says(Code.UNREADABLE)
def _(fault: str) -> str:
    return f"Its program ended with exit code 0, but its record of the end cannot be read: {fault}"


@says(Code.OUTPUT_SAYS_FAILURE)
def _(pattern: str, line: str) -> str:
    return f"A line of the program's output means failure: {line} (pattern: {pattern})"


@says(Code.OUTPUT_LACKS_SUCCESS)
def _(pattern: str, log: Sequence[str], *, wrote: bool) -> str:
    return f"{_lacks(pattern)}{_quoted(log, wrote=wrote)}"


@says(Code.OUTPUT_LACKS_SUCCESS, briefly=True)
def _(pattern: str, log: Sequence[str], *, wrote: bool) -> str:
    return _lacks(pattern) if log else f"{_lacks(pattern)}{_quoted(log, wrote=wrote)}"


@says(Code.OUTPUT_TOO_SLOW)
def _(pattern: str, seconds: float) -> str:
    return (
        f"Its output could not be checked: looking for the patterns takes more than {seconds:g} s of processor time, "
        f"most of it for {pattern}. An administrator should write that one more simply."
    )


@says(Code.ABORTED)
def _(line: str) -> str:
    return f"A rank called MPI_Abort, so the program has failed, although its exit code is 0.{LOG_SAYS}{line}"


@says(Code.ABORTED, briefly=True)
def _() -> str:
    return "A rank called MPI_Abort, so the program has failed, although its exit code is 0."


@says(Code.NO_PROGRAM)
def _(program: str, error: str, nodes: Sequence[str]) -> str:
    where = f" on {listed(nodes)}" if nodes else ""
    if error.startswith(NO_INTERPRETER):
        missing = error.removeprefix(NO_INTERPRETER)
        return f"The program {program} does not start{where}: its first line names {missing}, which does not exist."
    verb = _DOES_NOT_START.get(error)
    why = f"{verb}{where}" if verb else f"does not start{where}: {error}"
    return f"The program {program} {why}. Check its command, and that it is installed on every node."


@says(Code.ENDED)
def _(exit_code: int | None, verified: bool | None, why: Reason, fault: str, log: Sequence[str], *, wrote: bool) -> str:
    how = _how(exit_code, verified, why, fault)
    if log and why.code is Code.OVER_TIME_LIMIT:  # its lines tell how far it came, and of no failure
        return how if _is_head(log[-1]) else f"{how} The last line of its log: {log[-1]}"
    return how if fault and not log else f"{how}{_quoted(log, wrote=wrote)}"


@says(Code.ENDED, briefly=True)
def _(exit_code: int | None, verified: bool | None, why: Reason, fault: str, log: Sequence[str], *, wrote: bool) -> str:
    how = _how(exit_code, verified, why, fault)
    return how if log or fault else f"{how}{_quoted(log, wrote=wrote)}"


def _lacks(pattern: str) -> str:
    return f"The program ended, but no line of its output means success (pattern: {pattern})."


def _quoted(log: Sequence[str], *, wrote: bool) -> str:
    if log:
        return f"{LOG_SAYS}{' / '.join(log)}"
    return " It wrote nothing itself." if wrote else " Its log is empty."


def _is_head(line: str) -> bool:
    """Whether it names the columns of a table, of which no row came: words far apart and no figure."""
    return _COLUMNS.search(line) is not None and not any(letter.isdigit() for letter in line)


def _how(exit_code: int | None, verified: bool | None, why: Reason, fault: str) -> str:
    passed = " Its check passed before it failed." if verified else ""
    return f"{_ended(exit_code, verified, why)}{passed} {fault}".strip()


def _ended(exit_code: int | None, verified: bool | None, why: Reason) -> str:
    if why_text := message(why):
        return full_stop(why_text[0].upper() + why_text[1:])
    if exit_code == 0 and verified is False:
        return "The program ended, but its own verification failed."
    if exit_code is None:
        return "The program ended without saying how."
    signal = f" ({_SIGNALS[exit_code]})" if exit_code in _SIGNALS else ""
    return f"The program ended with exit code {exit_code}{signal}."


@says(Code.OVER_TIME_LIMIT, briefly=True)
def _(limit: float) -> str:
    return f"over its time limit of {limit:g} s"


@says(Code.STOPPED_THERE, briefly=True)
def _() -> str:
    return "cancelled"
