"""Reading what was used: by applications, by the runs of their skeletons, and what trying groups cost and won."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from django.db.models import Count, F, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from scheduling.models import Job, Placement


@dataclass
class Use:
    """What the jobs of one application on one cluster used; seconds, and node seconds (one node for one second).

    `trials` had their groups tried: `spent` is the time that their jobs waited for it, `won` the sum of the times that
    the taken groups were predicted to save over the selection's own, of the `known` ones. `over` trials took longer
    than they might, `overrun` seconds together.
    """

    cluster: str = ""
    slug: str = ""
    name: str = ""
    runs: int = 0
    seconds: float = 0.0
    node_seconds: float = 0.0
    skeleton_runs: int = 0
    skeleton_seconds: float = 0.0
    skeleton_node_seconds: float = 0.0
    trials: int = 0
    spent: float = 0.0
    known: int = 0
    won: float = 0.0
    over: int = 0
    overrun: float = 0.0

    @property
    def share(self) -> float | None:
        """The skeletons' part of all node time; None where nothing ran."""
        together = self.node_seconds + self.skeleton_node_seconds
        return self.skeleton_node_seconds / together if together else None


def use(jobs: QuerySet[Job], now: datetime | None = None) -> list[Use]:
    """The use of each application on each cluster by `jobs`, most node time first; runs that last count until `now`.

    Costs one grouped statement for runs, one for skeletons, and a look at every job that was tried.
    """
    now = now or timezone.now()
    chosen = jobs.order_by().values("pk")
    found: dict[tuple[str, str], Use] = {}
    for row in _grouped(jobs, "runs", now):
        one = _of(found, row)
        one.runs += row["count"]
        one.seconds += row["time"].total_seconds()
        one.node_seconds += row["each"] * row["time"].total_seconds()
    for row in _grouped(jobs, "skeleton_runs", now):
        one = _of(found, row)
        one.skeleton_runs += row["count"]
        one.skeleton_seconds += row["time"].total_seconds()
        one.skeleton_node_seconds += row["each"] * row["time"].total_seconds()
    tried = Placement.objects.filter(job__in=chosen, trial__isnull=False, trial__spent__isnull=False).order_by()
    figures = {name: F(f"trial__{name}") for name in ("spent", "budget", "won")}
    of_job = {name: F(f"job__{name}") for name in _JOB}
    for row in tried.values(**of_job, **figures).iterator():
        _add_trial(_of(found, row), row)
    return sorted(
        found.values(), key=lambda one: (-one.node_seconds - one.skeleton_node_seconds, one.cluster, one.slug)
    )


def together(rows: list[Use]) -> Use:
    """The sum of all rows."""
    whole = Use(name="all")
    for field in fields(Use)[3:]:
        setattr(whole, field.name, sum(getattr(row, field.name) for row in rows))
    return whole


def _add_trial(one: Use, row: dict[str, Any]) -> None:
    one.trials += 1
    one.spent += row["spent"]
    if row["won"] is not None:
        one.known += 1
        one.won += row["won"]
    if row["budget"] is not None and row["spent"] > row["budget"]:
        one.over += 1
        one.overrun += row["spent"] - row["budget"]


_JOB = ("cluster", "application__slug", "application__name")


def _grouped(jobs: QuerySet[Job], runs: str, now: datetime) -> QuerySet[Job, dict[str, Any]]:
    """The `runs` (or `skeleton_runs`) of these jobs that have started, by cluster, application and number of nodes: how
    many, and their wall time together."""
    began = jobs.order_by().filter(**{f"{runs}__started_at__isnull": False})
    time = Sum(Coalesce(F(f"{runs}__ended_at"), now) - F(f"{runs}__started_at"))
    return began.values(*_JOB, each=F("node_count")).annotate(count=Count(f"{runs}__pk"), time=time)


def _of(found: dict[tuple[str, str], Use], row: dict[str, Any]) -> Use:
    cluster, slug, name = (row[word] for word in _JOB)
    return found.setdefault((cluster, slug), Use(cluster, slug, name))
