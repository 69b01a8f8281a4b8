"""What people decide on proposed moves: approve, refuse, choose other nodes. Whoever comes second learns it.

Each is one conditional step: of two operators at once one decides, and the other is told what was decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.dates import utc_text
from gridportal.base.errors import ConflictError, InputError, SeveralInputsError
from gridportal.base.reasons import Code, Reason
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import advance
from scheduling.rescheduling import selectors
from scheduling.rescheduling.core.decision_states import OPEN_DECISIONS, DecisionState
from scheduling.rescheduling.models import MoveDecision
from scheduling.rescheduling.services import named_nodes, telling_contracts
from scheduling.runs.models import Run

_LEAST, _MOST = 3, 500
#: What became of the move since somebody decided it.
_SINCE: Mapping[str, str] = {
    DecisionState.MOVING: "; its move is under way",
    DecisionState.MOVED: "; its move is done",
    DecisionState.VERIFIED: "; its move is done",
    DecisionState.FAILED: "; its move failed",
    DecisionState.EXPIRED: "; it expired",
}


def approve(actor: User, decision: MoveDecision, why: str = "") -> MoveDecision:
    """Let the job move as proposed. Raises ConflictError when it was decided before, or it is too late."""
    _check_open(decision)
    return _decide(actor, decision, DecisionState.APPROVED, _text(why) if why.strip() else "")


def refuse(actor: User, decision: MoveDecision, why: str) -> MoveDecision:
    """Let the job stay; the contract's limits adapt. Raises InputError without a reason, ConflictError."""
    refused = _decide(actor, decision, DecisionState.REFUSED, _text(why))
    telling_contracts.tell_contract(refused)
    return refused


def override(
    actor: User, decision: MoveDecision, nodes: Sequence[str], why: str, ranks: int | None = None
) -> MoveDecision:
    """Let the job move to `nodes`, each once or rank by rank, on `ranks` of them, in place of what was proposed.

    Without nodes the portal chooses them for that number of ranks. All is checked before anything is stopped: raises
    InputError for nodes or a number that cannot be and without a reason; ConflictError.
    """
    _check_open(decision)
    text = _checked(decision, nodes, ranks, why)
    figures = named_nodes.figures_there(decision, nodes, ranks)
    return _decide(actor, decision, DecisionState.OVERRIDDEN, text, **figures)


def _checked(decision: MoveDecision, nodes: Sequence[str], ranks: int | None, why: str) -> str:
    """The reason. Raises SeveralInputsError with all that is wrong of it and of where to, as far as nothing is measured
    for that."""
    errors = []
    for check in (partial(named_nodes.check_target, decision, nodes, ranks), partial(_text, why)):
        try:
            check()
        except InputError as error:
            errors.append(error)
    if errors:
        raise SeveralInputsError(errors)
    return _text(why)


def check_undecided(job: Job) -> None:
    """Raises ConflictError where somebody has decided that this job moves: it goes where that person said. To be called
    in a transaction, within which nobody decides."""
    for row in MoveDecision.objects.select_for_update().filter(job=job, state__in=OPEN_DECISIONS):
        if row.state in (DecisionState.APPROVED, DecisionState.OVERRIDDEN):
            raise _decided_before(row)


def expire_proposals() -> int:
    """Let those expire that nobody decided in time, or whose run does not run any more; how many."""
    now, count = timezone.now(), 0
    running = Run.objects.filter(job=OuterRef("job"), number=OuterRef("run_number"), state__in=selectors.STILL_THERE)
    rows = MoveDecision.objects.filter(state=DecisionState.PROPOSED).annotate(runs_still=Exists(running))
    for decision in rows.select_related("job"):
        late = _is_late(decision, now)
        reason = Reason.of(Code.NOBODY_DECIDED if decision.runs_still else Code.RUN_IS_OVER)
        if (late or not decision.runs_still) and advance(decision, DecisionState.EXPIRED, event={"reason": reason}):
            count += 1
            if late:
                telling_contracts.tell_contract(decision)
    return count


@transaction.atomic
def _decide(actor: User, decision: MoveDecision, to: DecisionState, why: str, **fields: Any) -> MoveDecision:
    event = {"actor": actor.username, "why": why}
    expected = [DecisionState.PROPOSED]
    if not advance(decision, to, expected=expected, event=event, by=actor.username, why=why, **fields):
        decision.refresh_from_db()
        raise _decided_before(decision)
    if "nodes" in fields:
        audit(actor, f"move.{to.value}", decision, job=decision.job_id, why=why, nodes=list(fields["nodes"]))
    else:
        audit(actor, f"move.{to.value}", decision, job=decision.job_id, why=why)
    return decision


def _check_open(decision: MoveDecision) -> None:
    """Raises ConflictError where a proposal was decided before, or has no sense any more: `expire_proposals` comes by
    now and then only."""
    if decision.state != DecisionState.PROPOSED:
        raise _decided_before(decision)
    if decision.expires_at is not None and _is_late(decision, timezone.now()):
        until = utc_text(decision.expires_at)
        raise ConflictError(f"The proposal was to be decided until {until}. Nothing was changed.")
    runs = Run.objects.filter(job=decision.job_id, number=decision.run_number, state__in=selectors.STILL_THERE)
    if not runs.exists():
        which = f"Run {decision.run_number} of job {decision.job_id}"
        raise ConflictError(f"{which}, which it would move, does not run any more. Nothing was changed.")


def _is_late(decision: MoveDecision, now: datetime) -> bool:
    return decision.expires_at is not None and decision.expires_at <= now


def _decided_before(decision: MoveDecision) -> ConflictError:
    if decision.by:
        reason = f" (“{decision.why}”)" if decision.why else ""
        did, since = _did(decision), _SINCE.get(decision.state, "")
        return ConflictError(f"{decision.by} has {did} {decision.pk} already{reason}{since}. Nothing was changed.")
    return ConflictError(f"The proposal is {decision.state} already. Nothing was changed.")


def _did(decision: MoveDecision) -> str:
    if decision.state == DecisionState.REFUSED:
        return "refused decision"
    return "chosen other nodes for decision" if decision.overridden_at else "approved decision"


def _text(why: str) -> str:
    text = " ".join(why.split())
    if not _LEAST <= len(text) <= _MOST or not text.isprintable():
        raise InputError("reason", why[:40], f"a reason of {_LEAST} to {_MOST} characters")
    return text
