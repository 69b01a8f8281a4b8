"""Reading which logs were read."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Max, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from scheduling.jobs.models import Job
from scheduling.workload_logs.models import LoggedCluster


def logs_with_jobs() -> QuerySet[LoggedCluster, Any]:
    """The logs by name, each with its number of `jobs`, and when the `first` was submitted and the `last` ended."""
    jobs = Job.objects.filter(method="log", cluster=OuterRef("name")).order_by().values("cluster")
    return LoggedCluster.objects.order_by("name").annotate(
        jobs=Coalesce(Subquery(jobs.annotate(each=Count("pk")).values("each")), 0),
        first=Subquery(jobs.annotate(each=Min("created_at")).values("each")),
        last=Subquery(jobs.annotate(each=Max("ended_at")).values("each")),
    )
