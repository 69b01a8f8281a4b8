"""Reading what runs took: the past from which a model is fitted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from scheduling.jobs.models import Job
from scheduling.performance.core.fitted import PastPhase, PastRun, RunShape
from scheduling.performance.core.phase_prediction import averages
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.runs.phase_models import PhaseReport, PhaseTotal

#: So many of the latest runs are looked at.
LATEST = 40


def shape_of(job: Job, min_cpu: float | None) -> RunShape:
    """What decides how long a run of this job takes; `min_cpu`: of the nodes that it got."""
    return RunShape.of(job.parameters, job.ranks, min_cpu)


def past_runs(job: Job) -> list[PastRun]:
    """The latest runs of its application on its cluster that went well and were never stopped; the newest first."""
    rows = Run.objects.filter(job__application=job.application_id, job__cluster=job.cluster, state=RunState.SUCCEEDED)
    runs = list(rows.filter(number=1).select_related("job", "placement").order_by("-pk")[:LATEST])
    totals: defaultdict[int, list[PhaseTotal]] = defaultdict(list)
    for total in PhaseTotal.objects.filter(run__in=runs).order_by("pk"):
        totals[total.run_id].append(total)
    wanted = shape_of(job, None)
    shapes = {run.pk: shape_of(run.job, run.placement.objective.min_cpu) for run in runs}
    newest = next((run for run in runs if totals[run.pk] and shapes[run.pk].is_like(wanted)), None)
    courses = _courses(newest, totals[newest.pk]) if newest else {}
    return [PastRun(shapes[run.pk], _phases(totals[run.pk], courses)) for run in runs if totals[run.pk]]


def _phases(totals: Sequence[PhaseTotal], courses: Mapping[str, tuple[float, ...]]) -> dict[str, PastPhase]:
    return {
        each.phase: PastPhase(each.count, each.seconds / each.count, courses.get(each.phase, (1.0,)))
        for each in totals
        if each.count
    }


def _courses(run: Run, totals: Sequence[PhaseTotal]) -> dict[str, tuple[float, ...]]:
    """How the seconds of each phase went, in shares of their average, where every report was kept."""
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    for phase, each in PhaseReport.objects.filter(run=run).order_by("phase", "number").values_list("phase", "seconds"):
        seconds[phase].append(each)
    whole = {each.phase: each for each in totals if each.count == len(seconds[each.phase]) and each.seconds > 0}
    return {
        phase: tuple(each * total.count / total.seconds for each in averages(seconds[phase]))
        for phase, total in whole.items()
    }
