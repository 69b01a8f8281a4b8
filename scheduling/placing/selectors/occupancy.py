"""Reading what is free: which job holds which node, which nodes a job cannot have, and why it waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.utils import timezone

from gridportal.base.reasons import NOTHING, Code, Reason, named, too_few_free
from monitoring.clusters import selectors
from monitoring.clusters.models import Link
from monitoring.clusters.selectors import traits
from scheduling.jobs.core.cluster_options import (
    NO_OPTIONS,
    ClusterOptions,
    default_partition,
    features,
    gres_names,
    longest,
)
from scheduling.jobs.core.cluster_options import reserved as others_reserved
from scheduling.jobs.core.launcher import mpis_named
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.jobs.core.states import PENDING, JobState
from scheduling.jobs.models import Job
from scheduling.jobs.selectors import befores_of, waiting_reason
from scheduling.jobs.services import leases
from scheduling.maintenance import selectors as maintenance
from scheduling.placing.core.expected_ends import EndsOf, EndSource, ExpectedEnd, last_end
from scheduling.placing.core.room import FreeRoom, Ledger, NodeRoom, Size
from scheduling.placing.models import Placement
from scheduling.placing.selectors.rooms import free_room, holders, ledger, rooms_of
from scheduling.runs.selectors import run_starts

_MB = 2**20
#: The label of a node that says which MPIs it has.
_MPI_LABEL = "mpi"


class Missing(NamedTuple):
    """What a node lacks: the option or resource, how much or which was asked for, and what it has."""

    option: str
    needed: str
    has: str


@dataclass(frozen=True)
class Occupancy:
    """Which compute nodes a job cannot have now. `unfit`: closed, or not what it asks for, with the reason; `taken`: by
    which of the portal's jobs, so that no rank of this one fits; `busy`: by others, and when they are free at the
    latest. slots: how many of its ranks fit on each node if nobody was there; free: how many do now. missing:
    what nodes lack that are not what it asks for."""

    unfit: dict[str, str]
    taken: dict[str, int]
    busy: dict[str, datetime | None]
    slots: dict[str, int] = field(default_factory=dict)
    free: dict[str, int] = field(default_factory=dict)
    missing: dict[str, Missing] = field(default_factory=dict)

    @property
    def occupied(self) -> frozenset[str]:
        """Nodes that somebody uses."""
        return frozenset(self.taken) | frozenset(self.busy)

    @property
    def closed(self) -> dict[str, str]:
        """Nodes that may come back, with the reason in words."""
        return {node: why for node, why in self.unfit.items() if why}

    def without(self, nodes: Iterable[str]) -> Occupancy:
        """The same where these cannot be had, for a reason that no node can change."""
        return replace(self, unfit={**dict.fromkeys(nodes, ""), **self.unfit}) if nodes else self

    def has_room(self, nodes: Iterable[str]) -> bool:
        """Whether nobody uses what a group takes; `nodes` has each once for each rank."""
        ranks = Counter(nodes)
        return self.occupied.isdisjoint(ranks) and all(count <= self.free.get(node, 1) for node, count in ranks.items())

    def look_again(self, nodes: Iterable[str], ledger: Ledger, asked: RankRequest, *, exclusive: bool) -> None:
        """Take over what the portal's jobs take of these nodes now."""
        for node in nodes:
            if node not in self.slots:
                continue
            self.free[node] = ledger.slots(node, asked, exclusive=exclusive)
            if not self.free[node] and (who := ledger.holders(node)):
                self.taken[node] = who[-1]
            else:
                self.taken.pop(node, None)


def occupancy(
    cluster: str,
    wanted: ClusterOptions = NO_OPTIONS,
    time_limit: float | None = None,
    asked: RankRequest | None = None,
    book: Ledger | None = None,
    mpi: str = "",
) -> Occupancy:
    """What is known of the nodes at this moment; `wanted` are a job's options, `time_limit` its seconds, `asked` its
    ranks and what each of them needs (None: one on each node). `book`: who takes what, where that is known already;
    `mpi`: which one its program is built with, if that is known."""
    states, offers = selectors.compute_states(cluster), selectors.offers(cluster)
    book = ledger(cluster, rooms_of(cluster, states)) if book is None else book
    ranks = asked or RankRequest()
    options = wanted.or_else(ClusterOptions(partition=default_partition(offers)))
    reserved = next(
        (row["nodes"] for row in offers.get("reservations", []) if row["name"] == options.reservation), None
    )
    seconds = longest(offers, options.partition, time_limit)
    kept = others_reserved(offers, options.reservation, timezone.now().timestamp(), seconds)
    kept |= maintenance.kept(cluster, [node.name for node in states], timezone.now(), seconds)
    slots = {node.name: book.slots(node.name, ranks, empty=True) for node in states}
    too_small = rooms_of(cluster, [node for node in states if not slots[node.name]])
    unfit, missing = dict[str, str](), dict[str, Missing]()
    built_with = mpis_named(mpi)
    for node in states:
        in_reservation = None if reserved is None else node.name in reserved
        if node.closed or node.name in kept:
            unfit[node.name] = node.closed or kept[node.name]
        elif room := too_small.get(node.name):
            unfit[node.name], missing[node.name] = "", _lacks_room(room, ranks)
        elif lacks := _lacks(node.facts, options, in_reservation):
            unfit[node.name], missing[node.name] = "", lacks
        elif built_with and (there := _other_mpis(node, built_with)):
            unfit[node.name], missing[node.name] = "", Missing("the MPI", mpi, there)
    busy = {node.name: node.free_at for node in states if node.busy and node.name not in unfit}
    seen = Occupancy(unfit, {}, busy, slots, dict(slots), missing)
    seen.look_again(slots if book.shared else book.taken, book, ranks, exclusive=wanted.exclusive)
    return seen


def _lacks_room(room: NodeRoom, asked: RankRequest) -> Missing:
    """What not even one rank has enough of on a node."""
    if room.cpus is not None and room.cpus < asked.cpus_per_rank:
        return Missing("cpus", str(asked.cpus_per_rank), str(room.cpus))
    if room.memory is not None and room.memory < (asked.memory_per_rank or 0):
        return Missing("memory in MB", str(asked.memory_per_rank), str(room.memory))
    if asked.gres_per_rank:
        return Missing("gres", asked.gres_per_rank, ", ".join(room.gres or ()))
    return Missing("room for ranks", str(asked.ranks_per_node or 1), "")


def _lacks(facts: Mapping[str, Any], asked: ClusterOptions, reserved: bool | None) -> Missing | None:
    """The first option that a node is not what it asks for; None also where nothing is known of it. `reserved`: whether
    it is in the reservation asked for, if any."""
    if not facts:
        return None
    partitions, gres = facts.get("partitions", []), str(facts.get("gres", ""))
    if asked.partition and asked.partition not in partitions:
        return Missing("partition", asked.partition, ", ".join(partitions))
    if reserved is False or (reserved is None and facts.get("reserved")):
        return Missing("reservation", asked.reservation, str(facts.get("reserved") or ""))
    needed = features(asked.constraint) if asked.constraint else frozenset()
    if needed and not needed <= set(facts.get("features", [])):
        return Missing("features", asked.constraint, ", ".join(facts.get("features", [])))
    if not gres_names(asked.gres) <= gres_names(gres):
        return Missing("gres", asked.gres, gres)
    if asked.memory and facts.get("memory") and asked.memory > facts["memory"]:
        return Missing("memory in MB", str(asked.memory // _MB), str(facts["memory"] // _MB))
    return None


def _other_mpis(node: selectors.NodeState, needed: frozenset[str]) -> str:
    """Which MPIs a node has, by its label or else by its features, where none of the `needed` ones is among them; empty
    where it has one, and where nobody says which it has."""
    stated = node.labels.get(_MPI_LABEL) or ", ".join(filter(mpis_named, node.facts.get("features", [])))
    has = mpis_named(stated)
    return stated if has and not has & needed else ""


def ends_by_limits(jobs: Iterable[int]) -> dict[int, ExpectedEnd]:
    """When the runs of jobs end at the latest; those without a time limit, or that do not run now, are left out."""
    limits = dict(Job.objects.filter(pk__in=set(jobs), time_limit__gt=0).values_list("pk", "time_limit"))
    return {
        pk: ExpectedEnd(began + timedelta(seconds=limits[pk] or 0), EndSource.LIMIT)
        for pk, began in run_starts(limits).items()
    }


def free_times(seen: Occupancy, ends_of: EndsOf = ends_by_limits) -> dict[str, ExpectedEnd | None]:
    """When each occupied node is free, from the ends of the jobs that use it; None: nobody knows. The portal's own jobs
    by `ends_of`, at the latest when their time limits say so; others by what the cluster says."""
    ends = ends_of(set(seen.taken.values()))
    ours = {node: ends.get(job) for node, job in seen.taken.items()}
    others = {node: ExpectedEnd(at, EndSource.CLUSTER) if at else None for node, at in seen.busy.items()}
    return {**ours, **{node: at or ours.get(node) for node, at in others.items()}}


def expected_start(nodes: Sequence[str], free_at: Mapping[str, ExpectedEnd | None]) -> datetime | str | None:
    """ "now" when all nodes are free, else the moment when the last of them is; None when nobody knows."""
    if not any(node in free_at for node in nodes):
        return "now"
    last = last_end(nodes, free_at)
    return last.at if last else None


#: Why a job is in one of these states of which nothing more is known.
_USUAL = {
    JobState.QUEUED: Reason.of(Code.ACCEPTED),
    JobState.PLACING: Reason.of(Code.MEASURING),
    JobState.TRIAL: Reason.of(Code.TRIAL_RUNNING, groups=0, over=0),
    JobState.STARTING: Reason.of(Code.BEING_STARTED),
}


#: Why a job is held back: whatever is free, it does not start.
_HELD_BACK = (Code.AFTER_JOBS, Code.BUDGET_WAITS)


def explanation(job: Job) -> list[Reason]:
    """Why the job is where it is; fresh for a job that waits for nodes, with how many are tried before it."""
    if job.held_back:
        return [waiting_reason(befores_of([job.pk]).get(job.pk, [])) or job.reason]
    if job.state == JobState.WAITING:
        before = older(job)
        return [Reasons().of(job), *([Reason.of(Code.IN_LINE, older=before)] if before else [])]
    return [Reasons().of(job) or _USUAL.get(JobState(job.state), NOTHING)]


def older(job: Job) -> int:
    """How many jobs on the same cluster came before this one and have not started either; none that wait for others."""
    return Job.objects.filter(cluster=job.cluster, state__in=PENDING, held_back=False, pk__lt=job.pk).count()


class Reasons:
    """Why jobs are where they are, for lists: true at this moment also where the stored reason is of the last try.

    A few queries for each cluster, whatever the number of jobs.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[FreeRoom, list[int]]] = {}

    def of(self, job: Job) -> Reason:
        """The reason; none for a job that needs none."""
        return self.now(job.state, job.cluster, Size.of(job), job.reason, job.lease_until, job.attempts)

    def now(
        self,
        state: str,
        cluster: str,
        size: Size,
        reason: Reason,
        lease_until: datetime | None = None,
        attempts: int = 0,
    ) -> Reason:
        """The same, where there are only the columns of the job."""
        if state == JobState.PLACING:
            return _of_worker(lease_until, attempts, timezone.now()) or reason
        if state != JobState.WAITING or reason.code in _HELD_BACK or traits(cluster).has_queue:
            return reason
        if cluster not in self._known:
            self._known[cluster] = free_room(cluster), sorted(set(holders(cluster).values()))
        room, by = self._known[cluster]
        if not room.of_nodes or room.never_admits(*size):
            return reason
        if not room.admits(*size):
            return too_little_room(room, size, by)
        return Reason.of(Code.ENOUGH_FREE) if reason.code in (Code.TOO_FEW_FREE, Code.TOO_FEW_CPUS) else reason


def _of_worker(until: datetime | None, attempts: int, now: datetime) -> Reason:
    """That the worker that places a job does not renew its lease any more; none while it does."""
    since = leases.silent_since(until, now)
    if since is None or until is None:
        return NOTHING
    gives_up = attempts >= leases.MAX_ATTEMPTS
    facts = {"since": since.isoformat(), "until": max(until, now).isoformat()}
    return Reason.of(Code.WORKER_SILENT, **facts, gives_up=gives_up)


def too_little_room(room: FreeRoom, size: Size, by: Iterable[int]) -> Reason:
    """Fewer nodes or processors are free than a job needs; `by`: the jobs that have the others."""
    if size.nodes > room.nodes or room.cpus is None or room.of_cpus is None:
        return too_few_free(size.nodes, room.nodes, room.of_nodes, by)
    jobs, more = named(by)
    facts = {"needed": size.cpus, "free": room.cpus, "total": room.of_cpus}
    return Reason.of(Code.TOO_FEW_CPUS, **facts, holders=jobs, more=more)


def peak(placement: Placement) -> float | None:
    """The capacity, bit/s, of the link that binds the chosen group."""
    bottleneck = placement.candidates[0].bottleneck if placement.candidates else None
    if bottleneck is None:
        return None
    names = bottleneck.ends
    return (
        Link.objects.filter(cluster__name=placement.job.cluster, source__name__in=names, target__name__in=names)
        .values_list("capacity", flat=True)
        .first()
    )
