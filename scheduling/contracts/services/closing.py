"""Closing contracts: the run is over, and every model is told how well it foretold it."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from scheduling.contracts.models import Contract, ModelOutcome
from scheduling.performance.core.phase_prediction import Prediction
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
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
    """What models said before they were corrected, against what was reported. Of a run that went on from a checkpoint
    the promise alone: its reports are of a part of the work, which only the monitor knows; and none of phases that were
    over before, for to begin again is less than to begin."""
    promised = contract.prediction
    if contract.run.goes_on_from is not None:
        yield from _of_reports(contract, promised) if promised else ()
        return
    totals = {each.phase: each for each in PhaseTotal.objects.filter(run=contract.run, count__gt=0)}
    others = map(Prediction.read, contract.others)
    for prediction in (promised, *others) if promised else others:
        for each in prediction.phases:
            if (total := totals.get(each.phase)) is not None and prediction.is_comparable(each.phase):
                mean = sum(each.seconds) / len(each.seconds)
                yield _outcome(contract, prediction, each.phase, mean, total.seconds / total.count)


def _of_reports(contract: Contract, promised: Prediction) -> Iterator[ModelOutcome]:
    over = _over_before(contract.run, promised)
    for phase, seen in contract.monitor_state.phases.items():
        if seen.count and phase not in over and promised.is_comparable(phase):
            yield _outcome(contract, promised, phase, seen.predicted / seen.count, seen.actual / seen.count)


def _over_before(run: Run, promised: Prediction) -> set[str]:
    """The phases that earlier runs of the job have reported as often as a whole run does."""
    if run.begins_anew:
        return set()
    earlier = PhaseTotal.objects.filter(run__job=run.job_id, run__number__lt=run.number)
    reported = dict(earlier.order_by().values_list("phase").annotate(Sum("count")))
    return {each.phase for each in promised.phases if each.count and reported.get(each.phase, 0) >= each.count}


def _outcome(contract: Contract, prediction: Prediction, phase: str, predicted: float, actual: float) -> ModelOutcome:
    raw = predicted / prediction.corrections.get(phase, 1.0)
    return ModelOutcome(contract=contract, model=prediction.model, phase=phase, predicted=raw, actual=actual)
