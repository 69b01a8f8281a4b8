"""Who is in line on a cluster, in as few columns as that takes, so that thousands can be looked at every time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from django.conf import settings
from django.db.models import ExpressionWrapper, F, IntegerField, Q, QuerySet
from django.db.models.lookups import GreaterThan, LessThanOrEqual
from django.utils import timezone

from gridportal.base.reasons import NOTHING, Code, Reason, named
from scheduling.jobs.core.cluster_options import ClusterOptions
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.jobs.core.requirements import Requirements
from scheduling.jobs.core.states import PENDING, JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services import leases
from scheduling.placing.core import backfill
from scheduling.placing.core.room import FreeRoom, Ledger, Size, Sized, uses
from scheduling.placing.selectors.occupancy import too_little_room
from scheduling.placing.selectors.rooms import held, rooms, shares_nodes
from scheduling.placing.services.choosing import WaitsError
from scheduling.runs.selectors import run_starts

_SIZE = ("node_count", "ranks", "cpus_per_rank", "options")
_NEEDS = ("nodes_open", "ranks_per_node", "memory_per_rank", "gres_per_rank")
_ASKED = ("time_limit", "requirements", "classad", "busy_policy")
_COLUMNS = ("pk", "state", *_SIZE, *_NEEDS, "attempts", "refused", *_ASKED, "application__mpi")
#: So many jobs of the line are looked at together at most.
PART = 500
#: So many of the oldest jobs are looked through for the one that nodes are kept for.
_OLDEST = 1000


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job that has not started. `refused`: on which figures it was refused last, or empty; `mpi`: of its program."""

    pk: int
    state: str
    node_count: int
    ranks: int
    cpus_per_rank: int
    options: ClusterOptions
    nodes_open: bool
    ranks_per_node: int | None
    memory_per_rank: int | None
    gres_per_rank: str
    attempts: int
    refused: str
    time_limit: int | None
    requirements: Requirements
    classad: str
    busy_policy: str
    mpi: str

    @property
    def rank_request(self) -> RankRequest:
        """How many ranks it asks for, on how many nodes, and what each of them needs."""
        return RankRequest.of(self, None if self.nodes_open else self.node_count)


class _Old(NamedTuple):
    """A job that may be the one that nodes are kept for, or that is being placed."""

    pk: int
    node_count: int
    ranks: int
    cpus_per_rank: int
    options: ClusterOptions
    created_at: datetime


def pending(cluster: str) -> QuerySet[Job]:
    """All jobs of a cluster that have not started and wait for no other job, oldest first."""
    return Job.objects.filter(cluster=cluster, state__in=PENDING, held_back=False).order_by("pk")


def newest_pending(cluster: str) -> int:
    """The number of the newest job that has not started; 0 for none."""
    return pending(cluster).order_by("-pk").values_list("pk", flat=True).first() or 0


def worth_trying(cluster: str, free: FreeRoom | None, behind: int, newest: int) -> list[Waiting]:
    """The oldest jobs behind the one of the number `behind`, up to `newest`, that nobody has leased and that might
    start now.

    A new job always, for it has to be told something; one whose worker was lost; one that waits where enough nodes are
    free, or more are asked for than there are. `free`: how many are; None: the cluster has a queue, so that this is no
    matter. Costs as much as it finds, not as much as waits.
    """
    left = pending(cluster).filter(leases.over(timezone.now()), pk__gt=behind, pk__lte=newest)
    waiting = left.filter(state=JobState.WAITING)
    lost = waiting.filter(attempts__gt=0).exclude(lease_holder="")
    fitting = waiting if free is None else waiting.filter(_fits(free))
    parts = [left.filter(state=JobState.QUEUED), lost, fitting]
    rows = {row[0]: Waiting(*row) for part in parts for row in part.values_list(*_COLUMNS)[:PART]}
    return [rows[pk] for pk in sorted(rows)[:PART]]


def _fits(free: FreeRoom) -> Q:
    """The jobs for which so many nodes and processors are free, or that need more than there are."""
    if free.cpus is None:
        return Q(node_count__lte=free.nodes) | Q(node_count__gt=free.of_nodes)
    cpus = ExpressionWrapper(F("ranks") * F("cpus_per_rank"), IntegerField())
    fitting = Q(node_count__lte=free.nodes) & Q(LessThanOrEqual(cpus, free.cpus))
    return fitting | Q(node_count__gt=free.of_nodes) | Q(GreaterThan(cpus, free.of_cpus))


def short_of_room(cluster: str, free: FreeRoom) -> QuerySet[Job]:
    """The jobs that wait though there is enough for them, and not enough of it is free; oldest first."""
    waiting = pending(cluster).filter(state=JobState.WAITING).exclude(_fits(free))
    return waiting.only("pk", "reason", *_SIZE)


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
        self._being_placed = [_Old(*row) for row in theirs.values_list(*_Old._fields)]
        self._placed: set[int] = set()
        self.count(cluster)

    def count(self, cluster: str) -> None:
        """Take over which nodes there are and who holds them; there are none before the first look at the cluster."""
        known = rooms(cluster)
        self._names = list(known)
        self._ledger = Ledger(known, shares_nodes(cluster))
        self._ends: dict[int, float | None] = {}
        uses_of_jobs = list(held(cluster, "time_limit"))
        starts = run_starts({job for job, _, _ in uses_of_jobs})
        for job, found, (limit,) in uses_of_jobs:
            if here := {node: use for node, use in found.items() if node in known}:
                self._ledger.take(job, here)
                self._ends[job] = _end(starts.get(job), limit, self._now)
        self._count()

    def _count(self) -> None:
        self.room = FreeRoom.of(self._ledger, self._names)

    def check(self, job: Job) -> None:
        """Raises WaitsError with the reason when the job cannot have nodes now."""
        reason = self._refusal(job)
        if reason:
            raise WaitsError(reason)

    def take(self, job: Job, nodes: Iterable[str]) -> None:
        """The job is placed on `nodes`, each once for each of its ranks there."""
        self._ledger.take(job.pk, uses(job.rank_request, nodes, exclusive=job.options.exclusive))
        self._ends[job.pk] = _end(None, job.time_limit, self._now)
        self._placed.add(job.pk)
        self._count()

    def _refusal(self, job: Job) -> Reason:
        size = Size.of(job)
        if not self.room.of_nodes or self.room.never_admits(*size):
            return NOTHING
        if not self.room.admits(*size):
            return too_little_room(self.room, size, sorted(self._ends))
        older = [row for row in self._being_placed if row.pk < job.pk]
        if older and self._units - sum(self._needed(row) for row in older) < self._needed(job):
            jobs, more = named(row.pk for row in older)
            return Reason.of(Code.BEHIND, named=jobs, more=more)
        return self._reserved(job)

    @property
    def _units(self) -> int:
        """What is free: processors where jobs share nodes, else nodes."""
        return self.room.nodes if self.room.cpus is None else self.room.cpus

    def _needed(self, job: Sized) -> int:
        """What a job takes, in the same units."""
        size = Size.of(job)
        return size.nodes if self.room.cpus is None else size.cpus

    def _reserved(self, job: Job) -> Reason:
        first = next((row for row in self._oldest if self._waits_for_nodes(row)), None)
        if first is None or first.pk >= job.pk:
            return NOTHING
        kept = backfill.reserve(self._needed(first), self._units, self._freed())
        if backfill.may_overtake(kept, self._needed(job), _end(None, job.time_limit, self._now)):
            return NOTHING
        waited = (self._now - first.created_at).total_seconds()
        if kept.at is None and waited < settings.PORTAL.overtaking_seconds:
            return NOTHING
        at = datetime.fromtimestamp(kept.at, self._now.tzinfo).replace(second=0, microsecond=0) if kept.at else None
        start = at.isoformat() if at else None
        return Reason.of(Code.KEPT_FOR, job=first.pk, needed=first.node_count, start=start)

    def _freed(self) -> list[float | None]:
        """When each node in use, or each processor where jobs share nodes, is free at the latest."""
        if self.room.cpus is None:
            return [self._ends[self._ledger.holders(node)[-1]] for node in self._ledger.taken]
        held = [(job, use.cpus) for has in self._ledger.taken.values() for job, use in has.items()]
        return [self._ends[job] for job, cpus in held for _ in range(cpus)]

    @cached_property
    def _oldest(self) -> list[_Old]:
        """Read only once it matters: while too few nodes are free nobody is kept from them."""
        rows = pending(self._cluster).filter(refused="", node_count__lte=self.room.of_nodes)
        return [_Old(*row) for row in rows.values_list(*_Old._fields)[:_OLDEST]]

    def _waits_for_nodes(self, row: _Old) -> bool:
        size = Size.of(row)
        waits = not self.room.admits(*size) and not self.room.never_admits(*size)
        return waits and row.pk not in self._placed


def _end(began: datetime | None, limit: int | None, now: datetime) -> float | None:
    return None if limit is None else (began or now).timestamp() + limit
