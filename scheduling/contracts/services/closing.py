"""Closing contracts: the run is over, and every model is told how well it foretold it."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import transaction
from django.utils import timezone

from scheduling.contracts.models import Contract, ModelOutcome
from scheduling.performance.core.phase_prediction import Prediction
from scheduling.runs.core.run_states import RunState
from scheduling.runs.phase_models import PhaseTotal


def close(contract: Contract) -> bool:
    """Close it; of a run that went well each phase's error is kept, for every model that said something of it."""
    with transaction.atomic():
        if not Contract.objects.filter(pk=contract.pk, closed_at=None).update(closed_at=timezone.now()):
            return False
        if contract.run.state == RunState.SUCCEEDED:
            ModelOutcome.objects.bulk_create(_outcomes(contract))
    return True


def _outcomes(contract: Contract) -> Iterator[ModelOutcome]:
    totals = {each.phase: each for each in PhaseTotal.objects.filter(run=contract.run, count__gt=0)}
    documents = [contract.promised, *contract.others] if contract.promised else contract.others
    for prediction in map(Prediction.read, documents):
        for each in prediction.phases:
            if (total := totals.get(each.phase)) is not None:
                mean = sum(each.seconds) / len(each.seconds)
                actual = total.seconds / total.count
                yield ModelOutcome(
                    contract=contract, model=prediction.model, phase=each.phase, predicted=mean, actual=actual
                )
