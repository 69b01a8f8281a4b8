"""Trying candidate groups with a skeleton: while it goes on, why each was taken or left, what it cost and won."""

from __future__ import annotations

from collections.abc import Sequence

from gridportal.base.rank_places import in_short
from gridportal.base.reasons import Code, Reason
from scheduling.jobs.core.units import share_text
from scheduling.messages.parts import full_stop, minute, ranks_text, seconds
from scheduling.messages.registry import brief, message, plain, says

_s = seconds
#: From so many seconds on an overrun is told.
_TOLD = 0.01
plain(
    {
        Code.TRIAL_LOST: (
            "Its worker was lost several times while its skeleton ran; resubmit it without one, or ask an operator."
        ),
        Code.JOB_OVER: "the job is over",
        Code.SLOWER_ALREADY: "it is slower already",
        Code.ANOTHER_TAKEN: "another group was taken",
        Code.TRIAL_WORKER_LOST: "its worker was lost several times",
        Code.NODES_NOT_FREE: "its nodes were not all free",
        Code.SKELETON_FORGOTTEN: "its backend has forgotten it",
        Code.PLAYED_IN_PYTHON: "Python plays it with the portal's own MPI, as the program itself runs.",
    }
)


@says(Code.TRIAL_AWAITS)
def _(groups: int, until: str) -> str:
    return (
        f"Its {groups} groups are tried: take one of them. It keeps their nodes meanwhile. Without a choice it starts "
        f"at {minute(until)} on the group that its skeleton found fastest."
    )


@says(Code.SKELETON_NOT_BUILT)
def _(error: str) -> str:
    return error


@says(Code.SKELETON_BUILD_FAILED)
def _(error: str) -> str:
    return f"Building it failed with {error}; the portal's log says more."


@says(Code.PROGRAM_WAITS)
def _(share: float) -> str:
    return (
        f"This program waits for {share_text(share)} of its time outside MPI: it sleeps, or waits for files or "
        "other programs. A skeleton only computes and sends messages, so it cannot show this time, and its "
        "predictions may be far off."
    )


@says(Code.PLAYED_IN_C)
def _(mpi: str) -> str:
    return f"It is played in C with the program's own MPI, {mpi}."


@says(Code.PLAYED_BY_PORTAL)
def _(error: str) -> str:
    return (
        "Python plays it with the portal's own MPI, so its predictions may be far off: the program's MPI has other "
        f"collective algorithms and limits, and no player could be built for it. ({error})"
    )


@says(Code.TRIAL_RUNNING)
def _(groups: int, over: int) -> str:
    done = f", {over} of which {'is' if over == 1 else 'are'} done" if over else ""
    if not groups:  # of a job whose worker has not counted them yet
        return "Its skeleton runs on the candidate groups."
    return f"Its skeleton runs on {groups} candidate groups{done}; the job starts on the one where it is fastest."


@says(Code.TRIAL_SILENT)
def _(error: str) -> str:
    return f"Its cluster does not answer while its skeleton runs on the candidate groups; it goes on then. ({error})"


@says(Code.TRIAL_PLANNED)
def _(groups: int, budget: float) -> str:
    which = f"two or more of {groups}" if groups > 2 else "two"
    would = f"Its skeleton would first run on {which} groups, in {seconds(budget)}"
    return f"{would}, and the job would start where it is fastest."


@says(Code.TRIAL_TOO_SHORT)
def _(needed: float, budget: float, application: float, *, ahead: bool) -> str:
    return (
        f"Its skeleton {_not_run(ahead)}: on two groups it takes {seconds(needed)} with its starts, and a trial for an "
        f"application of {seconds(application)} may take {seconds(budget)}."
    )


@says(Code.TRIAL_ONE_GROUP)
def _(*, ahead: bool) -> str:
    there = "is" if ahead else "was"
    return f"Its skeleton {_not_run(ahead)}: there {there} only one group of free nodes to compare."


@says(Code.NO_SKELETON)
def _(ranks: int) -> str:
    return f"There is no skeleton for these parameters on {ranks_text(ranks)}, so the network alone chooses."


@says(Code.SKELETON_IMPOSSIBLE)
def _(ranks: int, why: Reason) -> str:
    made = f"No skeleton could be made for these parameters on {ranks_text(ranks)}, so the network alone chooses"
    return f"{made}: {full_stop(message(why))}"


@says(Code.TRIED)
def _(
    nodes: Sequence[str],
    by: str,
    groups: int,
    ended: int,
    compared: int,
    spent: float,
    budget: float,
    predicted: float | None,
    selection: float | None,
    why: Reason,
) -> str:
    ran = _Ran(groups, ended, compared, seconds(spent))
    found = f"{_found(in_short(nodes, ', '), by, ran, predicted, selection)}{over_budget(spent, budget)}"
    return f"{found} {message(why)}".strip()


@says(Code.GROUP_TAKEN)
def _(nodes: Sequence[str], person: str, why: Reason) -> str:
    return f"{in_short(nodes, ', ')} taken by {person}: {message(why)}"


@says(Code.TRIAL_TIME)
def _(allowed: float) -> str:
    return f"its share of the time, {seconds(allowed)}, was used up" if allowed else "no time was left"


@says(Code.TAKES_AT_LEAST)
def _(seconds: float) -> str:
    return f"it takes {seconds:.3g} s there at least"


@says(Code.TO_BE_EXPECTED)
def _(seconds: float) -> str:
    return f"{seconds:.3g} s or more are to be expected there"


@says(Code.TAKEN_EARLY)
def _(person: str) -> str:
    return f"taken by {person} before its skeleton ended"


@says(Code.SKELETON_REFUSED)
def _(error: str) -> str:
    return f"it could not be started: {error}"


@says(Code.SKELETON_ENDED)
def _(exit_code: int | None, why: Reason, log: Sequence[str]) -> str:
    short = why.code in (Code.OVER_TIME_LIMIT, Code.STOPPED_THERE)
    how = (brief(why) if short else message(why)).rstrip(".")
    how = how or (f"it ended with {exit_code}" if exit_code is not None else "it ended without saying how")
    return f"{how}{'; its log says: ' + ' / '.join(log) if log else ''}"


@says(Code.PREDICTED)
def _(seconds: float, more: float | None) -> str:
    predicts = f"its skeleton predicts {_s(seconds)}"
    return predicts if more is None else f"{predicts}, {_s(abs(more))} {'more' if more >= 0 else 'less'}"


@says(Code.NOT_PREDICTED)
def _(state: str, why: Reason) -> str:
    how = {"failed": "failed", "stopped": "was stopped"}.get(state, "was not run")
    return f"its skeleton {how}{': ' + message(why) if why else ''}"


@says(Code.TAKEN_ANYHOW)
def _(person: str, why: Reason) -> str:
    return f"taken by {person}; {message(why)}"


def over_budget(spent: float, budget: float) -> str:
    """A sentence for what a trial took more than it might, with a space before it; empty where it kept to it."""
    more = spent - budget
    return f" The trial took {_s(more)} more than its {_s(budget)}." if more >= _TOLD else ""


def outcome(took: float, predicted: float) -> str:
    """What was predicted beside what it took on the group that was taken.

    >>> outcome(73.0, 67.2)
    'It took 73 s there; its skeleton predicted 67.2 s, 8 % less.'
    """
    share = round(100 * abs(predicted / took - 1)) if took > 0 else 0
    apart = f"{share} % {'less' if predicted < took else 'more'}" if share else "the same within 1 %"
    return f"It took {_s(took)} there; its skeleton predicted {_s(predicted)}, {apart}."


class _Ran:
    """On how many groups the skeleton was to run, came to its end, and can be compared; and in what time."""

    def __init__(self, groups: int, ended: int, compared: int, spent: str) -> None:
        self.groups, self.compared, self.spent, self.any_ended = groups, compared, spent, bool(ended)
        self.count = f"{groups} group{'s' if groups != 1 else ''}"
        self.summary = f"of {self.count} the skeleton ended on {ended} in {spent}"


def _found(names: str, by: str, ran: _Ran, predicted: float | None, selection: float | None) -> str:
    prediction = f": {_s(predicted)} predicted" if predicted is not None else ""
    if by == "selection" and not ran.any_ended:
        return f"{names} taken, the selection's first choice: no skeleton ended in {ran.spent}."
    if by == "selection":
        return f"{names} taken, the selection's first choice: {ran.summary}, so there is nothing to compare."
    if by != "skeleton":
        return f"{names} taken by {by}{prediction}; {ran.summary}."
    if not ran.compared:
        return f"{names} taken{prediction}; {ran.summary}, so there is nothing to compare."
    count = ran.count if ran.compared == ran.groups else f"{ran.compared} of {ran.count}"
    head = f"{names} taken{prediction}; the skeleton compared {count} in {ran.spent}"
    if selection is None or predicted is None:
        return f"{head}; how long the selection's own choice takes is not known."
    if selection > predicted:
        return f"{head} and won {_s(selection - predicted)} over the selection alone."
    return f"{head} and confirmed the selection's choice."


def _not_run(ahead: bool) -> str:
    return "would not be run" if ahead else "was not run"
