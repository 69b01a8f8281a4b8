"""Reading what is free: what each node has, and what the portal's jobs take of it at this moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from monitoring.clusters import selectors
from monitoring.clusters.selectors import NodeState
from scheduling.jobs.core.cluster_options import gres_of_labels, gres_offered
from scheduling.jobs.core.label_conditions import MEMORY_LABEL, number
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.jobs.core.states import JobState
from scheduling.placing.core.room import FreeRoom, Ledger, NodeRoom, Use, Uses, uses
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.continuation_states import KEEPS, RESERVES
from scheduling.runs.core.run_states import OPEN
from scheduling.runs.models import Run
from scheduling.skeletons.core.skeleton_run_states import AT_WORK
from scheduling.skeletons.models import SkeletonRun

_MB = 2**20
#: For so long agents may tell of a run that ended.
_TOLD_OF = timedelta(days=1)
#: Labels with so many cpus or MB, and more, tell nothing.
_MOST = 2.0**40
_NEEDS = ("cpus_per_rank", "memory_per_rank", "gres_per_rank", "options")


def shares_nodes(cluster: str) -> bool:
    """Whether several jobs may be on a node of a cluster."""
    configured = settings.CLUSTERS.get(cluster)
    return bool(configured and configured.share_nodes)


def node_room(node: NodeState, *, by_labels: bool = False) -> NodeRoom:
    """What a node has, from what its cluster says, else from its labels cpus and mem_gb. `by_labels`: the cluster never
    says what GRES a node has, so that it has none but those of its label gres."""
    facts, labels = node.facts, node.labels
    cpus = facts.get("cpus") or number(labels.get("cpus"), low=0.0, below=_MOST)
    gb = number(labels.get(MEMORY_LABEL), low=0.0, below=_MOST / 1024)
    memory = facts["memory"] / _MB if facts.get("memory") else (gb or 0.0) * 1024
    gres = gres_offered(str(facts["gres"]).split(",")) if "gres" in facts else None
    gres = gres_of_labels(labels) if gres is None and by_labels else gres
    return NodeRoom(int(cpus) if cpus else None, int(memory) if memory else None, gres, _allocated(facts))


def _allocated(facts: Mapping[str, Any]) -> Use | None:
    """What the cluster has given to jobs on a node, where it says so."""
    if "cpus_allocated" not in facts:
        return None
    used = gres_offered(str(facts.get("gres_used") or "").split(","))
    return Use(facts["cpus_allocated"], (facts.get("memory_allocated") or 0) // _MB, used)


def rooms(cluster: str, partition: str = "") -> dict[str, NodeRoom]:
    """What each compute node of a cluster has; with `partition` only its nodes, as far as the cluster says which."""
    nodes = selectors.compute_states(cluster)
    return rooms_of(cluster, [node for node in nodes if not partition or partition in _partitions(node, partition)])


def rooms_of(cluster: str, nodes: Iterable[NodeState]) -> dict[str, NodeRoom]:
    """What each of these nodes of a cluster has."""
    by_labels = not selectors.traits(cluster).has_options
    return {node.name: node_room(node, by_labels=by_labels) for node in nodes}


def processors(cluster: str) -> dict[str, int]:
    """How many processors each compute node of a cluster has, as `node_room` knows it; nodes of which nobody says are
    left out."""
    return {name: room.cpus for name, room in rooms(cluster).items() if room.cpus}


def _partitions(node: NodeState, unknown: str) -> list[str]:
    found: list[str] = node.facts.get("partitions") or [unknown]
    return found


def ended_runs(cluster: str) -> frozenset[str]:
    """The names, on the cluster, of runs that ended within a day: agents may still tell of them."""
    lately = timezone.now() - _TOLD_OF
    rows = Run.objects.filter(job__cluster=cluster, ended_at__gte=lately).values_list("backend_id", "key")
    return frozenset(name for names in rows for name in names if name)


def open_runs(cluster: str) -> QuerySet[Run]:
    """The runs that hold nodes of a cluster. Runs that are over have an end, by whose index the others are found: of
    the states alone SQLite thinks that most runs are in them, and reads all that the cluster ever had."""
    return Run.objects.filter(job__cluster=cluster, state__in=OPEN, ended_at=None)


def under_trial(cluster: str) -> QuerySet[SkeletonRun]:
    """The skeleton's runs of each job that tries its groups, and those that are not over yet of any other job."""
    rows = SkeletonRun.objects.filter(job__cluster=cluster).order_by()
    return rows.filter(Q(job__state=JobState.TRIAL) | Q(state__in=AT_WORK))


def _moving(cluster: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The nodes that are reserved for jobs that are moved, and those to which they may have to go back."""
    rows = Continuation.objects.filter(state__in={*RESERVES, *KEEPS}, job__cluster=cluster).exclude(placement=None)
    places = ("state", "stop_sent_at", "placement__nodes", "source__placement__nodes", "job_id", *columns)
    for state, stopped, wanted, left, job, *rest in rows.order_by().values_list(*places):
        if state in RESERVES:
            yield (job, wanted, *rest)
        if state in KEEPS and stopped:
            yield (job, left, *rest)


def held(cluster: str, *more: str) -> Iterator[tuple[int, Uses, tuple[Any, ...]]]:
    """What each job takes, once for its run and once for each run of its skeleton; with `more` columns of the job.

    Of one that is moved also the nodes where it will run, and those to which it may have to go back."""
    columns = [f"job__{name}" for name in (*_NEEDS, *more)]
    tried = under_trial(cluster).values_list("job_id", "nodes", *columns)
    running = open_runs(cluster).values_list("job_id", "placement__nodes", *columns)
    for rows in (tried, _moving(cluster, columns), running):
        for job, nodes, cpus, memory, gres, options, *rest in rows:
            needs = RankRequest(cpus_per_rank=options.cpus_per_rank or cpus, memory_per_rank=memory, gres_per_rank=gres)
            yield job, uses(needs, nodes, exclusive=options.exclusive), tuple(rest)


def ledger(cluster: str, node_rooms: dict[str, NodeRoom] | None = None) -> Ledger:
    """Which jobs take what of which node: while a run of theirs is open, and while their skeleton runs there or on
    other groups. `node_rooms`: what the nodes have, where that was read before."""
    shared = shares_nodes(cluster)
    book = Ledger(rooms(cluster) if node_rooms is None else node_rooms, shared)
    for job, found, _ in held(cluster):
        book.take(job, found)
    return book


def holders(cluster: str = "grid") -> dict[str, int]:
    """Which job holds which node, the one that came last where several do: {"n3": 12}."""
    return {node: job for job, found, _ in held(cluster) for node in found}


def free_room(cluster: str = "grid") -> FreeRoom:
    """How many compute nodes have room, and how many there are; and their processors where jobs share nodes."""
    known = rooms(cluster)
    return FreeRoom.of(ledger(cluster, known), list(known))
