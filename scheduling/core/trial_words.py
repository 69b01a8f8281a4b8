"""What is told of a trial: while it goes on, why each group was taken or left, and what it cost and won."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduling.core.trial_budget import Account, Cause

#: From so many seconds on an overrun is told.
_TOLD = 0.01


def going_on(groups: int, over: int) -> str:
    """Where a job is that tries its groups.

    >>> going_on(3, 1)
    'Its skeleton runs on 3 candidate groups, 1 of which is done; the job starts on the one where it is fastest.'
    """
    done = f", {over} of which {'is' if over == 1 else 'are'} done" if over else ""
    return f"Its skeleton runs on {groups} candidate groups{done}; the job starts on the one where it is fastest."


def ahead(groups: int, budget: float) -> str:
    """What a trial would be, before the job is submitted.

    >>> ahead(3, 4.34)
    'Its skeleton would first run on two or more of 3 groups, in 4.34 s, and the job would start where it is fastest.'
    """
    which = f"two or more of {groups}" if groups > 2 else "two"
    return (
        f"Its skeleton would first run on {which} groups, in {_s(budget)}, and the job would start where it is fastest."
    )


def too_short(needed: float, budget: float, application: float) -> str:
    """Why no group is tried; all in seconds.

    >>> too_short(6.0, 1.0, 10.0)
    'Its skeleton was not run: on two groups it takes 6 s, and a trial for an application of 10 s may take 1 s.'
    """
    return (
        f"Its skeleton was not run: on two groups it takes {_s(needed)}, and a trial for an application of "
        f"{_s(application)} may take {_s(budget)}."
    )


def out_of_time(allowed: float) -> str:
    """Why a skeleton was stopped, or not run with nothing left.

    >>> out_of_time(2.17), out_of_time(0)
    ('its part of the time, 2.17 s, was over', 'no time was left')
    """
    return f"its part of the time, {_s(allowed)}, was over" if allowed else "no time was left"


def silent(error: str) -> str:
    """The cluster does not answer in the midst of it."""
    return f"Its cluster does not answer while its skeleton runs on the candidate groups; it goes on then. ({error})"


def missing(ranks: int) -> str:
    """Why none is tried for a job that was to be placed by one."""
    nodes = f"{ranks} node{'s' if ranks != 1 else ''}"
    return f"There is no skeleton for these parameters on {nodes}, so the network alone chooses."


def taken_early(person: str) -> str:
    """Why the skeleton on a group did not end that a person took."""
    return f"taken by {person} before its skeleton ended"


def group_reason(tried: Mapping[str, Any], taken: Mapping[str, Any], *, selected: str, person: str = "") -> str:
    """Why a group was taken or left. `tried`, `taken`: {"state", "cause", "predicted", "reason"} of it and of the one
    taken; `person`: who took that, empty when nobody did.

    >>> one = {"state": "done", "predicted": 12.0, "reason": ""}
    >>> group_reason(one, one, selected="it is wide")
    'its skeleton predicts 12 s'
    >>> group_reason({**one, "predicted": 15.0}, one, selected="it is wide")
    'its skeleton predicts 15 s, 3 s more'
    >>> group_reason({**one, "state": "skipped", "predicted": None, "reason": "no time was left"}, one, selected="")
    'its skeleton was not run: no time was left'
    """
    seconds, best = tried.get("predicted"), taken.get("predicted")
    if seconds is None:
        word = {"failed": "failed", "stopped": "was stopped"}.get(str(tried.get("state")), "was not run")
        why = f"its skeleton {word}{': ' + tried['reason'] if tried.get('reason') else ''}"
        if not person or tried is not taken:
            return why
        return taken_early(person) if tried.get("cause") == Cause.TAKEN else f"taken by {person}; {why}"
    words = f"its skeleton predicts {_s(seconds)}"
    if best is None or tried is taken:
        return words
    more = seconds - best
    return f"{words}, {_s(abs(more))} {'more' if more >= 0 else 'less'}"


def finding(nodes: Sequence[str], by: str, found: Account, predicted: float | None, selection: float | None) -> str:
    """What was taken, what the trial cost and what it won. `by`: skeleton, selection (when nothing could be compared),
    or the name of a person; `selection`: seconds predicted for the selection's own choice, None when unknown.

    >>> finding(["n1", "n2"], "skeleton", Account(3, 3, 3, 3, 4.2, 6.0), 40.0, 52.0)
    'n1, n2 taken: 40 s predicted; the skeleton compared 3 groups in 4.2 s and won 12 s over the selection alone.'
    >>> finding(["n1", "n2"], "skeleton", Account(3, 2, 2, 2, 4.2, 6.0), 40.0, 40.0)
    "n1, n2 taken: 40 s predicted; the skeleton compared 2 of 3 groups in 4.2 s and confirmed the selection's choice."
    >>> finding(["n1", "n2"], "selection", Account(3, 2, 1, 0, 4.2, 4.0), 40.0, 40.0)
    'n1, n2 taken as the selection has it: of 3 groups the skeleton ended on 1 in 4.2 s, which compares nothing. \
The trial took 0.2 s more than its 4 s.'
    """
    return f"{_finding(', '.join(nodes), by, found, predicted, selection)}{over_budget(found.spent, found.budget)}"


def over_budget(spent: float, budget: float) -> str:
    """A sentence for what a trial took more than it might, with a space before it; empty where it kept to it."""
    more = spent - budget
    return f" The trial took {_s(more)} more than its {_s(budget)}." if more >= _TOLD else ""


def _finding(names: str, by: str, found: Account, predicted: float | None, selection: float | None) -> str:
    spent, groups = _s(found.spent), f"{found.groups} group{'s' if found.groups != 1 else ''}"
    ended = f"of {groups} the skeleton ended on {found.ended} in {spent}"
    known = f": {_s(predicted)} predicted" if predicted is not None else ""
    if by == "selection" and not found.ended:
        return f"{names} taken as the selection has it: no skeleton came to its end in {spent}."
    if by == "selection":
        return f"{names} taken as the selection has it: {ended}, which compares nothing."
    if by != "skeleton":
        return f"{names} taken by {by}{known}; {ended}."
    if not found.compared:
        return f"{names} taken{known}; {ended}, which compares nothing."
    count = groups if found.compared == found.groups else f"{found.compared} of {groups}"
    head = f"{names} taken{known}; the skeleton compared {count} in {spent}"
    if selection is None or predicted is None:
        return f"{head}; what the selection's own choice takes was not found out."
    if selection > predicted:
        return f"{head} and won {_s(selection - predicted)} over the selection alone."
    return f"{head} and confirmed the selection's choice."


def outcome(took: float, predicted: float) -> str:
    """What was predicted beside what it took on the group that was taken.

    >>> outcome(73.0, 67.2)
    'It took 73 s there; its skeleton predicted 67.2 s, 8 % less.'
    """
    share = round(100 * abs(predicted / took - 1)) if took > 0 else 0
    apart = f"{share} % {'less' if predicted < took else 'more'}" if share else "the same to the per cent"
    return f"It took {_s(took)} there; its skeleton predicted {_s(predicted)}, {apart}."


def _s(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 100 else f"{seconds:.3g} s"
