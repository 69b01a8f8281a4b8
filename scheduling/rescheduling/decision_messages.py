"""What pages, the API and the command line say of decisions on moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gridportal.base.rank_places import in_short
from gridportal.web.templatetags.units import duration
from scheduling.jobs.core.units import share_text
from scheduling.rescheduling.core.decision_states import DecisionState, Policy
from scheduling.rescheduling.core.move_cost import CostKind, CostPhase
from scheduling.rescheduling.core.weighing import MoveMode, Verdict
from scheduling.rescheduling.models import MoveDecision

PHASES: Mapping[CostPhase, str] = {
    CostPhase.WRITE: "Stop and write",
    CostPhase.TELEMETRY: "Wait for telemetry",
    CostPhase.RESOURCES: "Resource information",
    CostPhase.SCHEDULE: "New schedule",
    CostPhase.OTHER: "Other",
    CostPhase.QUEUE: "Wait in the queue",
    CostPhase.START: "Start",
    CostPhase.REDISTRIBUTION: "Read with redistribution",
}
COSTS: Mapping[CostKind, str] = {CostKind.PREDICTED: "predicted cost", CostKind.WORST_CASE: "worst-case cost"}
MODES: Mapping[MoveMode, str] = {
    MoveMode.ON_REQUEST: "its contract was broken",
    MoveMode.OPPORTUNISTIC: "nodes became free",
    MoveMode.OPERATOR: "a person asked",
}
POLICIES: Mapping[Policy, str] = {
    Policy.OBSERVE: "observe: keep decisions, move nothing",
    Policy.ASK: "ask: an operator decides",
    Policy.AUTOMATIC: "automatic: move when it pays",
}
_STAYS: Mapping[Verdict, str] = {
    Verdict.NO_NODES: "No other nodes can take the job now.",
    Verdict.NO_FORECAST: "Nobody can predict how long the job still takes where it runs.",
    Verdict.NOT_STOPPABLE: "Its application cannot be stopped and go on.",
    Verdict.OPTED_OUT: "The job is not to be moved: somebody has said so.",
    Verdict.DENIED_HOURS: "Moves are denied at this time of day.",
    Verdict.NOT_ALLOWED_HOURS: "Moves are not allowed at this time of day.",
    Verdict.JOB_COOLS_DOWN: "The job was moved a short while ago.",
    Verdict.NODE_COOLS_DOWN: "One of the nodes was part of a move a short while ago.",
    Verdict.TOO_MANY_MOVES: "There were as many moves as the rules allow.",
}


def decision_rows(decisions: Iterable[MoveDecision]) -> list[tuple[MoveDecision, str]]:
    """Each with the sentence of a list: what it brought, else what the weighing found."""
    return [(each, outcome(each) or finding(each)) for each in decisions]


def title(decision: MoveDecision) -> str:
    """`Proposal 9: move job 12 from n1 n2 to n3 n4`."""
    kind = "Proposal" if decision.state == DecisionState.PROPOSED else "Decision"
    if not decision.nodes:
        return f"{kind} {decision.pk}: job {decision.job_id} on {in_short(decision.nodes_now)}"
    return (
        f"{kind} {decision.pk}: move job {decision.job_id} from {in_short(decision.nodes_now)} "
        f"to {in_short(decision.nodes)}"
    )


def finding(decision: MoveDecision) -> str:
    """What the weighing found, in one sentence."""
    if decision.verdict == Verdict.MOVE:
        if decision.saves is None or decision.gain is None:
            return "Nobody can predict what moving brings; a person asked for it."
        sooner = "sooner" if decision.saves >= 0 else "later"
        beside = "above" if decision.gain > decision.threshold else "not above"
        return (
            f"Moving should end this job {duration(abs(decision.saves))} {sooner}: a gain of {_share(decision.gain)}, "
            f"{beside} the threshold of {_share(decision.threshold)}."
        )
    if decision.verdict == Verdict.TOO_LITTLE_GAIN and decision.gain is not None:
        return f"The gain of {_share(decision.gain)} is not above the threshold of {_share(decision.threshold)}."
    if decision.verdict == Verdict.TOO_LATE:
        return (
            f"The job still takes {duration(decision.ret_current)}, and the move alone {duration(decision.cost)}: "
            "it is too late."
        )
    until = f" It may be asked again at {decision.verdict_until:%H:%M:%S} UTC." if decision.verdict_until else ""
    return _STAYS[Verdict(decision.verdict)] + until


def stay_or_move(decision: MoveDecision) -> str:
    """Both ways in seconds."""
    if decision.ret_current is None or decision.ret_new is None:
        return ""
    return (
        f"Staying takes {duration(decision.ret_current)} more. Moving takes {duration(decision.cost)} for the move and "
        f"{duration(decision.ret_new)} there: {duration(decision.cost + decision.ret_new)}."
    )


def formula(decision: MoveDecision) -> str:
    """The gain as it was computed (Migration 2003, 6.2)."""
    if decision.gain is None:
        return ""
    seconds = (decision.ret_current or 0.0, decision.ret_new or 0.0, decision.cost)
    now, new, cost = (f"{value:,.1f}" for value in seconds)
    return f"Gain = ({now} − ({new} + {cost})) / {now} = {_share(decision.gain)}"


def outcome(decision: MoveDecision) -> str:
    """What the move really brought, once that is known."""
    gain, saved = decision.outcome.get("gain"), decision.outcome.get("saved")
    if not isinstance(gain, int | float) or not isinstance(saved, int | float):
        return ""
    word = "sooner" if saved >= 0 else "later"
    return f"The job ended {duration(abs(saved))} {word} than it would have: a real gain of {_share(gain)}."


def _share(value: float) -> str:
    return share_text(value) if value >= 0 else f"−{share_text(-value)}"
