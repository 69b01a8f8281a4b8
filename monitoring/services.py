"""Writing down what the clusters are and what is measured on them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from gridportal.clusters import Cluster as Setting
from gridportal.errors import BackendError, InputError
from monitoring.adapters import grid
from monitoring.adapters.base import Telemetry
from monitoring.adapters.slurm import SlurmSource, SlurmTelemetry
from monitoring.core import estimate
from monitoring.core import topology as core
from monitoring.core.measurement import ClusterFacts, Measurement, NodeLoad, NodeState
from monitoring.models import Cluster, Link, Node, Reading
from monitoring.selectors import setting

log = logging.getLogger(__name__)
KEEP_READINGS = timedelta(hours=24)
_SHORTEST_LEASE = 30.0
_LOOK_AGAIN = 0.2


#: How old, in seconds, a look at a Slurm cluster's nodes may be: many jobs are placed with one.
_LOOK_AGE = 2.0
_slurm_source: Callable[[Setting], SlurmSource] | None = None


def provide_slurm(source: Callable[[Setting], SlurmSource]) -> None:
    """Say who asks Slurm. The app that speaks its language does this when it starts; here nothing imports it."""
    global _slurm_source
    _slurm_source = source


def telemetry(cluster: str = "grid") -> Telemetry:
    """Where the figures of `cluster` come from. Raises BackendError for a cluster that is not set up (any more)."""
    try:
        found = setting(cluster)
    except InputError as error:
        raise BackendError(f"The cluster {cluster} is not set up here: {error}") from error
    below = grid.connect(found.state_dir or settings.KNOBS.grid_state_dir)
    if found.backend == "grid":
        return below
    if _slurm_source is None:
        raise BackendError("Nothing here speaks with Slurm; is the app scheduling installed?")
    return SlurmTelemetry(_slurm_source(found), found.capacity, below if found.probe == "grid" else None)


def measure(cluster: str = "grid", *, max_age: float | None = None) -> Cluster:
    """One sweep over the network, unless the last one is younger than `max_age` seconds.

    Two workers never measure at once: the second waits for the first and takes its figures. Raises BackendError when
    the cluster does not answer; the cluster's row then says so.
    """
    row = _known(cluster)
    while not _fresh(row, max_age):
        if _claim(row):
            return _sweep(row)
        asked = timezone.now()
        row = _wait(row)
        if row.measured_at and row.measured_at >= asked - timedelta(seconds=max_age or 0.0):
            return row
        if row.error and row.error_at and row.error_at >= asked:
            raise BackendError(row.error)
    return row


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
    row.mode, row.warning, row.facts = facts.mode, facts.warning, dict(facts.offers)
    row.backend = _backend(cluster)
    row.save(
        update_fields=["topology", "kind", "directed", "mode", "warning", "measured_at", "facts", "backend"],
    )
    _write_structure(row, topology)
    return row


def refresh_loads(cluster: str = "grid") -> Cluster:
    """Write down the nodes' load and state of this moment, without any transfer; a sweep only when the nodes are not
    those that are known, as after the Grid was built anew. On Slurm a look may be two seconds old. Raises
    BackendError; the cluster's row then says so."""
    try:
        return _look(_known(cluster))
    except BackendError as error:
        note_error(cluster, str(error))
        raise


def note_error(cluster: str, error: str) -> None:
    """Write down that a cluster does not answer, for the pages to show; empty when it does again."""
    rows = Cluster.objects.filter(name=cluster)
    if not error:
        rows.exclude(error="").update(error="", error_at=None)
    elif not rows.update(error=error, error_at=timezone.now()) and cluster in settings.CLUSTERS:
        Cluster.objects.get_or_create(
            name=cluster, defaults={"error": error, "error_at": timezone.now(), "backend": _backend(cluster)}
        )


def _look(row: Cluster) -> Cluster:
    now = timezone.now()
    slurm = row.backend == "slurm"
    if slurm and row.loads_at and (now - row.loads_at).total_seconds() < _LOOK_AGE:
        return row
    seen = telemetry(row.name).look()
    known = set(row.nodes.filter(kind="compute").values_list("name", flat=True))
    if known != {load.node for load in seen.loads}:
        return measure(row.name)
    with transaction.atomic():
        _write_loads(row, seen.loads, now)
        _write_states(row, seen.states)
        Cluster.objects.filter(pk=row.pk).update(loads_at=now, **({"error": "", "error_at": None} if slurm else {}))
    return row


def _backend(cluster: str) -> str:
    found = settings.CLUSTERS.get(cluster)
    return found.backend if found else "grid"


def _write_states(row: Cluster, states: Iterable[NodeState]) -> None:
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


def is_idle(row: Cluster) -> bool:
    """Whether no node has as much as half a process running."""
    return not row.nodes.filter(load__gte=0.5).exists()


def record(row: Cluster, topology: core.Topology, measured: Measurement) -> None:
    """Write a sweep down: pairs as readings, estimates on links, loads on nodes; once an hour, prune old readings."""
    at = datetime.fromtimestamp(measured.at, UTC)
    with transaction.atomic():
        Reading.objects.bulk_create(_readings(row, measured, at), batch_size=500)
        _write_links(row, topology, measured, at)
        _write_loads(row, measured.loads, at)
        Cluster.objects.filter(pk=row.pk).update(
            measured_at=at, probe_seconds=measured.seconds, probe_bytes=measured.bytes, error="", error_at=None
        )
    if row.measured_at is None or row.measured_at.hour != at.hour:
        Reading.objects.filter(at__lt=timezone.now() - KEEP_READINGS, cluster=row).delete()


def _known(cluster: str) -> Cluster:
    """The cluster's row; made from what the Grid says of itself the first time."""
    row = Cluster.objects.filter(name=cluster).exclude(topology="").first()
    return row or refresh_cluster(telemetry(cluster).facts(), cluster)


def _fresh(row: Cluster, max_age: float | None) -> bool:
    if row.measured_at is None or max_age is None:
        return False
    return (timezone.now() - row.measured_at).total_seconds() <= max_age


def _claim(row: Cluster) -> bool:
    """Take the lease of a measurement; it is three times as long as the last one took."""
    now = timezone.now()
    until = now + timedelta(seconds=max(_SHORTEST_LEASE, 3 * (row.probe_seconds or 0.0)))
    free = Q(measuring_until=None) | Q(measuring_until__lt=now)
    return bool(Cluster.objects.filter(free, pk=row.pk).update(measuring_until=until))


def _sweep(row: Cluster) -> Cluster:
    try:
        source = telemetry(row.name)
        facts = source.facts()
        row = refresh_cluster(facts, row.name)
        record(row, facts.topology, source.measure())
        if row.backend == "slurm":
            _write_states(row, source.look().states)
    except BackendError as error:
        Cluster.objects.filter(pk=row.pk).update(error=str(error), error_at=timezone.now())
        log.warning("cluster %s could not be measured: %s", row.name, error)
        raise
    finally:
        Cluster.objects.filter(pk=row.pk).update(measuring_until=None)
    row.refresh_from_db()
    log.info("cluster %s: measured in %.1f s", row.name, row.probe_seconds or 0.0)
    return row


def _wait(row: Cluster) -> Cluster:
    """Until whoever measures has done so, or its lease has run out."""
    while row.measuring_until and row.measuring_until > timezone.now():
        time.sleep(_LOOK_AGAIN)
        row.refresh_from_db()
    return row


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


def _readings(row: Cluster, measured: Measurement, at: datetime) -> list[Reading]:
    rows = []
    for pair in measured.pairs:
        subject = f"{pair.source}>{pair.target}"
        rows.append(Reading(cluster=row, subject=subject, metric="bandwidth", at=at, value=pair.bandwidth))
        if pair.latency is not None:
            rows.append(Reading(cluster=row, subject=subject, metric="latency", at=at, value=pair.latency))
    for load in measured.loads:
        rows.append(Reading(cluster=row, subject=load.node, metric="cpu", at=at, value=load.cpu))
        rows.append(Reading(cluster=row, subject=load.node, metric="load", at=at, value=load.load))
    return rows


def _write_links(row: Cluster, topology: core.Topology, measured: Measurement, at: datetime) -> None:
    found = estimate.link_bandwidths(topology, measured.pairs)
    latencies = {(pair.source, pair.target): pair.latency for pair in measured.pairs}
    changed = []
    for link in row.links.select_related("source", "target"):
        ends = (link.source.name, link.target.name)
        if ends in found:
            link.bandwidth, link.measured_at = found[ends], at
            link.latency = latencies.get(ends, link.latency)
            changed.append(link)
    Link.objects.bulk_update(changed, ["bandwidth", "latency", "measured_at"], batch_size=200)


def _write_loads(row: Cluster, loads: Iterable[NodeLoad], at: datetime) -> None:
    by_name = {load.node: load for load in loads}
    nodes = [node for node in row.nodes.all() if node.name in by_name]
    for node in nodes:
        node.cpu, node.load, node.measured_at = by_name[node.name].cpu, by_name[node.name].load, at
    Node.objects.bulk_update(nodes, ["cpu", "load", "measured_at"], batch_size=200)
