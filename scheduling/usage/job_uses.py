"""Jobs with their runs as the values that `scheduling.usage.core.use_parts` adds up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from gridportal.base.reasons import Code, Reason
from monitoring.clusters.models import Node
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.runs.models import Run
from scheduling.usage.core.use_parts import NONE, JobUse, RunTime

_BATCH = 2000
_COLUMNS = (
    *("pk", "cluster", "owner_id", "project_id", "application_id", "created_at", "ended_at", "state", "reason"),
    *("node_count", "ranks", "cpus_per_rank", "held_until"),
)


def job_uses(jobs: QuerySet[Job], now: datetime) -> Iterator[JobUse]:
    """The jobs of a queryset; a run that lasts counts until `now`. Two statements."""
    runs = _runs(jobs)
    for row in jobs.order_by().values(*_COLUMNS).iterator(chunk_size=_BATCH):
        yield _use(row, runs.get(row["pk"], []), now)


def sites() -> dict[tuple[str, str], str]:
    """The site of each node that has one, by cluster and name."""
    rows = Node.objects.filter(kind="compute").values_list("cluster__name", "name", "labels")
    return {(cluster, name): str(labels["site"]) for cluster, name, labels in rows if labels.get("site")}


def _runs(jobs: QuerySet[Job]) -> dict[int, list[tuple[Any, ...]]]:
    found = defaultdict[int, list[tuple[Any, ...]]](list)
    rows = Run.objects.filter(started_at__isnull=False, job__in=jobs.order_by().values("pk")).order_by()
    columns = ("job_id", "started_at", "ended_at", "node_count", "placement__nodes")
    for job, *rest in rows.values_list(*columns).iterator(chunk_size=_BATCH):
        found[job].append(tuple(rest))
    return found


def _use(row: dict[str, Any], runs: list[tuple[Any, ...]], now: datetime) -> JobUse:
    reason: Reason = row["reason"]
    return JobUse(
        number=row["pk"],
        cluster=row["cluster"],
        person=str(row["owner_id"]),
        project=str(row["project_id"] or NONE),
        application=str(row["application_id"]),
        created=row["created_at"],
        ended=row["ended_at"],
        failure=_cause(reason).value if row["state"] == JobState.FAILED else "",
        node_count=row["node_count"],
        runs=tuple(_run(row, run, now) for run in runs),
        held_until=row["held_until"],
        is_cancelled=row["state"] == JobState.CANCELLED,
    )


def _cause(reason: Reason) -> Code:
    """Why a job failed: of a program that was ended what its backend says ended it, as its time limit."""
    why = reason.facts.get("why")
    if reason.code is Code.ENDED and isinstance(why, Reason) and why and why.code is not Code.PLAIN_TEXT:
        return why.code
    return reason.code


def _run(row: dict[str, Any], run: tuple[Any, ...], now: datetime) -> RunTime:
    began, ended, count, nodes = run
    names = tuple(dict.fromkeys(nodes or ()))
    ranks = len(nodes) if nodes else row["ranks"]
    return RunTime(began, ended or now, names, count or len(names) or row["node_count"], ranks * row["cpus_per_rank"])
