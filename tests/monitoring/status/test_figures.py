"""The figures on links: the newest one counts, whether a probe or a counter brought it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.utils import timezone

from gridportal.network.sweep_result import Measurement, PairRate
from gridportal.network.topology import Link, Node, Topology
from monitoring.clusters.models import Cluster
from monitoring.clusters.models import Link as Row
from monitoring.clusters.models import Node as NodeRow
from monitoring.history.core.samples import Sample
from monitoring.telemetry.services import readings, sweeps

pytestmark = pytest.mark.django_db
NOW = float(int(timezone.now().timestamp()))
TREE = Topology(
    "t",
    True,
    "links",
    (Node("a"), Node("b"), Node("s", "network")),
    tuple(Link(x, y, 100.0, 100.0) for x, y in (("a", "s"), ("s", "a"), ("b", "s"), ("s", "b"))),
)


@pytest.fixture
def cluster() -> Cluster:
    row = Cluster.objects.create(name="grid", topology="t", kind="links", directed=True)
    nodes = {n.id: NodeRow.objects.create(cluster=row, name=n.id, kind=n.kind) for n in TREE.nodes}
    for link in TREE.links:
        Row.objects.create(cluster=row, source=nodes[link.source], target=nodes[link.target], capacity=link.capacity)
    return row


def probed(cluster: Cluster, at: float, rate: float) -> None:
    measured = Measurement(at, 0.1, 1000, (PairRate("a", "b", rate, 1e-4),), ())
    sweeps.record(cluster, TREE, measured)


def counted(at: float, rate: float) -> None:
    readings.record_readings("grid", "agent", [Sample("a:eth0", "tx", at, rate)])


def figure(source: str = "a", target: str = "s") -> tuple[float | None, str, datetime | None]:
    row = Row.objects.get(source__name=source, target__name=target)
    return row.bandwidth, row.origin, row.measured_at


def moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def test_counters_bring_a_link_up_to_date_that_no_probe_has_crossed(cluster: Cluster) -> None:
    counted(NOW - 60, 30.0)
    counted(NOW - 30, 45.0)
    assert figure() == (55.0, "counter", moment(NOW - 30))
    assert figure("s", "b") == (None, "", None)
    probed(cluster, NOW, 70.0)
    assert figure() == (70.0, "probe", moment(NOW))


def test_a_probe_holds_until_the_next_one_is_due_and_then_counters_take_over(cluster: Cluster) -> None:
    probed(cluster, NOW - 400, 80.0)
    counted(NOW - 390, 45.0)
    assert figure() == (80.0, "probe", moment(NOW - 400))
    counted(NOW - 30, 45.0)
    assert figure() == (55.0, "counter", moment(NOW - 30))
    assert figure("s", "b") == (80.0, "probe", moment(NOW - 400))


def test_an_older_figure_never_replaces_a_newer_one(cluster: Cluster) -> None:
    counted(NOW - 30, 45.0)
    probed(cluster, NOW - 60, 80.0)
    counted(NOW - 90, 5.0)
    assert figure() == (55.0, "counter", moment(NOW - 30))
    assert figure("s", "b") == (80.0, "probe", moment(NOW - 60))


def test_what_the_cluster_tells_of_interfaces_is_believed(cluster: Cluster) -> None:
    NodeRow.objects.filter(name="a").update(facts={"interfaces": {"eth1": "s"}})
    readings.record_readings("grid", "agent", [Sample("a:eth0", "tx", NOW, 99.0), Sample("a:eth1", "tx", NOW, 10.0)])
    assert figure() == (90.0, "counter", moment(NOW))


def test_the_cost_of_a_sweep_is_counted_once(cluster: Cluster) -> None:
    probed(cluster, NOW - 60, 80.0)
    source = cluster.sources.get(name="probes")
    assert (source.cost_bytes, source.total_bytes, source.samples) == (1000, 1000, 2)


def test_the_newest_cpu_of_a_node_is_on_its_row(cluster: Cluster) -> None:
    cpus = [Sample("a", "cpu", NOW - 5, 0.25), Sample("a", "cpu", NOW - 50, 0.75), Sample("a", "load", NOW - 5, 3.0)]
    readings.record_readings("grid", "agent", cpus)
    readings.record_readings("grid", "agent", [Sample("a", "cpu", NOW - 20, 0.5), Sample("elsewhere", "cpu", NOW, 1.0)])
    row = NodeRow.objects.get(name="a")
    assert (row.cpu, row.load, row.measured_at) == (0.25, 3.0, moment(NOW - 5))
