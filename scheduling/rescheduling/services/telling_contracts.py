"""What a contract is told when its job stays: from which ratio on a move would pay (Migration 2003, 6.1)."""

from __future__ import annotations

from django.utils import timezone

from scheduling.contracts.core.limits import Refusal
from scheduling.contracts.core.outlook import break_even
from scheduling.contracts.models import Contract
from scheduling.contracts.selectors import promises
from scheduling.contracts.services import answering
from scheduling.rescheduling.core.weighing import Verdict
from scheduling.rescheduling.models import MoveDecision


def tell_contract(decision: MoveDecision) -> None:
    """The job stays: the limits of its contract adapt, so that the same slowdown does not ask again at once."""
    run = decision.job.runs.filter(number=decision.run_number).first()
    contract = promises.contract_of(run)
    if contract is not None:
        answering.decline(contract.pk, refusal_of(contract, decision))


def refusal_of(contract: Contract, decision: MoveDecision) -> Refusal:
    """From which ratio on the move would pay, and for how long the answer stays the same."""
    lasting = None
    if decision.verdict_until is not None:
        lasting = max(0.0, (decision.verdict_until - timezone.now()).total_seconds())
    if decision.verdict != Verdict.TOO_LITTLE_GAIN or decision.ret_new is None:
        return Refusal(lasting=lasting)
    view = promises.view_of(contract)
    ratio = break_even(view, decision.ret_new, decision.cost, decision.threshold) if view else None
    return Refusal(ratio, lasting)
