"""Reading what is free: which job holds which node, which nodes a job cannot have, and why it waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from gridportal.base.reasons import NOTHING, Code, Reason, too_few_free
from monitoring.clusters import selectors
from monitoring.clusters.models import Link
from monitoring.clusters.selectors import traits
from scheduling.jobs.core.cluster_options import NO_OPTIONS, ClusterOptions, features, gres_names, longest
from scheduling.jobs.core.cluster_options import reserved as others_reserved
from scheduling.jobs.core.states import PENDING, JobState
from scheduling.jobs.models import Job
from scheduling.placing.models import Placement
from scheduling.runs.core.run_states import OPEN
from scheduling.runs.models import Run
from scheduling.skeletons.core.skeleton_run_states import AT_WORK
from scheduling.skeletons.models import SkeletonRun


def holders(cluster: str = "grid") -> dict[str, int]:
    """Which job holds which node: {"n3": 12}. Nodes are exclusive while one of its runs is open, and while its skeleton
    runs on them or on other groups."""
    tried = under_trial(cluster).values_list("job_id", "nodes")
    rows = open_runs(cluster).values_list("job_id", "placement__nodes")
    return {node: job for found in (tried, rows) for job, nodes in found for node in nodes}


def open_runs(cluster: str) -> QuerySet[Run]:
    """The runs that hold nodes of a cluster. Runs that are over have an end, by whose index the others are found: of
    the states alone SQLite thinks that most runs are in them, and reads all that the cluster ever had."""
    return Run.objects.filter(job__cluster=cluster, state__in=OPEN, ended_at=None)


def under_trial(cluster: str) -> QuerySet[SkeletonRun]:
    """The skeleton's runs of each job that tries its groups, and those that are not over yet of any other job."""
    rows = SkeletonRun.objects.filter(job__cluster=cluster).order_by()
    return rows.filter(Q(job__state=JobState.TRIAL) | Q(state__in=AT_WORK))


def free_nodes(cluster: str = "grid") -> tuple[int, int]:
    """How many compute nodes no job holds, and how many there are."""
    names = selectors.compute_names(cluster)
    held = holders(cluster)
    return sum(name not in held for name in names), len(names)


@dataclass(frozen=True)
class Occupancy:
    """Which compute nodes a job cannot have now. `unfit`: closed, or not what its options ask for, with the reason;
    `taken`: by which of the portal's jobs; `busy`: by others, and when they are free at the latest."""

    unfit: dict[str, str]
    taken: dict[str, int]
    busy: dict[str, datetime | None]

    @property
    def occupied(self) -> frozenset[str]:
        """Nodes that somebody uses."""
        return frozenset(self.taken) | frozenset(self.busy)

    @property
    def closed(self) -> dict[str, str]:
        """Nodes that may come back, with the reason in words."""
        return {node: why for node, why in self.unfit.items() if why}


def occupancy(cluster: str, wanted: ClusterOptions = NO_OPTIONS, time_limit: float | None = None) -> Occupancy:
    """What is known of the nodes at this moment; `wanted` are a job's options, `time_limit` its seconds."""
    states, offers = selectors.compute_states(cluster), selectors.offers(cluster)
    names = {node.name for node in states}
    default = next((row["name"] for row in offers.get("partitions", []) if row["default"]), "")
    asked = wanted.or_else(ClusterOptions(partition=default))
    reserved = next((row["nodes"] for row in offers.get("reservations", []) if row["name"] == asked.reservation), None)
    seconds = longest(offers, asked.partition, time_limit)
    kept = others_reserved(offers, asked.reservation, timezone.now().timestamp(), seconds)
    unfit = {}
    for node in states:
        if node.closed or node.name in kept:
            unfit[node.name] = node.closed or kept[node.name]
        elif node.facts and not _fits(node.facts, asked, None if reserved is None else node.name in reserved):
            unfit[node.name] = ""
    return Occupancy(
        unfit,
        {node: job for node, job in holders(cluster).items() if node in names},
        {node.name: node.free_at for node in states if node.busy and node.name not in unfit},
    )


def _fits(facts: Mapping[str, Any], asked: ClusterOptions, reserved: bool | None) -> bool:
    """Whether a node is what the options ask for. `reserved`: whether it is in the reservation asked for, if any."""
    if asked.partition and asked.partition not in facts.get("partitions", []):
        return False
    if reserved is False or (reserved is None and facts.get("reserved")):
        return False
    needed = features(asked.constraint) if asked.constraint else frozenset()
    if needed and not needed <= set(facts.get("features", [])):
        return False
    if not gres_names(asked.gres) <= gres_names(str(facts.get("gres", ""))):
        return False
    return not (asked.memory and facts.get("memory") and asked.memory > facts["memory"])


def free_times(cluster: str, seen: Occupancy) -> dict[str, datetime | None]:
    """When each occupied node is free at the latest, from the time limits of who uses it; None: nobody knows."""
    ends: dict[int, datetime | None] = {}
    for job in Job.objects.filter(pk__in=set(seen.taken.values())).only("started_at", "time_limit"):
        limited = timedelta(seconds=job.time_limit) if job.time_limit else None
        ends[job.pk] = job.started_at + limited if job.started_at and limited else None
    ours = {node: ends.get(job) for node, job in seen.taken.items()}
    return {**ours, **{node: at or ours.get(node) for node, at in seen.busy.items()}}


def expected_start(nodes: Iterable[str], free_at: Mapping[str, datetime | None]) -> datetime | str | None:
    """ "now" when all nodes are free, else the moment when the last of them is; None when nobody knows."""
    ends = [free_at[node] for node in nodes if node in free_at]
    if not ends:
        return "now"
    known_ends = [end for end in ends if end is not None]
    return max(known_ends) if len(known_ends) == len(ends) else None


#: Why a job is in one of these states of which nothing more is known.
_USUAL = {
    JobState.QUEUED: Reason.of(Code.ACCEPTED),
    JobState.PLACING: Reason.of(Code.MEASURING),
    JobState.TRIAL: Reason.of(Code.TRIAL_RUNNING, groups=0, over=0),
    JobState.STARTING: Reason.of(Code.BEING_STARTED),
}


def explanation(job: Job) -> list[Reason]:
    """Why the job is where it is; fresh for a job that waits for nodes, with how many are tried before it."""
    if job.state == JobState.WAITING:
        before = older(job)
        return [Reasons().of(job), *([Reason.of(Code.IN_LINE, older=before)] if before else [])]
    return [job.reason or _USUAL.get(JobState(job.state), NOTHING)]


def older(job: Job) -> int:
    """How many jobs on the same cluster came before this one and have not started either."""
    return Job.objects.filter(cluster=job.cluster, state__in=PENDING, pk__lt=job.pk).count()


class Reasons:
    """Why jobs are where they are, for lists: true at this moment also where the stored reason is of the last try.

    A few queries for each cluster, whatever the number of jobs.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int, list[int]]] = {}

    def of(self, job: Job) -> Reason:
        """The reason; none for a job that needs none."""
        return self.now(job.state, job.cluster, job.node_count, job.reason)

    def now(self, state: str, cluster: str, node_count: int, reason: Reason) -> Reason:
        """The same, where there are only the columns of the job."""
        if state != JobState.WAITING or traits(cluster).has_queue:
            return reason
        if cluster not in self._known:
            self._known[cluster] = (*free_nodes(cluster), sorted(set(holders(cluster).values())))
        free, total, by = self._known[cluster]
        if not total or node_count > total:
            return reason
        if free < node_count:
            return too_few_free(node_count, free, total, by)
        return Reason.of(Code.ENOUGH_FREE) if reason.code is Code.TOO_FEW_FREE else reason


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
