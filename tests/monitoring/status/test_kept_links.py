"""Links of a large cluster are read once for each state of them, whoever changes it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from gridportal.network.link_table import LinkTable
from gridportal.network.sweep_result import ClusterFacts, Measurement, PairRate
from gridportal.network.topology import Link, Node, Topology
from monitoring.clusters import selectors
from monitoring.clusters.models import Cluster
from monitoring.history.core.samples import Sample
from monitoring.status.selectors import network_status as statuses
from monitoring.status.selectors.network_status import network_status
from monitoring.telemetry.core.figures import with_figures
from monitoring.telemetry.services import readings, sweeps
from monitoring.telemetry.services.clusters import refresh_cluster

pytestmark = pytest.mark.django_db
NAMES = ("a", "b", "c")
PAIRS = Topology(
    "t",
    True,
    "pairs",
    tuple(map(Node, NAMES)),
    tuple(Link(x, y, 100.0, 100.0) for x, y in itertools.permutations(NAMES, 2)),
)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.setattr(selectors, "KEPT_FROM", 3)
    monkeypatch.setattr("monitoring.status.selectors.network_status.KEPT_FROM", 3)
    return refresh_cluster(ClusterFacts(PAIRS, "root", ""), "grid")


def measured(cluster: Cluster, rate: float, at: float | None = None) -> None:
    pair = PairRate("a", "b", rate, 1e-4)
    sweeps.record(cluster, PAIRS, Measurement(at or timezone.now().timestamp(), 0.1, 1000, (pair,), ()))


def rate_and_reads() -> tuple[float, int]:
    """Of the pair a, b, and how often links were read for it."""
    with CaptureQueriesContext(connection) as queries:
        status = network_status("grid")
    assert status is not None
    rates = {(link.source, link.target): link.bandwidth for link in status.topology.links}
    table = 'FROM "monitoring_link"'
    return rates["a", "b"], sum(table in query["sql"] for query in queries.captured_queries)


def test_links_are_read_once_for_each_measurement(cluster: Cluster) -> None:
    measured(cluster, 50.0)
    assert [rate_and_reads(), rate_and_reads(), rate_and_reads()] == [(50.0, 1), (50.0, 0), (50.0, 0)]
    measured(cluster, 20.0)
    assert [rate_and_reads(), rate_and_reads()] == [(20.0, 1), (20.0, 0)]


def test_a_measurement_of_the_same_moment_counts_too(cluster: Cluster) -> None:
    at = timezone.now().timestamp()
    for rate in (50.0, 20.0):
        measured(cluster, rate, at)
        assert rate_and_reads() == (rate, 1)


def test_a_table_of_links_has_what_single_links_have(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    at = timezone.now().timestamp()
    measured(cluster, 47.3, at)
    for in_steps in (True, False):
        monkeypatch.setattr(selectors, "KEPT_FROM", 3)
        table = network_status("grid", in_steps=in_steps)
        monkeypatch.setattr(selectors, "KEPT_FROM", 100)
        single = network_status("grid", in_steps=in_steps)
        assert table is not None
        assert single is not None
        assert table.topology.links == single.topology.links
        assert table.topology == single.topology
        one = next(link for link in table.topology.links if (link.source, link.target) == ("a", "b"))
        assert (one.bandwidth, one.origin) == (47.0 if in_steps else 47.3, "probe")
        assert one.measured_at == pytest.approx(at, abs=1e-5)
    assert selectors._links_of


def test_what_was_taken_back_is_forgotten(cluster: Cluster) -> None:
    measured(cluster, 50.0)
    assert rate_and_reads() == (50.0, 1)

    def broken() -> Any:
        measured(cluster, 20.0)
        assert rate_and_reads()[0] == 20.0
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), transaction.atomic():
        broken()
    assert rate_and_reads()[0] == 50.0


def test_another_structure_is_read_and_few_clusters_are_kept(cluster: Cluster) -> None:
    measured(cluster, 50.0)
    rate_and_reads()
    refresh_cluster(ClusterFacts(PAIRS, "root", ""), "grid")
    assert rate_and_reads() == (50.0, 1)
    for number in range(selectors.MOST_KEPT):
        refresh_cluster(ClusterFacts(PAIRS, "root", ""), f"other{number}")
        network_status(f"other{number}")
    assert rate_and_reads() == (50.0, 1)
    assert len(selectors._links_of) <= selectors.MOST_KEPT


@pytest.mark.parametrize("directed", [True, False])
def test_what_is_sent_over_a_table_of_links_is_what_single_links_have(directed: bool) -> None:
    ends = [(0, 1), (1, 2), (2, 0), (1, 0)]
    source, target = np.array(ends).T
    full, none = np.full(len(ends), 100.0), np.full(len(ends), np.nan)
    table = LinkTable(NAMES, source, target, full, full, 0 * full, none, none, none, none, [""] * len(ends))
    used = {("a", "b"): 3.0, ("b", "a"): 5.0, ("c", "b"): 7.0, ("c", "gone"): 9.0}
    nodes = tuple(map(Node, NAMES))
    for sent in (used, {}):
        links = [
            with_figures(Topology("t", directed, "links", nodes, each), {}, used=sent).links
            for each in (table, tuple(table))
        ]
        assert isinstance(links[0], LinkTable)
        assert tuple(links[0]) == links[1]


def test_counters_of_links_are_read_once_for_each_round_of_them(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = []
    of_interfaces = statuses.of_interfaces
    monkeypatch.setattr(statuses, "of_interfaces", lambda *asked: rounds.append(1) or of_interfaces(*asked))
    for number, rate in enumerate((5.0, 6.0), start=1):
        sample = Sample("a>b", "tx", timezone.now().timestamp(), rate)
        readings.record_readings("grid", "test", [sample])
        for _ in range(3):
            status = network_status("grid")
            assert status is not None
            assert {(link.source, link.target): link.used for link in status.topology.links}["a", "b"] == rate
        assert len(rounds) == number
