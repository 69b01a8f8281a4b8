"""What was predicted within a range of time, and what came: of runs with contracts, of groups that skeletons were tried
on, and of moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduling.placing.models import Placement
from scheduling.rescheduling.core.decision_states import DecisionState
from scheduling.rescheduling.models import MoveDecision
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.skeletons.models import SkeletonRun
from scheduling.usage.core.prediction_quality import PredictionQuality, prediction_quality
from scheduling.usage.ranges import JudgedRun, Range

_BATCH = 2000
Pairs = Iterator[tuple[float, float]]


def prediction_qualities(span: Range, judged: Sequence[JudgedRun]) -> dict[str, PredictionQuality]:
    """By who predicted: "contracts", "skeletons" and "moves". Three statements; `judged`: the runs of that time."""
    of_contracts = ((each.predicted, each.actual) for each in judged if each.went_well)
    found = {"contracts": of_contracts, "skeletons": _of_skeletons(span), "moves": _of_moves(span)}
    return {name: prediction_quality(pairs) for name, pairs in found.items()}


def _of_skeletons(span: Range) -> Pairs:
    """Seconds of runs on the group that was taken, for which its skeleton had made a prediction. Few placements have a
    trial, and these are looked through, not all runs."""
    tried = Placement.objects.filter(trial__isnull=False, trial__taken__isnull=False)
    runs = Run.objects.filter(placement__in=tried, state=RunState.SUCCEEDED, ended_at__isnull=False).order_by()
    runs = runs.filter(started_at__gte=span.begin, started_at__lt=span.until)
    columns = ("placement", "placement__trial__taken", "started_at", "ended_at")
    took = {
        (placement, taken): (ended - began).total_seconds()
        for placement, taken, began, ended in runs.values_list(*columns).iterator(chunk_size=_BATCH)
    }
    if not took:
        return
    predictions = SkeletonRun.objects.filter(placement__in=runs.values("placement"), predicted__isnull=False).order_by()
    for placement, candidate, predicted in predictions.values_list("placement", "candidate", "predicted"):
        if predicted is not None and (placement, candidate) in took:
            yield predicted, took[placement, candidate]


def _of_moves(span: Range) -> Pairs:
    """Seconds from a proposal to the end of the job that was moved."""
    rows = MoveDecision.objects.filter(created_at__gte=span.begin, created_at__lt=span.until)
    rows = rows.filter(state=DecisionState.VERIFIED, ret_new__isnull=False)
    for there, cost, outcome in rows.values_list("ret_new", "cost", "outcome"):
        if there is not None and isinstance(outcome.get("took"), int | float):
            yield there + cost, float(outcome["took"])
