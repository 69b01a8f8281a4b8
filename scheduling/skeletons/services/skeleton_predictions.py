"""What the skeleton of a job's program predicts for nodes, by phase."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from scheduling.jobs.models import Job
from scheduling.performance.core.phase_prediction import PhasePrediction
from scheduling.runs.phase_models import PhaseTotal
from scheduling.skeletons.core.skeleton_model import SkeletonModel, SkeletonRuns
from scheduling.skeletons.core.skeleton_run_states import SkeletonState
from scheduling.skeletons.models import Skeleton, SkeletonRun
from scheduling.skeletons.services import stored_skeletons

#: What a skeleton found on nodes says so long how these are.
_FRESH = timedelta(minutes=30)
#: So many of its latest runs are looked at.
_LATEST = 50


def model_for(job: Job, ranks: int) -> SkeletonModel | None:
    """The model of the best skeleton of these parameters on so many ranks; None without one that could say anything."""
    row = stored_skeletons.best(job.application, job.parameters, ranks)
    if row is None or not row.seconds or row.profile.run_id is None:
        return None
    phases = _phases(row.profile.run_id)
    best = (row.reference.nodes, row.reference.predicted) if row.reference else None
    runs = SkeletonRuns(job.application.slug, row.seconds, phases, _tried(row, job), best)
    return SkeletonModel(runs) if phases and (runs.tried or best) else None


def _phases(run_id: int) -> tuple[PhasePrediction, ...]:
    """As the run reported them from which the trace is."""
    totals = PhaseTotal.objects.filter(run=run_id, count__gt=0).order_by("pk")
    return tuple(PhasePrediction(each.phase, each.count, (each.seconds / each.count,)) for each in totals)


def _tried(row: Skeleton, job: Job) -> dict[tuple[str, ...], float]:
    """What it predicted lately, by nodes, on the cluster of the job; of two on the same nodes the newest."""
    rows = SkeletonRun.objects.filter(
        skeleton=row,
        job__cluster=job.cluster,
        state=SkeletonState.DONE,
        predicted__isnull=False,
        ended_at__gte=timezone.now() - _FRESH,
    )
    newest = reversed(rows.order_by("-ended_at").values_list("nodes", "predicted")[:_LATEST])
    return {tuple(nodes): predicted for nodes, predicted in newest if predicted is not None}
