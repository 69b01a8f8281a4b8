"""What is told of a trial: while it goes on, why each group was taken or left, and what it cost and won."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def going_on(groups: int, over: int) -> str:
    """Where a job is that tries its groups.

    >>> going_on(3, 1)
    'Its skeleton runs on 3 candidate groups, 1 of which is done; the job starts on the one where it is fastest.'
    """
    done = f", {over} of which {'is' if over == 1 else 'are'} done" if over else ""
    return f"Its skeleton runs on {groups} candidate groups{done}; the job starts on the one where it is fastest."


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
    """Why a group was taken or left. `tried`, `taken`: {"state", "predicted", "reason"} of it and of the one taken;
    `person`: who took that, empty when nobody did.

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
        early = taken_early(person)
        return early if tried.get("reason") == early else f"taken by {person}; {why}"
    words = f"its skeleton predicts {_s(seconds)}"
    if best is None or tried is taken:
        return words
    more = seconds - best
    return f"{words}, {_s(abs(more))} {'more' if more >= 0 else 'less'}"


def finding(
    nodes: Sequence[str], by: str, tried: int, spent: float, predicted: float | None, selection: float | None
) -> str:
    """What was taken, what the trial cost and what it won. `by`: skeleton, selection (when no skeleton told anything),
    or the name of a person; `selection`: seconds predicted for the selection's own choice, None when unknown.

    >>> finding(["n1", "n2"], "skeleton", 3, 4.2, 40.0, 52.0)
    'n1, n2 taken: 40 s predicted; the skeleton ran on 3 groups in 4.2 s and won 12 s over the selection alone.'
    >>> finding(["n1", "n2"], "skeleton", 3, 4.2, 40.0, 40.0)
    "n1, n2 taken: 40 s predicted; the skeleton ran on 3 groups in 4.2 s and confirmed the selection's choice."
    """
    names = ", ".join(nodes)
    groups = f"{tried} group{'s' if tried != 1 else ''}"
    if by == "selection":
        return f"{names} taken as the selection has it: no skeleton came to its end in {_s(spent)}."
    known = f": {_s(predicted)} predicted" if predicted is not None else ""
    if by != "skeleton":
        return f"{names} taken by {by}{known}; the skeleton ran on {groups} in {_s(spent)}."
    head = f"{names} taken{known}; the skeleton ran on {groups} in {_s(spent)}"
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
