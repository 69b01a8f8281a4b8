"""What the rescheduler answers to a call: kept with it once, and told to the contract's monitor where it declines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from scheduling.contracts.core.limits import Refusal
from scheduling.contracts.models import Contract, ContractCall
from scheduling.contracts.selectors import promises


@transaction.atomic
def answer(call: ContractCall, document: Mapping[str, Any]) -> bool:
    """Keep the answer; False where somebody else has answered."""
    return bool(ContractCall.objects.filter(pk=call.pk, answer={}).update(answer=dict(document)))


@transaction.atomic
def decline(contract_id: int, refusal: Refusal) -> bool:
    """The job stays: the limits adapt. False where its contract is closed, or promises nothing.

    Whoever judges reports at this moment has read the row before, finds another version, and reads it again.
    """
    contract = Contract.objects.select_for_update().filter(pk=contract_id, closed_at=None).first()
    promised = contract.prediction if contract else None
    if contract is None or promised is None:
        return False
    monitor = contract.monitor_of(promised)
    monitor.refuse(refusal, promises.quiet_for(contract, monitor.state, timezone.now()))
    Contract.objects.filter(pk=contract.pk).update(monitor=monitor.state.document(), version=F("version") + 1)
    return True
