"""Reading trials: where they are under way."""

from __future__ import annotations

from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.skeletons.models import OPEN, SkeletonRun


def clusters_with_trials() -> set[str]:
    """The clusters on which groups are tried, or skeletons are still to be stopped."""
    tried = Job.objects.filter(state=JobState.TRIAL).order_by().values_list("cluster", flat=True)
    left = SkeletonRun.objects.filter(state__in=OPEN).order_by().values_list("job__cluster", flat=True)
    return {*tried.distinct(), *left.distinct()}
