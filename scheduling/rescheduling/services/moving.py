"""Carrying decided moves out, and finding out what they brought; one move at a time on each cluster.

A step is a conditional update with all that goes with it in one transaction, so that a killed worker leaves a decision
that the next one takes up.
"""

from __future__ import annotations

from functools import partial

from django.db import transaction
from django.utils import timezone

from gridportal.accounts.models import User
from gridportal.base.errors import ConflictError, ImpossibleError, InputError
from gridportal.base.reasons import Code, Reason, text_reason
from scheduling.checkpoints.services.requesting import PORTAL, stop_and_continue
from scheduling.jobs.core.states import JobState
from scheduling.jobs.services.advance import advance
from scheduling.rescheduling import selectors
from scheduling.rescheduling.core.decision_states import DecisionState
from scheduling.rescheduling.models import MoveDecision, ReschedulingPolicy
from scheduling.rescheduling.services import policies
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.continuation_states import CONTINUATION_LIFE, ContinuationState
from scheduling.runs.core.run_states import RunState
from scheduling.runs.services.isolation import isolated

_DECIDED = (DecisionState.APPROVED, DecisionState.OVERRIDDEN)


def start_moves() -> int:
    """Start the oldest decided move of each cluster that has none under way; how many. What has lost its sense while
    it waited expires."""
    busy = set(MoveDecision.objects.filter(state=DecisionState.MOVING).values_list("cluster", flat=True))
    count = 0
    for decision in MoveDecision.objects.filter(state__in=_DECIDED).select_related("job").order_by("pk"):
        begun = isolated(f"decision {decision.pk}", partial(_take_up, decision, busy=decision.cluster in busy)).value
        if begun:
            busy.add(decision.cluster)
            count += 1
    return count


def follow_moves() -> int:
    """Take over what became of the moves under way; how many are over."""
    rows = MoveDecision.objects.filter(state=DecisionState.MOVING).select_related("continuation", "job")
    return sum(_follow(decision) for decision in rows)


def verify_moves() -> int:
    """Find out what moves brought whose jobs ended well; how many."""
    rows = MoveDecision.objects.filter(state=DecisionState.MOVED, job__state=JobState.SUCCEEDED)
    return sum(_verify(decision) for decision in rows.select_related("job", "continuation"))


def _take_up(decision: MoveDecision, *, busy: bool) -> bool:
    """Whether it has begun; `busy`: whether another move of its cluster is under way."""
    run = decision.job.runs.filter(number=decision.run_number).first()
    if run is None or run.state not in selectors.STILL_THERE:
        return _expire(decision, Reason.of(Code.RUN_IS_OVER))
    policy = selectors.policy(decision.cluster)
    waited = (timezone.now() - decision.created_at).total_seconds()
    if not decision.by and waited > policy.expires_after:
        return _expire(decision, Reason.of(Code.MOVE_WAITED_TOO_LONG, seconds=waited))
    if busy or run.state == RunState.MISSING:
        return False
    if not _is_hour(decision, policy):
        return _expire(decision, Reason.of(Code.HOURS_DENIED))
    return _start(decision)


def _expire(decision: MoveDecision, why: Reason) -> bool:
    """False: it does not begin."""
    advance(decision, DecisionState.EXPIRED, expected=_DECIDED, event={"reason": why})
    return False


def _is_hour(decision: MoveDecision, policy: ReschedulingPolicy) -> bool:
    """Whether it may begin now. What the portal itself decided expires in hours without moves; a person's word holds.
    A move under way may end."""
    windows, now = policies.rules_of(policy, policy.threshold).windows, timezone.localtime()
    return bool(decision.by) or (windows.allowed(now) and not windows.denied(now))


def _start(decision: MoveDecision) -> bool:
    """Ask for the stop, together with the step of the decision."""
    by = User.objects.filter(username=decision.by).first() or PORTAL
    words = decision.why or f"decision {decision.pk}"
    try:
        with transaction.atomic():
            continuation = _stop(decision, by, words)
            moving = advance(decision, DecisionState.MOVING, expected=_DECIDED, continuation=continuation)
            if not moving:
                transaction.set_rollback(True)
    except (InputError, ConflictError, ImpossibleError) as error:
        why = Reason.of(Code.MOVE_REFUSED, why=text_reason(str(error)))
        advance(decision, DecisionState.FAILED, expected=_DECIDED, event={"reason": why})
        return False
    return moving


def _stop(decision: MoveDecision, by: User | str, why: str) -> Continuation:
    """The number of ranks is said too: where several were on a node, as many names may be another count."""
    return stop_and_continue(decision.job, by=by, nodes=decision.nodes, ranks=len(decision.nodes), reason=why)


def _follow(decision: MoveDecision) -> bool:
    continuation = decision.continuation
    if continuation is None:
        return advance(decision, DecisionState.FAILED, event={"reason": Reason.of(Code.MOVE_RECORD_GONE)})
    if not CONTINUATION_LIFE.is_final(continuation.state):
        return False
    if continuation.state == ContinuationState.MOVED and not continuation.back:
        return advance(decision, DecisionState.MOVED)
    return advance(decision, DecisionState.FAILED, event={"reason": continuation.reason})


def _verify(decision: MoveDecision) -> bool:
    """The gain that really came: against the time that staying would have taken, as it was predicted then."""
    job, stay = decision.job, decision.ret_current
    if job.ended_at is None:
        return False
    weighed_at = decision.overridden_at or decision.created_at  # `ret_current` is of that moment
    took = (job.ended_at - weighed_at).total_seconds()
    outcome = {"took": took, "at": timezone.now().isoformat()}
    if decision.continuation is not None and decision.continuation.total is not None:
        outcome["cost"] = decision.continuation.total
    if stay:
        outcome |= {"saved": stay - took, "gain": (stay - took) / stay}
    return advance(decision, DecisionState.VERIFIED, outcome=outcome)
