"""What a comparison shows, in sentences that can be quoted."""

from __future__ import annotations

from collections.abc import Sequence

from gridportal.web.templatetags.units import duration
from scheduling.pages.comparison import ComparedRun

#: Times that differ by less than this are called equal: one run varies as much by chance.
_EQUAL = 0.02
_MOST_NAMED = 4


def finding(runs: Sequence[ComparedRun]) -> str:
    """Which was the fastest, and how much longer the others took; or why nothing can be said.

    Goes by the program's own time where all tell it, else by the time from start to end. Says nothing of runs that are
    of another program or cluster, or of other parameters or another number of nodes than most.
    """
    usable = _alike([each for each in runs if each.has_result])
    if len(usable) < 2:
        return _missing(runs)
    by_program = all(each.seconds for each in usable)
    times = {at: (each.seconds if by_program else each.elapsed) or 0.0 for at, each in enumerate(usable)}
    first, *others = sorted(times, key=lambda at: times[at])
    best = times[first]
    slower = [at for at in others if times[at] > best * (1 + _EQUAL)]
    if not slower:
        return f"All took the same time, {duration(best)}, within {_EQUAL:.0%}."
    rest = ", ".join(_longer(usable[at], times[at], best) for at in slower)
    return f"{_start(_with_method(usable[first]))} was fastest: {duration(best)}. {_start(rest)}."


def _alike(runs: Sequence[ComparedRun]) -> list[ComparedRun]:
    """Those that differ in nothing but how their nodes were chosen; of several such groups the largest."""
    groups: dict[str, list[ComparedRun]] = {}
    for each in runs:
        groups.setdefault(each.conditions, []).append(each)
    return max(groups.values(), key=len, default=[])


def reservations(runs: Sequence[ComparedRun], differs: Sequence[str]) -> list[str]:
    """What to keep in mind beside the finding."""
    said = [_why_left_out(each) for each in runs if not each.has_result]
    found = [each for each in runs if each.has_result]
    alike, usable = _alike(found), len(found)
    if usable < 2:
        said = [] if usable == len(runs) else said
    elif differs:
        more = len(differs) - _MOST_NAMED
        named = ", ".join(differs[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        said.append(f"Not only the choice of nodes differs: {named} too.")
    if 2 <= len(alike) < usable:
        left_out = ", ".join(each.name for each in found if each not in alike)
        said.append(f"Left out of the sentence, since more than the choice of nodes differs: {left_out}.")
    said += _same_nodes(runs)
    if len(alike) >= 2:
        said.append("Each ran once, and at another time: the network and other jobs may have changed in between.")
    return said


def _same_nodes(runs: Sequence[ComparedRun]) -> list[str]:
    """That a job on random nodes got those of another one, which happens where no others can be drawn."""
    placed = [(each, frozenset(each.run.placement.nodes)) for each in runs if each.run]
    pairs = [
        (drawn.name, other.name)
        for drawn, nodes in placed
        for other, others in placed
        if drawn.method == "random" and other.method != "random" and nodes == others
    ]
    return [f"{_start(drawn)} has the same nodes as {other}: these two compare nothing." for drawn, other in pairs]


def _why_left_out(each: ComparedRun) -> str:
    if each.warning:
        return f"{_start(each.name)} {_state(each)}, but its times do not count. {each.warning}"
    return f"{_start(each.name)} {_state(each)}."


def _missing(runs: Sequence[ComparedRun]) -> str:
    if any(not each.is_over for each in runs):
        return "Times can be compared once two of them have succeeded; this page follows them."
    if sum(1 for each in runs if each.has_result) >= 2:
        return (
            "Nothing can be said of how nodes were chosen: no two of these runs have the same application, parameters, "
            "cluster and number of nodes."
        )
    well = " with ranks that worked together" if any(each.warning for each in runs) else ""
    return f"Times cannot be compared: fewer than two of them succeeded{well}."


def _longer(each: ComparedRun, seconds: float, best: float) -> str:
    return f"{_with_method(each)} took {duration(seconds)}, {seconds / best:.2g} times as long"


def _with_method(each: ComparedRun) -> str:
    if each.method == "random":
        return f"{each.name} on random nodes"
    return f"{each.name} on nodes chosen by {each.method}"


def _state(each: ComparedRun) -> str:
    if each.run is None:
        return "has not started" if not each.job.is_final else f"is {each.job.state} and never ran"
    return f"is {each.state}"


def _start(text: str) -> str:
    return text[:1].upper() + text[1:]
