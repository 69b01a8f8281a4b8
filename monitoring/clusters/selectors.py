"""Rows of clusters, nodes and links, and how the clusters are set up."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import starmap
from typing import Any, Literal, NamedTuple, Protocol

from django.conf import settings
from django.db import connection
from django.db.models import Case, Max, QuerySet, Value, When

from gridportal.base.clusters import Cluster as Setting
from gridportal.base.errors import BackendError, InputError
from gridportal.base.traits import GRID, Traits
from gridportal.network import topology as core
from gridportal.network.routing_rules import stored_rules
from monitoring.clusters.core.offers import Offers
from monitoring.clusters.link_rows import link_table
from monitoring.clusters.models import Cluster, Link, Node

#: Links of clusters with fewer nodes are read each time, which takes some milliseconds.
KEPT_FROM = 100
#: Of so many clusters links are kept in a process; measured pairs of 1,024 nodes take some 40 MB.
MOST_KEPT = 3
_links_of: dict[int, tuple[str, Sequence[core.Link]]] = {}


class NodeFigures(NamedTuple):
    """What the selection goes by of a node: ten thousand rows of the model take three times as long to make."""

    pk: int
    name: str
    kind: str
    cpu: float | None
    speed: float
    labels: dict[str, str]


class NodeState(NamedTuple):
    """What a cluster says of a compute node, and its labels."""

    name: str
    closed: str
    busy: bool
    free_at: datetime | None
    facts: Mapping[str, Any]
    labels: dict[str, str]


def configured() -> dict[str, Setting]:
    """The clusters of GRIDPORTAL_CLUSTERS by name; the first is the default."""
    return dict(settings.CLUSTERS)


def in_setting_order() -> QuerySet[Cluster]:
    """The rows of all clusters: those of GRIDPORTAL_CLUSTERS first, in its order, as forms offer them."""
    places = [When(name=name, then=Value(at)) for at, name in enumerate(settings.CLUSTERS)]
    return Cluster.objects.order_by(Case(*places, default=Value(len(places))), "name")


def default_cluster() -> str:
    """The cluster that is meant when none is named."""
    return next(iter(settings.CLUSTERS))


def setting(name: str) -> Setting:
    """How the cluster `name` is set up. Raises InputError for one that is not."""
    configured: Setting | None = settings.CLUSTERS.get(name)
    if configured is None:
        raise InputError("cluster", name, "the name of a cluster that is known here: " + ", ".join(settings.CLUSTERS))
    return configured


def cluster(name: str = "grid") -> Cluster | None:
    """The cluster called `name`, if it was ever seen. Of a name that no database takes there is none."""
    return None if "\0" in name else Cluster.objects.filter(name=name).first()


def never_reached(name: str) -> BackendError:
    """What to say of a cluster that is set up here and that no worker has reached."""
    message = f"The cluster {name} was never reached; is it up, and is a worker running?"
    if settings.PORTAL.clusters:
        return BackendError(message)
    return BackendError(f"{message} GRIDPORTAL_CLUSTERS is not set here: set it to what the portal was started with.")


def peak_bandwidth(name: str = "grid") -> float | None:
    """The peak of the cluster's best link, bit/s; None while no link is known."""
    peak: float | None = links(name).aggregate(peak=Max("capacity"))["peak"]
    return peak


def nodes(name: str = "grid") -> QuerySet[Node]:
    """Compute and network nodes in the order of the topology."""
    return Node.objects.filter(cluster__name=name)


def node_figures(name: str) -> list[NodeFigures]:
    """The same nodes, with what was measured of them last."""
    return list(starmap(NodeFigures, nodes(name).values_list(*NodeFigures._fields)))


def links(name: str = "grid") -> QuerySet[Link]:
    """Links with both ends, in the order of the nodes."""
    return Link.objects.filter(cluster__name=name).select_related("source", "target")


def peaks(name: str) -> dict[tuple[str, str], float]:
    """The peak of every link, by the names of its ends, bit/s."""
    rows = links(name).values_list("source__name", "target__name", "capacity")
    return {(source, target): capacity for source, target, capacity in rows}


def offers_and_size(name: str) -> tuple[Offers, int]:
    """As `offers`, and how many compute nodes there are, 0 while it was never reached.

    One question in plain SQL: every job that is submitted asks it, and to make two queries takes Django several times
    as long as the database takes to answer them.
    """
    clusters, compute = Cluster._meta.db_table, Node._meta.db_table
    count = f"SELECT COUNT(*) FROM {compute} n WHERE n.cluster_id = c.id AND n.kind = 'compute'"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT c.facts, ({count}) FROM {clusters} c WHERE c.name = %s", [name])  # noqa: S608
        row = cursor.fetchone()
    if row is None:
        return {}, 0
    facts, size = row  # SQLite has text, PostgreSQL the object
    offered: Offers | None = json.loads(facts) if isinstance(facts, str) else facts
    return offered or {}, size


def compute_labels(name: str = "grid") -> list[dict[str, str]]:
    """The labels of each compute node; empty while the cluster was never reached."""
    return list(nodes(name).filter(kind="compute").values_list("labels", flat=True))


def compute_names(name: str = "grid") -> list[str]:
    """The compute nodes' names in the order of the topology; empty while the cluster was never reached."""
    return list(nodes(name).filter(kind="compute").values_list("name", flat=True))


def compute_states(name: str = "grid", of: Collection[str] | None = None) -> list[NodeState]:
    """The compute nodes, or those named in `of`, with what the cluster says."""
    compute = nodes(name).filter(kind="compute")
    if of is not None:
        compute = compute.filter(name__in=of)
    return list(starmap(NodeState, compute.values_list(*NodeState._fields)))


def compute_nodes(name: str = "grid") -> list[core.Node]:
    """The compute nodes as the selection takes them, with labels and speed, also those that are closed."""
    return list(map(_node, nodes(name).filter(kind="compute")))


def effective_cpus(name: str, of: Collection[str]) -> dict[str, float]:
    """What a rank has of the reference processor on each node of `of`, as last measured; without those not known."""
    rows = nodes(name).filter(name__in=of)
    return {node.id: node.effective_cpu for node in map(_node, rows)}


def speeds(name: str, of: Collection[str]) -> dict[str, float]:
    """How fast each node of `of` is, the reference node being 1; without those not known."""
    return dict(nodes(name).filter(name__in=of).values_list("name", "speed"))


def offers(name: str) -> Offers:
    """What a job may ask the cluster for; empty while it was never reached, or offers no choice."""
    facts: Offers | None = Cluster.objects.filter(name=name).values_list("facts", flat=True).first()
    return facts or {}


def traits(cluster: str) -> Traits:
    """What is true of all clusters of its kind; of one that is not set up any more what a Grid would promise."""
    configured: Setting | None = settings.CLUSTERS.get(cluster)
    return configured.traits if configured else GRID


def last_measured(cluster: Cluster, rows: Sequence[Node | NodeFigures]) -> core.Topology:
    """The cluster as a topology with what was measured last: the peak of a link that no measurement crossed, an idle
    processor for a node whose load is unknown."""
    return _topology(cluster, map(_node, rows), _kept_links(cluster, rows))


def _kept_links(cluster: Cluster, rows: Sequence[Node | NodeFigures]) -> Sequence[core.Link]:
    """The links of a large cluster, read again only once something of them has changed; at most MOST_KEPT clusters'."""
    if len(rows) < KEPT_FROM:
        return tuple(_read_links(cluster, rows))
    found = _links_of.pop(cluster.pk, None)
    if found is None or found[0] != cluster.figures_key:
        found = cluster.figures_key, link_table(cluster, rows)
    _links_of[cluster.pk] = found  # at the end: what was asked for last is kept longest
    for oldest in list(_links_of)[:-MOST_KEPT]:
        _links_of.pop(oldest, None)
    return found[1]


def _read_links(cluster: Cluster, rows: Sequence[Node | NodeFigures]) -> Iterator[core.Link]:
    names = {node.pk: node.name for node in rows}
    columns = ("source_id", "target_id", "capacity", "bandwidth", "latency", "measured_at", "origin")
    for source, target, peak, bandwidth, latency, at, origin in links(cluster.name).values_list(*columns):
        yield core.Link(
            names[source],
            names[target],
            peak,
            peak if bandwidth is None else bandwidth,
            latency or 0.0,
            measured_at=at.timestamp() if at else None,
            origin=(origin or "probe") if at else "",
        )


class _Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...


def structure(cluster: Cluster, rows: Iterable[_Named], peaks: Iterable[tuple[str, str, float]]) -> core.Topology:
    """The cluster as a topology whose links have their peaks alone; `peaks`: source, target and capacity in bit/s."""
    bare = (core.Link(source, target, peak, peak) for source, target, peak in peaks)
    return _topology(cluster, (core.Node(row.name, _kind(row)) for row in rows), bare)


def _topology(cluster: Cluster, rows: Iterable[core.Node], between: Iterable[core.Link]) -> core.Topology:
    return core.Topology(
        name=cluster.topology or cluster.name,
        directed=cluster.directed,
        kind="pairs" if cluster.kind == "pairs" else "links",
        nodes=tuple(rows),
        links=between if isinstance(between, Sequence) else tuple(between),
        routing=stored_rules(cluster.routing),
    )


def _kind(row: _Named) -> Literal["compute", "network"]:
    return "network" if row.kind == "network" else "compute"


def _node(node: Node | NodeFigures) -> core.Node:
    cpu = 1.0 if node.cpu is None else min(1.0, max(0.0, node.cpu))
    return core.Node(node.name, _kind(node), cpu, node.speed, node.labels)
