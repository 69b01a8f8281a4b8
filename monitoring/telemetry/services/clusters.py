"""Writing down what the clusters are: structure, peaks, states of nodes, and whether they answer."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from gridportal.network import topology as core
from gridportal.network.routing_rules import SHORT
from gridportal.network.sweep_result import ClusterFacts, NodeState
from monitoring.clusters.models import Cluster, Link, Node, new_figures_key
from monitoring.telemetry.services import reach


@transaction.atomic
def refresh_cluster(facts: ClusterFacts, cluster: str = "grid") -> Cluster:
    """Take over structure and peaks; what the topology no longer has goes, measured values of the rest stay."""
    row, _ = Cluster.objects.get_or_create(name=cluster)
    row = Cluster.objects.select_for_update().get(pk=row.pk)
    topology = facts.topology
    if row.topology != topology.name:
        row.nodes.all().delete()
        row.measured_at = None
    row.topology, row.kind, row.directed = topology.name, topology.kind, topology.directed
    row.routing = "" if topology.routing == SHORT else topology.routing.document()
    row.mode, row.warning, row.facts = facts.mode, facts.warning, dict(facts.offers)
    row.backend, row.figures_key = _backend(cluster), new_figures_key()
    row.save(
        update_fields=[
            "figures_key",
            "topology",
            "kind",
            "directed",
            "routing",
            "mode",
            "warning",
            "measured_at",
            "facts",
            "backend",
        ],
    )
    _write_structure(row, topology)
    return row


def note_error(cluster: str, error: str) -> None:
    """Write down that a cluster does not answer, for the pages to show; empty when it does again."""
    rows = Cluster.objects.filter(name=cluster)
    if not error:
        rows.exclude(error="").update(error="", error_at=None)
    elif not rows.update(error=error, error_at=timezone.now()) and cluster in settings.CLUSTERS:
        Cluster.objects.get_or_create(
            name=cluster, defaults={"error": error, "error_at": timezone.now(), "backend": _backend(cluster)}
        )


def note_poll(cluster: str, error: str) -> None:
    """Write down why the runs of a cluster cannot be followed, since the first time; empty when they can again."""
    row = Cluster.objects.filter(name=cluster).first()
    if row is None and error and cluster in settings.CLUSTERS:
        row, _ = Cluster.objects.get_or_create(name=cluster, defaults={"backend": _backend(cluster)})
    if row is None or row.poll_error == error:
        return
    since = (row.poll_failed_at or timezone.now()) if error else None
    Cluster.objects.filter(pk=row.pk).update(poll_error=error, poll_failed_at=since)


def is_idle(row: Cluster) -> bool:
    """Whether no node has as much as half a process running."""
    return not row.nodes.filter(load__gte=0.5).exists()


def cluster_row(cluster: str) -> Cluster:
    """The cluster's row; made from what the Grid says of itself the first time."""
    row = Cluster.objects.filter(name=cluster).exclude(topology="").first()
    return row or refresh_cluster(reach.telemetry(cluster).facts(), cluster)


def write_states(row: Cluster, states: Iterable[NodeState]) -> None:
    """Only the nodes of which something else is said than before."""
    by_name = {state.node: state for state in states}
    changed = []
    for node in row.nodes.filter(name__in=by_name):
        state = by_name[node.name]
        free_at = datetime.fromtimestamp(state.free_at, UTC) if state.free_at else None
        new = (state.closed, state.busy, free_at, dict(state.facts))
        if new != (node.closed, node.busy, node.free_at, node.facts):
            node.closed, node.busy, node.free_at, node.facts = new
            changed.append(node)
    Node.objects.bulk_update(changed, ["closed", "busy", "free_at", "facts"], batch_size=200)


def _write_structure(row: Cluster, topology: core.Topology) -> None:
    wanted = {node.id: (place, node) for place, node in enumerate(topology.nodes)}
    row.nodes.exclude(name__in=wanted).delete()
    Node.objects.bulk_create(
        (
            Node(cluster=row, name=name, position=place, kind=node.kind, speed=node.speed, labels=dict(node.labels))
            for name, (place, node) in wanted.items()
        ),
        update_conflicts=True,
        unique_fields=["cluster", "name"],
        update_fields=["position", "kind", "speed", "labels"],
    )
    ids = dict(row.nodes.values_list("name", "pk"))
    links = {(ids[link.source], ids[link.target]): link for link in topology.links}
    gone = [pk for pk, *ends in row.links.values_list("pk", "source_id", "target_id") if tuple(ends) not in links]
    row.links.filter(pk__in=gone).delete()
    Link.objects.bulk_create(
        (
            Link(cluster=row, source_id=source, target_id=target, capacity=link.capacity)
            for (source, target), link in links.items()
        ),
        update_conflicts=True,
        unique_fields=["cluster", "source", "target"],
        update_fields=["capacity"],
    )


def _backend(cluster: str) -> str:
    configured = settings.CLUSTERS.get(cluster)
    return configured.backend if configured else "grid"
