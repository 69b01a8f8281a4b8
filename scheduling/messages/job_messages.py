"""Why a job waits, what becomes of it before it runs, and who did what to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gridportal.base.name_lists import all_listed
from gridportal.base.rank_places import distinct, in_short
from gridportal.base.reasons import Code, Reason
from scheduling.jobs.core.units import rate_text, share_text
from scheduling.messages.parts import closed_nodes, full_stop, jobs, minute, nodes, second, until_they_end
from scheduling.messages.parts import seconds as span
from scheduling.messages.registry import brief, message, plain, says

LOG_SAYS = " Its log says: "
plain(
    {
        Code.NONE: "",
        Code.ENOUGH_FREE: "Enough nodes are free now; it is tried again within seconds.",
        Code.NODES_TAKEN: "Other jobs took the chosen nodes first each time; it is tried again within seconds.",
        Code.ACCEPTED: "Accepted; a worker starts on it within seconds. If not, ask an operator to check the workers.",
        Code.MEASURING: "Its nodes are being chosen by the newest figures of the cluster.",
        Code.BEING_STARTED: "The nodes are chosen; the program is being started on them.",
        Code.AFTER_JOBS_OVER: "The jobs that it waited for have ended; its nodes are chosen next.",
        Code.FREE_NOW: "What it needs is free now.",
        Code.WORKER_LOST: "Its worker was lost; it is placed again.",
        Code.IN_QUEUE_AGAIN: "It is in the queue again and starts by itself when its nodes are free.",
        Code.SUBMITTED_AGAIN: "Its cluster lost it before it began, so it is submitted again under the same name.",
        Code.CANCELLED_THERE: "Cancelled in the cluster itself, by its owner's or an administrator's command.",
        Code.VERIFIED: "Verified by the program's own check.",
    }
)


@says(Code.PLAIN_TEXT)
def _(text: str) -> str:
    return text


@says(Code.PLAIN_TEXT_WITH_LOG)
def _(text: str, log: str) -> str:
    return f"{text}{LOG_SAYS}{log}"


@says(Code.PLAIN_TEXT_WITH_LOG, briefly=True)
def _(text: str) -> str:
    return text


@says(Code.TOO_FEW_FREE)
def _(needed: int, free: int, total: int, holders: Sequence[int], more: int) -> str:
    have = f"{free} of {total} {'is' if free == 1 else 'are'} free"
    alone = len(holders) + more == 1
    ends = until_they_end(holders, more) if alone else "enough of them end"
    who = f"{jobs(holders, more)} {'holds' if alone else 'hold'} {_the_rest(free)}"
    return f"Needs {nodes(needed, 'free node')}; {have}. {who}; this job is tried again when {ends}."


@says(Code.TOO_FEW_CPUS)
def _(needed: int, free: int, total: int, holders: Sequence[int], more: int) -> str:
    have = f"{free} of {total} {'is' if free == 1 else 'are'} free"
    alone = len(holders) + more == 1
    ends = until_they_end(holders, more) if alone else "enough of them end"
    who = f"{jobs(holders, more)} {'has' if alone else 'have'} {_the_rest(free)}"
    return f"Needs {needed} processor{'' if needed == 1 else 's'}; {have}. {who}; this job is tried again when {ends}."


@says(Code.NOT_AMONG_FREE)
def _(why: Reason, holders: Sequence[int], more: int) -> str:
    ends = until_they_end(holders, more)
    return f"{full_stop(message(why))} Only the free nodes were looked at; this job is tried again when {ends}."


@says(Code.NOT_NOW)
def _(why: Reason, min_bandwidth: float | None, min_cpu: float | None) -> str:
    change = [f"lower {each}" for each in _lowerable(min_bandwidth, min_cpu)]
    advice = f" To start it sooner, cancel it and resubmit with: {' or '.join(change)}." if change else ""
    return f"{full_stop(message(why))} It is tried again whenever there are new figures.{advice}"


@says(Code.OUT_OF_REACH)
def _(why: Reason, min_bandwidth: float | None, min_cpu: float | None) -> str:
    change = [f"lower {each}" for each in _lowerable(min_bandwidth, min_cpu)]
    advice = f" To start now: {' or '.join(change)}." if change else ""
    return f"{full_stop(message(why))} The job would wait until new figures allow it.{advice}"


@says(Code.NODES_BUSY)
def _(nodes: Sequence[str], holders: Sequence[int], more: int) -> str:
    names = list(distinct(nodes))
    plural = "s" if len(names) > 1 else ""
    ends = until_they_end(holders, more)
    return f"It waits for {all_listed(names)}, the best node{plural} for it; this job is tried again when {ends}."


@says(Code.NODES_CLOSED)
def _(closed: Mapping[str, str], more: int) -> str:
    shown = " ".join(f"{node}: {full_stop(why)}" for node, why in closed.items())
    others = f" And {more} more." if more else ""
    return f"Too few nodes take jobs now. {shown}{others} It is tried again when they are back."


@says(Code.BEHIND)
def _(named: Sequence[int], more: int) -> str:
    verb = "is" if len(named) + more == 1 else "are"
    return f"{jobs(named, more)} came first and {verb} being placed; this one is next."


@says(Code.KEPT_FOR)
def _(job: int, needed: int, start: str | None) -> str:
    if start is None:
        return (
            f"Job {job} came first, needs {nodes(needed)} and has waited long: the free ones are kept for it, "
            "and this job is next."
        )
    return (
        f"Job {job} came first and gets {nodes(needed)} by {minute(start)}; "
        "a job with a time limit that ends before then could start now."
    )


@says(Code.IN_LINE)
def _(older: int) -> str:
    verb = "job that waits" if older == 1 else "jobs that wait"
    return f"{older} {verb} came before it and {'is' if older == 1 else 'are'} tried first."


@says(Code.MAPPER_ASKED)
def _(mapper: str) -> str:
    return f"Its mapper {mapper} takes its time; other jobs are placed meanwhile. It goes on soon after the answer."


@says(Code.AFTER_JOBS)
def _(waits_for: Sequence[Mapping[str, Any]], more: int) -> str:
    parts = [f"job {each['job']}{_state_of(each)}{' to succeed' * each['has_to_succeed']}" for each in waits_for]
    return f"Waiting for {all_listed([*parts, *([f'{more} more'] if more else [])])}."


def _state_of(other: Mapping[str, Any]) -> str:
    """Nothing of a job that its owner shows no more."""
    return f" ({other['state']})" if other["state"] else ""


@says(Code.AFTER_NEVER)
def _(job: int, state: str) -> str:
    became = "was cancelled" if state == "cancelled" else state or "did not"
    return f"It was to start only if job {job} succeeded, and job {job} {became}. Resubmit it to start it anyway."


@says(Code.NOT_MEASURED)
def _(cluster: str) -> str:
    return f"{cluster or 'The emulated Grid'} has not answered yet; nodes are chosen once it does."


@says(Code.BUSY_IN_QUEUE)
def _(cluster: str, start: str | None) -> str:
    when = f"they should be free at {minute(start)}" if start else "nobody knows how long"
    return f"Its nodes are busy, and it would wait for them in the queue of {cluster}: {when}."


@says(Code.WORKER_SILENT)
def _(since: str, until: str, *, gives_up: bool) -> str:
    silent = f"Its worker has not reported since {second(since)}. If it stays silent,"
    if gives_up:
        return f"{silent} the job is given up at {second(until)}, for workers were lost over it before."
    return f"{silent} another takes over at {second(until)}."


@says(Code.WORKER_LOST_PLACING)
def _(times: int) -> str:
    return f"Its worker was lost {times} times while placing it; resubmit it, or ask an operator for the log."


@says(Code.IMPOSSIBLE)
def _(error: str) -> str:
    return f"{error} Resubmit it with that changed."


@says(Code.CHOSEN)
def _(nodes: Sequence[str], method: str, why: Reason) -> str:
    return f"{in_short(nodes, ', ')} chosen by {method}: {full_stop(message(why))}"


@says(Code.CLUSTER_SILENT)
def _(cluster: str, error: str) -> str:
    return (
        f"The cluster {cluster} does not answer; the job is tried again every few seconds and starts once it does, "
        f"once only. An operator can see to it. ({full_stop(error)})"
    )


@says(Code.GRID_SILENT)
def _(error: str) -> str:
    return (
        "The emulated Grid does not answer; the job is tried again every few seconds and starts once it does. "
        f"An operator can start it with `gridportal testbed up`. ({full_stop(error)})"
    )


@says(Code.NO_ROOM)
def _(error: str) -> str:
    return f"There is no room for its run directory: {error} It is tried again every few seconds."


@says(Code.NO_DIRECTORY)
def _(error: str) -> str:
    return f"Its run directory cannot be made: {error} It is tried again every few seconds."


@says(Code.NOT_STARTED)
def _(error: str) -> str:
    return f"The run could not be started: {error} Resubmit the job; nodes will be chosen again."


@says(Code.LATER)
def _(error: str) -> str:
    return error


@says(Code.QUEUED_THERE)
def _(cluster: str, restarted: Reason, why: Reason, start: str | None, another_day: bool) -> str:
    known = " ".join(filter(None, [brief(restarted), message(why)]))
    expected = f"Expected to start at {minute(start, with_day=another_day)}." if start else ""
    return " ".join(filter(None, [f"In the queue of {cluster}.", full_stop(known), expected]))


@says(Code.RECALLED)
def _(cluster: str, closed: Mapping[str, str]) -> str:
    return f"It is taken out of the queue of {cluster}, to be placed on other nodes{closed_nodes(closed)}"


@says(Code.PLACED_ANEW)
def _(nodes: Sequence[str], closed: Mapping[str, str]) -> str:
    return f"Other nodes than {' '.join(distinct(nodes))} are chosen for it{closed_nodes(closed)}"


@says(Code.HELD_BY)
def _(person: str) -> str:
    return f"Held by {person}; release it to let it start."


@says(Code.RELEASED_BY)
def _(person: str) -> str:
    return f"Released by {person}."


@says(Code.REQUEUED_BY)
def _(person: str) -> str:
    return f"Put back into the queue by {person}."


@says(Code.CONTRACT_REJECTED)
def _(nodes: Sequence[str], seconds: float, limit: float, model: str) -> str:
    return (
        f"No contract: on {in_short(nodes)} it would take about {span(seconds)} by the model {model}, and its time "
        f"limit is {span(limit)}. It is tried again whenever there are new figures. To start it now, cancel it and "
        "resubmit it with a longer time limit."
    )


@says(Code.CONTRACT_BROKEN)
def _(phase: str, promised: float, seconds: float, average: float) -> str:
    if average <= 1:
        return (
            f"It slows down: it was faster than promised before, and now {phase} takes {span(seconds)} where "
            f"{span(promised)} were promised. The rescheduler is called."
        )
    return (
        f"It gets less than it was promised: {phase} takes {span(seconds)} in place of {span(promised)}, and all "
        f"phases so far took {average:.1f} times as long as promised. The rescheduler is called."
    )


@says(Code.CONTRACT_OVERDUE)
def _(phase: str, promised: float, seconds: float, average: float) -> str:
    nothing = f"it has reported nothing for {span(seconds)}, and a report was due after {span(promised)} at most"
    if average <= 1:
        return f"It slows down: it was faster than promised before, now {nothing}. The rescheduler is called."
    return (
        f"It gets less than it was promised: {nothing}; all phases so far took at least {average:.1f} times as long as "
        "promised. The rescheduler is called."
    )


@says(Code.CANCELLED_BY)
def _(person: str) -> str:
    return f"Cancelled by {person}."


@says(Code.CANCELLED_EARLY)
def _(person: str) -> str:
    return f"Cancelled by {person or 'the portal'} before it started."


@says(Code.CANCELLED_RUNNING)
def _(person: str) -> str:
    return f"Cancelled by {person or 'the portal'} while it was running."


def _lowerable(min_bandwidth: float | None, min_cpu: float | None) -> list[str]:
    """The limits that a person may lower, with their values."""
    limits = [f"minimum bandwidth (now {rate_text(min_bandwidth)})"] if min_bandwidth else []
    return [*limits, f"minimum cpu (now {share_text(min_cpu)})"] if min_cpu else limits


def _the_rest(free: int) -> str:
    """What jobs hold, beside what is free: with nothing free there are no others."""
    return "the others" if free else "them"
