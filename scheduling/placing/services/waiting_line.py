"""Who is in line on a cluster, in as few columns as that takes, so that thousands can be looked at every time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from gridportal.base.reasons import NOTHING, Code, Reason, named, too_few_free
from monitoring.clusters import selectors
from scheduling.jobs.core.cluster_options import ClusterOptions
from scheduling.jobs.core.requirements import Requirements
from scheduling.jobs.core.states import PENDING, JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services import leases
from scheduling.placing.core import backfill
from scheduling.placing.selectors.occupancy import open_runs, under_trial
from scheduling.placing.services.choosing import WaitsError

_COLUMNS = ("pk", "state", "node_count", "attempts", "refused", "options", "time_limit", "requirements", "busy_policy")
#: So many jobs of the line are looked at together at most.
PART = 500
#: So many of the oldest jobs are looked through for the one that nodes are kept for.
_OLDEST = 1000


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job that has not started. `refused`: on which figures it was refused last, or empty."""

    pk: int
    state: str
    node_count: int
    attempts: int
    refused: str
    options: ClusterOptions
    time_limit: int | None
    requirements: Requirements
    busy_policy: str


class _Old(NamedTuple):
    """A job that may be the one that nodes are kept for."""

    pk: int
    node_count: int
    created_at: datetime


def pending(cluster: str) -> QuerySet[Job]:
    """All jobs of a cluster that have not started, oldest first."""
    return Job.objects.filter(cluster=cluster, state__in=PENDING).order_by("pk")


def newest_pending(cluster: str) -> int:
    """The number of the newest job that has not started; 0 for none."""
    return pending(cluster).order_by("-pk").values_list("pk", flat=True).first() or 0


def worth_trying(cluster: str, free: tuple[int, int] | None, behind: int, newest: int) -> list[Waiting]:
    """The oldest jobs behind the one of the number `behind`, up to `newest`, that nobody has leased and that might
    start now.

    A new job always, for it has to be told something; one whose worker was lost; one that waits where enough nodes are
    free, or more are asked for than there are. `free`: how many are, and how many there are; None: the cluster has a
    queue, so that this is no matter. Costs as much as it finds, not as much as waits.
    """
    left = pending(cluster).filter(leases.over(timezone.now()), pk__gt=behind, pk__lte=newest)
    waiting = left.filter(state=JobState.WAITING)
    lost = waiting.filter(attempts__gt=0).exclude(lease_holder="")
    fitting = waiting if free is None else waiting.filter(Q(node_count__lte=free[0]) | Q(node_count__gt=free[1]))
    parts = [left.filter(state=JobState.QUEUED), lost, fitting]
    rows = {row[0]: Waiting(*row) for part in parts for row in part.values_list(*_COLUMNS)[:PART]}
    return [rows[pk] for pk in sorted(rows)[:PART]]


class FreeNodes:
    """The nodes of a cluster without a queue of its own, while jobs are placed on them one after the other.

    Who waits here, and for what: a job for which too few nodes are free; one for which there are enough, while a
    worker is placing older ones that need them; and one that would delay the oldest job that waits for nodes alone.
    For that job nodes are kept: a younger one may start before it when its time limit ends before those nodes are
    free, or when it takes none of them. Where no time limits tell when they are free, younger jobs go first for
    PORTAL.overtaking_seconds and then no longer. A job that waits for bandwidth, cpu or labels keeps no nodes.
    """

    def __init__(self, cluster: str, holder: str) -> None:
        self._cluster, self._now = cluster, timezone.now()
        theirs = pending(cluster).exclude(lease_holder="").exclude(lease_holder=holder).exclude(state=JobState.QUEUED)
        theirs = theirs.exclude(leases.over(self._now))
        self._being_placed = list(theirs.values_list("pk", "node_count"))
        self._placed: set[int] = set()
        self.count(cluster)

    def count(self, cluster: str) -> None:
        """Take over which nodes there are and who holds them; there are none before the first look at the cluster."""
        names = set(selectors.compute_names(cluster))
        self._ends = {node: end for node, end in _held_until(cluster, self._now).items() if node in names}
        self.total = len(names)

    @property
    def free(self) -> int:
        """How many nodes nobody holds."""
        return self.total - len(self._ends)

    def check(self, job: Job) -> None:
        """Raises WaitsError with the reason when the job cannot have nodes now."""
        reason = self._refusal(job)
        if reason:
            raise WaitsError(reason)

    def take(self, job: Job, nodes: Iterable[str]) -> None:
        """The job is placed on `nodes`."""
        self._ends |= {node: (job.pk, _end(None, job.time_limit, self._now)) for node in nodes}
        self._placed.add(job.pk)

    def _refusal(self, job: Job) -> Reason:
        if not self.total or job.node_count > self.total:
            return NOTHING
        if job.node_count > self.free:
            holders = sorted({holder for holder, _ in self._ends.values()})
            return too_few_free(job.node_count, self.free, self.total, holders)
        older = [(pk, count) for pk, count in self._being_placed if pk < job.pk]
        if older and self.free - sum(count for _, count in older) < job.node_count:
            jobs, more = named(pk for pk, _ in older)
            return Reason.of(Code.BEHIND, named=jobs, more=more)
        return self._reserved(job)

    def _reserved(self, job: Job) -> Reason:
        first = next((row for row in self._oldest if self._waits_for_nodes(row)), None)
        if first is None or first.pk >= job.pk:
            return NOTHING
        kept = backfill.reserve(first.node_count, self.free, [end for _, end in self._ends.values()])
        if backfill.may_overtake(kept, job.node_count, _end(None, job.time_limit, self._now)):
            return NOTHING
        waited = (self._now - first.created_at).total_seconds()
        if kept.at is None and waited < settings.PORTAL.overtaking_seconds:
            return NOTHING
        at = datetime.fromtimestamp(kept.at, self._now.tzinfo).replace(second=0, microsecond=0) if kept.at else None
        start = at.isoformat() if at else None
        return Reason.of(Code.KEPT_FOR, job=first.pk, needed=first.node_count, start=start)

    @cached_property
    def _oldest(self) -> list[_Old]:
        """Read only once it matters: while too few nodes are free nobody is kept from them."""
        rows = pending(self._cluster).filter(refused="", node_count__lte=self.total)
        return [_Old(*row) for row in rows.values_list(*_Old._fields)[:_OLDEST]]

    def _waits_for_nodes(self, row: _Old) -> bool:
        return self.free < row.node_count and row.pk not in self._placed


def _held_until(cluster: str, now: datetime) -> dict[str, tuple[int, float | None]]:
    """For each node that a job holds: which one, and until when at the latest, Unix seconds."""
    rows = open_runs(cluster)
    held = rows.values_list("job_id", "placement__nodes", "job__started_at", "job__time_limit")
    tried = under_trial(cluster).values_list("job_id", "nodes", "job__started_at", "job__time_limit")
    return {
        node: (job, _end(began, limit, now))
        for some in (tried, held)
        for job, nodes, began, limit in some
        for node in nodes
    }


def _end(began: datetime | None, limit: int | None, now: datetime) -> float | None:
    return None if limit is None else (began or now).timestamp() + limit
