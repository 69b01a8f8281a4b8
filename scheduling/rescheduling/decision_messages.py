"""What pages, the API and the command line say of decisions on moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gridportal.base.name_lists import either, listed
from gridportal.base.rank_places import in_short
from gridportal.base.reasons import NOTHING, Reason
from gridportal.web.templatetags.units import duration
from scheduling.jobs.core.units import share_text
from scheduling.messages import message
from scheduling.rescheduling.core.decision_states import DecisionState, Policy
from scheduling.rescheduling.core.hindsight import Hindsight, MovesSum, of_move, of_stay
from scheduling.rescheduling.core.move_cost import CostKind, CostPhase
from scheduling.rescheduling.core.move_progress import MoveStage
from scheduling.rescheduling.core.weighing import MoveFigures, MoveMode, Verdict
from scheduling.rescheduling.core.weighing_stage import WeighingStage
from scheduling.rescheduling.models import DecisionEvent, JobMovePolicy, MoveDecision
from scheduling.rescheduling.request_models import WeighingRequest

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
STAGES: Mapping[MoveStage, str] = {
    MoveStage.RESERVE: "reserve nodes",
    MoveStage.WRITE: "stop and write",
    MoveStage.QUEUE: "hand over",
    MoveStage.START: "start",
    MoveStage.READ: "read",
}
WEIGHING: Mapping[WeighingStage, str] = {
    WeighingStage.WAITING: "It waits for its turn.",
    WeighingStage.CHOOSING: "Other nodes are chosen by new figures",
    WeighingStage.PREDICTING: "It is predicted what moving there would take",
}
HINDSIGHT: Mapping[Hindsight, str] = {
    Hindsight.RIGHT: "✓ right",
    Hindsight.EVEN: "≈ even",
    Hindsight.WRONG: "✕ wrong",
}
#: What people do with a proposal, each with a permission of its own.
VERBS = ("approve", "refuse", "override")
#: Their moves are over, well or not.
_OVER = (DecisionState.MOVED, DecisionState.VERIFIED, DecisionState.FAILED)
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
#: As many as a job may have, or none are allowed at all: it does not help to wait.
_NO_MORE = "The rules of its cluster allow this job no more moves."


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """A row of a list: what it brought, else what the weighing found; missed: what moving would have gained."""

    decision: MoveDecision
    summary: str
    missed: float | None
    turned_out: str
    by: str


def decision_rows(decisions: Iterable[tuple[MoveDecision, float | None]]) -> list[DecisionRow]:
    """The rows of decisions, each with what moving would have gained where its job stayed."""
    return [_row(decision, missed) for decision, missed in decisions]


def _row(decision: MoveDecision, missed: float | None) -> DecisionRow:
    known = hindsight(decision, missed)
    turned_out = HINDSIGHT[known] if known else ""
    return DecisionRow(decision, summary(decision), missed, turned_out, decided_by(decision))


def summary(decision: MoveDecision) -> str:
    """What it brought, or that it failed, else what the weighing found: what a list has of it."""
    return outcome(decision) or failure(decision) or finding(decision)


def decided_by(decision: MoveDecision) -> str:
    """Who decided, as lists and steps say it: a person, or the portal and who had asked it."""
    return decision.by or _portal_for(decision.asked_by)


def steps(decision: MoveDecision) -> list[tuple[DecisionEvent, str]]:
    """Each step with who made it. What a weighing comes to is the portal's word, whoever asked for it."""
    events = list(decision.events.all())
    asked = [(each, _portal_for(each.actor)) for each in events[:1]]
    return [*asked, *((each, each.actor) for each in events[1:])]


def _portal_for(actor: str) -> str:
    return actor if actor == "portal" else f"portal, asked by {actor}"


def title(decision: MoveDecision) -> str:
    """`Proposal 9: move job 12 from n1 n2 to n3 n4`."""
    kind = "Proposal" if decision.state == DecisionState.PROPOSED else "Decision"
    if not decision.nodes or decision.verdict in (Verdict.NO_NODES, Verdict.NO_PREDICTION):
        return f"{kind} {decision.pk}: job {decision.job_id} on {in_short(decision.nodes_now)}"
    return (
        f"{kind} {decision.pk}: move job {decision.job_id} from {in_short(decision.nodes_now)} "
        f"to {in_short(decision.nodes)}"
    )


def failure(decision: MoveDecision) -> str:
    """That its move failed, and why; empty for all others."""
    if decision.state != DecisionState.FAILED:
        return ""
    why = last_reason(decision)
    return f"The move failed. {message(why)}" if why else "The move failed."


def last_reason(decision: MoveDecision) -> Reason:
    """Why it is in its state, as the portal found; none where a person decided, or nothing is kept."""
    steps = list(decision.events.all()) if decision.pk else []
    return steps[-1].reason if steps else NOTHING


def finding(decision: MoveDecision) -> str:
    """What the weighing found, in one sentence."""
    if decision.verdict == Verdict.MOVE:
        if decision.saves is None or decision.gain is None:
            return "Nobody can predict what moving brings; a person asked for it."
        sooner = "sooner" if decision.saves >= 0 else "later"
        beside = "above" if decision.gain > decision.threshold else "not above"
        ends = "was to end" if decision.state in _OVER else "should end"
        return (
            f"Moving {ends} this job {duration(abs(decision.saves))} {sooner}: a gain of {_share(decision.gain)}, "
            f"{beside} the threshold of {_share(decision.threshold)}."
        )
    if decision.verdict == Verdict.TOO_LITTLE_GAIN and decision.gain is not None:
        return f"The gain of {_share(decision.gain)} is not above the threshold of {_share(decision.threshold)}."
    if decision.verdict == Verdict.TOO_LATE:
        return (
            f"The job still takes {duration(decision.ret_current)}, and the move alone {duration(decision.cost)}: "
            "it is too late."
        )
    if decision.verdict == Verdict.NO_PREDICTION:
        return (
            f"{in_short(decision.nodes)} could take the job, but no performance model predicts how long it would take "
            "there."
        )
    return _stays(decision)


def _stays(decision: MoveDecision) -> str:
    """Which rule, or what else than figures, keeps its job where it is, and until when."""
    if decision.verdict_until:
        return f"{_STAYS[Verdict(decision.verdict)]} It may be asked again at {decision.verdict_until:%H:%M:%S} UTC."
    return _NO_MORE if decision.verdict == Verdict.TOO_MANY_MOVES else _STAYS[Verdict(decision.verdict)]


def progress_of(asked: WeighingRequest) -> str:
    """How far a weighing is that somebody waits for."""
    if not asked.is_open:
        return message(asked.problem) if asked.problem else "It is weighed."
    if not asked.total:
        return WEIGHING[WeighingStage(asked.stage)]
    return f"{WEIGHING[WeighingStage(asked.stage)]}, {asked.done + 1} of {asked.total}."


def pins(decision: MoveDecision) -> str:
    """Which nodes who submitted the job has chosen for its ranks; empty where nobody has."""
    specification = decision.job.specification
    named = [f"{_whom(pin.what)} on {either(pin.nodes)}" for pin in specification.pins]
    owner = decision.job.owner.username
    return f"{owner} chose nodes for this job: {listed(named)}. The portal keeps to them." if named else ""


def _whom(what: int | str) -> str:
    return f"rank {what}" if isinstance(what, int) else f"the ranks of {what}"


def refusal(verb: str) -> str:
    """What somebody hears who may not do it."""
    return f"You may not {verb} moves; operators and administrators may, and whom an administrator allows it."


def job_policy(own: JobMovePolicy | None) -> str:
    """Whether a job is moved, and by which mode."""
    if own is not None and own.opted_out:
        return "The portal does not move this job; a person can."
    if own is not None and own.policy:
        return f"The portal moves this job by a mode of its own: {POLICIES[Policy(own.policy)]}."
    return "The portal may move this job, by the rules of its cluster."


def dry_run_summary(moves: Sequence[MoveDecision], stays: int) -> str:
    """What a simulated series of moves comes to."""
    if not moves:
        return f"No move would be made now; {stays} job{'' if stays == 1 else 's'} would stay."
    saved = sum(each.saves or 0.0 for each in moves)
    count = f"{len(moves)} move{'' if len(moves) == 1 else 's'}"
    return f"{count} would be made, in this order; together they end jobs {duration(saved)} sooner, and {stays} stay."


def by_other_cost(decision: MoveDecision) -> str:
    """What the gain would be with the cost that does not decide."""
    others = [cost for kind, cost in decision.costs_by_kind.items() if kind != decision.cost_kind]
    if not others or decision.ret_new is None:
        return ""
    cost = others[0]
    gain = MoveFigures(decision.ret_current, decision.ret_new).gain(cost.total)
    if gain is None:
        return ""
    pays = "it would pay too" if gain > decision.threshold else "it would not pay"
    return f"With the {COSTS[cost.kind]} of {cost.total:,.0f} s the gain would be {_share(gain)}: {pays}."


def predicted_and_real(decision: MoveDecision) -> list[tuple[str, str, str]]:
    """What was predicted of a move that is verified, and what came: name, predicted, real."""
    took, cost = decision.outcome.get("took"), decision.outcome.get("cost")
    saved, gain = decision.outcome.get("saved"), decision.outcome.get("gain")
    if took is None or decision.ret_new is None:
        return []
    since = "when these nodes were taken" if decision.overridden_at else "the proposal"
    rows: list[tuple[str, float | None, float]] = [(f"From {since} to the end", decision.ret_new + decision.cost, took)]
    rows += [("Cost of the move", decision.cost, cost)] if cost is not None else []
    rows += [("Time that it saves", decision.saves, saved)] if saved is not None else []
    texts = [(name, _seconds(predicted), _seconds(real)) for name, predicted, real in rows]
    if gain is not None and decision.gain is not None:
        texts.append(("Gain", _share(decision.gain), _share(gain)))
    return texts


def hindsight(decision: MoveDecision, missed: float | None) -> Hindsight | None:
    """Whether it was right, once that is known; `missed`: what moving would have gained where the job stayed."""
    gain = decision.outcome.get("gain")
    if isinstance(gain, int | float):
        return of_move(gain)
    return None if missed is None else of_stay(missed)


def moved_summary(sums: MovesSum) -> str:
    """How all moves turned out, in a sentence that can be quoted."""
    if not sums.verified:
        return ""
    word = "sooner" if sums.saved >= 0 else "later"
    counts = f"{sums.right} {'was' if sums.right == 1 else 'were'} right, {sums.even} even and {sums.wrong} wrong"
    moves = f"{sums.verified} move{'' if sums.verified == 1 else 's'} that can be judged"
    return f"Of {moves}, {counts}; together they ended jobs {duration(abs(sums.saved))} {word}."


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


def _seconds(value: float | None) -> str:
    if value is None:
        return "—"
    return duration(value) if value >= 0 else f"−{duration(-value)}"


def _share(value: float) -> str:
    return share_text(value) if value >= 0 else f"−{share_text(-value)}"
