"""Reading what is known of the clusters: the network as a value for the selection, and rows for pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Max, QuerySet
from django.utils import timezone

from gridportal.clusters import Cluster as Setting
from gridportal.errors import InputError
from monitoring.core import topology as core
from monitoring.models import Cluster, Link, Node, Reading


@dataclass(frozen=True)
class NetworkStatus:
    """The network as last measured. `age` in seconds; `topology.links[].bandwidth` is what is available, bit/s."""

    topology: core.Topology
    measured_at: datetime | None
    age: float | None
    warning: str
    cluster: Cluster

    @property
    def measured(self) -> bool:
        """Whether any figure rests on a measurement; without one peak bandwidths stand in."""
        return self.measured_at is not None


def configured() -> dict[str, Setting]:
    """The clusters of GRIDPORTAL_CLUSTERS by name; the first is the default."""
    return dict(settings.CLUSTERS)


def default_cluster() -> str:
    """The cluster that is meant when none is named."""
    return next(iter(settings.CLUSTERS))


def setting(name: str) -> Setting:
    """How the cluster `name` is set up. Raises InputError for one that is not."""
    found: Setting | None = settings.CLUSTERS.get(name)
    if found is None:
        raise InputError("cluster", name, "the name of a cluster that is known here: " + ", ".join(settings.CLUSTERS))
    return found


def cluster(name: str = "grid") -> Cluster | None:
    """The cluster called `name`, if it was ever seen."""
    return Cluster.objects.filter(name=name).first()


def network_status(name: str = "grid") -> NetworkStatus | None:
    """The measured network as a core Topology; None while the cluster was never reached. Three queries.

    A link that no measurement crossed counts with its peak, a node whose load is unknown as idle. Bandwidths are in
    steps of 1 % of the link's peak and loads in steps of 0.01, which is as much as one short transfer can tell: node
    sets that differ by less are equal to the selection. Rows and readings keep what was measured.
    """
    found = cluster(name)
    if found is None:
        return None
    compute_and_network = list(nodes(name))
    if not compute_and_network:
        return None
    names = {node.pk: node.name for node in compute_and_network}
    rows = links(name).values_list("source_id", "target_id", "capacity", "bandwidth", "latency")
    topology = core.Topology(
        name=found.topology or found.name,
        directed=found.directed,
        kind="pairs" if found.kind == "pairs" else "links",
        nodes=tuple(_node(node) for node in compute_and_network),
        links=tuple(
            core.Link(names[source], names[target], peak, _in_steps(bandwidth, peak), latency or 0.0)
            for source, target, peak, bandwidth, latency in rows
        ),
    )
    age = (timezone.now() - found.measured_at).total_seconds() if found.measured_at else None
    return NetworkStatus(topology, found.measured_at, age, found.warning, found)


def peak_bandwidth(name: str = "grid") -> float | None:
    """The peak of the cluster's best link, bit/s; None while no link is known."""
    peak: float | None = links(name).aggregate(peak=Max("capacity"))["peak"]
    return peak


def nodes(name: str = "grid") -> QuerySet[Node]:
    """Compute and network nodes in the order of the topology."""
    return Node.objects.filter(cluster__name=name)


def links(name: str = "grid") -> QuerySet[Link]:
    """Links with both ends, in the order of the nodes."""
    return Link.objects.filter(cluster__name=name).select_related("source", "target")


def readings(name: str, subject: str, metric: str, since: datetime) -> QuerySet[Reading]:
    """Measured values of a node (`n1`) or a directed pair (`n1>n2`), oldest first."""
    return Reading.objects.filter(cluster__name=name, subject=subject, metric=metric, at__gte=since).order_by("at")


def compute_labels(name: str = "grid") -> list[dict[str, str]]:
    """The labels of each compute node; empty while the cluster was never reached."""
    return list(nodes(name).filter(kind="compute").values_list("labels", flat=True))


def compute_names(name: str = "grid") -> list[str]:
    """The compute nodes' names in the order of the topology; empty while the cluster was never reached."""
    return list(nodes(name).filter(kind="compute").values_list("name", flat=True))


def compute_states(name: str = "grid") -> list[Node]:
    """The compute nodes with what the cluster says of them: closed, busy, free_at, facts."""
    return list(nodes(name).filter(kind="compute").only("name", "closed", "busy", "free_at", "facts", "cluster_id"))


def offers(name: str) -> dict[str, Any]:
    """What a job may ask the cluster for; empty while it was never reached, or offers no choice."""
    return Cluster.objects.filter(name=name).values_list("facts", flat=True).first() or {}


def _node(node: Node) -> core.Node:
    cpu = 1.0 if node.cpu is None else round(min(1.0, max(0.0, node.cpu)), 2)
    return core.Node(node.name, "network" if node.kind == "network" else "compute", cpu, node.speed, node.labels)


def _in_steps(bandwidth: float | None, peak: float) -> float:
    """The nearest whole percentage of the peak; a link that carries anything at all keeps one."""
    if bandwidth is None:
        return peak
    return max(round(100 * bandwidth / peak), 1 if bandwidth > 0 else 0) * peak / 100
