"""What both node sets of a decision are called, before and after its move, and what moves of each kind are called."""

from __future__ import annotations

from collections.abc import Mapping

from scheduling.rescheduling.core.decision_states import DECISION_LIFE, DecisionState
from scheduling.rescheduling.core.move_kinds import MoveKind
from scheduling.rescheduling.core.weighing import Verdict
from scheduling.rescheduling.models import MoveDecision

_TARGETS: Mapping[str, str] = {
    DecisionState.PROPOSED: "Would go to",
    DecisionState.APPROVED: "Goes to",
    DecisionState.OVERRIDDEN: "Goes to",
    DecisionState.MOVING: "Goes to",
    DecisionState.MOVED: "Went to",
    DecisionState.VERIFIED: "Went to",
    DecisionState.FAILED: "Should have gone to",
}
#: What a move was, in lists.
KINDS: Mapping[MoveKind, str] = {
    MoveKind.DECISION: "by a decision",
    MoveKind.DIRECT: "moved at once",
    MoveKind.WENT_BACK: "did not start there, went back",
    MoveKind.REQUEUE: "put back into the queue by its cluster",
}


def is_past(decision: MoveDecision) -> bool:
    """Whether what it says of now and of its move is over."""
    return decision.state == DecisionState.MOVED or DECISION_LIFE.is_final(decision.state)


def now_label(decision: MoveDecision) -> str:
    """What the nodes are on which the job ran when it was weighed."""
    return "Ran on" if is_past(decision) else "Now on"


def target_label(decision: MoveDecision) -> str:
    """What the nodes beside its own are: no target where the job stays."""
    if decision.verdict != Verdict.MOVE:
        return "Compared with"
    return _TARGETS.get(decision.state, "Would have gone to")


def map_legend(decision: MoveDecision) -> str:
    """What is filled on the map, and what has rings."""
    ran = "ran when this was weighed" if is_past(decision) else "runs"
    others = "nodes compared with them"
    if decision.verdict == Verdict.MOVE:
        label = target_label(decision).removesuffix(" to")
        others = f"where it {label[0].lower()}{label[1:]}"
    return f"Filled: where the job {ran}, with its ranks. Rings and dotted lines: {others}."
