"""A placement on nodes that somebody named for a move says so, and not that nothing is better."""

from __future__ import annotations

from dataclasses import replace

from gridportal.base.reasons import NOTHING, Code, Reason
from scheduling.jobs.core.explanation import Explanation, ReasonCount
from scheduling.placing.models import Placement


def note(placement: Placement, person: str) -> None:
    """In a placement that is not written yet; `person`: the name of who named its nodes."""
    first, *others = placement.candidates
    named = replace(first, reason=Reason.of(Code.NODES_NAMED, person=person))
    placement.candidates, placement.optimal = (named, *others), False
    if placement.explanation is not None:
        placement.explanation = _of_named(placement.explanation, Reason.of(Code.NODE_NOT_NAMED, person=person))


def _of_named(why: Explanation, reason: Reason) -> Explanation:
    """What better links would buy holds as before."""
    counts = (ReasonCount(reason, why.left),) if why.left else ()
    nodes = tuple(replace(each, reason=reason) for each in why.nodes)
    return replace(why, counts=counts, nodes=nodes, among=NOTHING)
