"""The last known figures on the rows of links and nodes: an older one never replaces a newer one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from gridportal.network import estimate
from gridportal.network import topology as core
from gridportal.network.sweep_result import Measurement, NodeLoad
from monitoring.clusters.models import Cluster, Link, Node, new_figures_key
from monitoring.clusters.selectors import structure
from monitoring.history.core.arrivals import LIKELY_IN_FUTURE
from monitoring.history.core.samples import Sample
from monitoring.telemetry.core.counters import METRICS, Interfaces, between_probes
from monitoring.telemetry.core.figures import Ends, Figure

PROBE_HOLDS = 5
_MOMENT = timedelta(seconds=5)
_OF_NODES = ("cpu", "load")
_UNIQUE = ["cluster", "source", "target"]


def lock_figures(row: Cluster) -> None:
    """Let whoever writes figures of this cluster wait until this transaction ends; to be called before the first."""
    Cluster.objects.select_for_update(no_key=True).get(pk=row.pk)


def note_changed_links(row: Cluster) -> None:
    """Let everybody read its links again; in the transaction that changes them."""
    row.figures_key = new_figures_key()
    Cluster.objects.filter(pk=row.pk).update(figures_key=row.figures_key)


def write_samples(row: Cluster, samples: Sequence[Sample]) -> None:
    """What samples say of links and nodes, where it is newer than what is known."""
    telling = [sample for sample in samples if sample.metric in (*METRICS, *_OF_NODES)]
    if telling:
        lock_figures(row)
        write_counters(row, telling)
        write_nodes(row, telling)


def write_links(row: Cluster, topology: core.Topology, measured: Measurement, at: datetime) -> None:
    """What a sweep says of every link that a pair crossed."""
    found = estimate.link_bandwidths(topology, measured.pairs, measured.together)
    latencies = {(pair.source, pair.target): pair.latency for pair in measured.pairs}
    figures = {ends: Figure(rate, at=at.timestamp(), origin="probe") for ends, rate in found.items()}
    _write(row, dict(row.nodes.values_list("pk", "name")), figures, latencies)


def write_counters(row: Cluster, samples: Sequence[Sample]) -> None:
    """What the counters among the samples say of links: the peak less what is used.

    A probe tells more, because it also finds out whether others give way: its figure stays for PROBE_HOLDS times
    PORTAL.measure_every, as long as it takes until a busy network is probed again.
    """
    counted = [sample for sample in samples if sample.metric in METRICS]
    if not counted:
        return
    nodes = list(row.nodes.all())
    names = {node.pk: node.name for node in nodes}
    rows = row.links.values_list("source_id", "target_id", "capacity")
    peaks = ((names[source], names[target], peak) for source, target, peak in rows)
    _write(row, names, between_probes(structure(row, nodes, peaks), counted, _interfaces(nodes)), {})


def write_nodes(row: Cluster, samples: Iterable[Sample]) -> None:
    """Cpu and load of nodes among the samples, where they are newer than what is known."""
    newest: dict[tuple[str, str], Sample] = {}
    for sample in samples:
        if (
            sample.metric in ("cpu", "load")
            and sample.at >= newest.get(key := (sample.subject, sample.metric), sample).at
        ):
            newest[key] = sample
    changed = []
    for node in row.nodes.filter(kind="compute") if newest else ():
        cpu, load = newest.get((node.name, "cpu")), newest.get((node.name, "load"))
        at = datetime.fromtimestamp(cpu.at, UTC) if cpu else None
        if cpu and at and (node.measured_at is None or node.measured_at < at or _is_in_future(node.measured_at)):
            node.cpu, node.load, node.measured_at = cpu.value, load.value if load else node.load, at
            changed.append(node)
    _write_nodes(changed)


def write_loads(row: Cluster, loads: Iterable[NodeLoad], at: datetime) -> None:
    """Cpu and load of nodes. What is the same as a moment ago is not written again: jobs are placed every second."""
    by_name = {load.node: load for load in loads}
    nodes = [node for node in row.nodes.all() if node.name in by_name and _newer(node.measured_at, at)]
    changed = [node for node in nodes if _says_more(by_name[node.name], node, at)]
    for node in changed:
        node.cpu, node.load, node.measured_at = by_name[node.name].cpu, by_name[node.name].load, at
    _write_nodes(changed)


def _says_more(load: NodeLoad, node: Node, at: datetime) -> bool:
    at_last = node.measured_at
    is_same = (node.cpu, node.load) == (load.cpu, load.load)
    return not is_same or at_last is None or not timedelta(0) <= at - at_last < _MOMENT


def _write_nodes(nodes: Sequence[Node]) -> None:
    Node.objects.bulk_create(
        nodes,
        update_conflicts=True,
        unique_fields=["cluster", "name"],
        update_fields=["cpu", "load", "measured_at"],
        batch_size=500,
    )


def _write(
    row: Cluster, names: Mapping[int, str], found: Mapping[Ends, Figure], latencies: Mapping[Ends, float | None]
) -> None:
    """Figures of links, where they are newer. `names`: of all nodes of the cluster, by key. Links are read as values:
    there are thousands, at each poll."""
    columns = ("pk", "source_id", "target_id", "capacity", "latency", "origin", "measured_at")
    changed = []
    for key, source, target, peak, latency, origin, before in _locked(row).values_list(*columns):
        ends = names.get(source, ""), names.get(target, "")
        if (figure := found.get(ends)) is None:
            continue
        at = datetime.fromtimestamp(figure.at or 0.0, UTC)
        if _newer(before, at) and (figure.origin != "counter" or not _probed(origin, before, at)):
            place = {"pk": key, "cluster": row, "source_id": source, "target_id": target, "capacity": peak}
            latency = latencies.get(ends, latency)
            changed.append(Link(**place, bandwidth=figure.value, latency=latency, measured_at=at, origin=figure.origin))
    _write_links(changed)
    if changed:
        note_changed_links(row)


def _locked(row: Cluster) -> QuerySet[Link]:
    return row.links.select_for_update().order_by("pk")


def _write_links(changed: Sequence[Link]) -> None:
    Link.objects.bulk_create(
        changed,
        update_conflicts=True,
        unique_fields=_UNIQUE,
        update_fields=["bandwidth", "latency", "measured_at", "origin"],
        batch_size=500,
    )


def _probed(origin: str, measured_at: datetime | None, at: datetime) -> bool:
    """Whether a probe of a link still holds at that moment."""
    holds = timedelta(seconds=PROBE_HOLDS * settings.PORTAL.measure_every)
    if origin == "counter" or measured_at is None or _is_in_future(measured_at):
        return False
    return at - measured_at < holds


def _newer(stored_at: datetime | None, at: datetime) -> bool:
    return stored_at is None or stored_at <= at or _is_in_future(stored_at)


def _is_in_future(at: datetime) -> bool:
    """Whether it was written by a clock that was set back since."""
    return at > timezone.now() + timedelta(seconds=LIKELY_IN_FUTURE)


def _interfaces(nodes: Iterable[Node]) -> Interfaces:
    """What the cluster says of which link an interface is, where it does."""
    interfaces = {node.name: node.facts.get("interfaces") for node in nodes}
    return {name: links for name, links in interfaces.items() if isinstance(links, dict)}
