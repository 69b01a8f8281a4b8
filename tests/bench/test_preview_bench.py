"""How long the preview of a job takes on large clusters, measured pairs and their history included: the service and the
whole page, in seconds and as multiples of one sort of a million numbers by Python in the same run."""

from __future__ import annotations

import itertools
import os
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from gridportal.network.sweep_result import ClusterFacts
from gridportal.network.topology import Link, Node, Topology
from monitoring.clusters.models import Cluster
from monitoring.clusters.models import Link as LinkRow
from monitoring.history.core.samples import Sample
from monitoring.status.selectors.network_status import network_status
from monitoring.telemetry.services import clusters, last_figures, readings
from monitoring.telemetry.services.readings import MOST_SERIES
from scheduling.jobs.core.requirements import Requirements
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.placing.services.preview import preview
from tests.bench.fabrics import ACCESS, clos, fat_tree
from tests.scheduling.pages.test_pages import form_of

pytestmark = [pytest.mark.bench, pytest.mark.django_db]


def crossbar(count: int) -> Topology:
    """Every pair with a private path."""
    names = [f"n{i}" for i in range(count)]
    links = tuple(Link(a, b, ACCESS, ACCESS) for a, b in itertools.combinations(names, 2))
    return Topology("crossbar", False, "pairs", tuple(map(Node, names)), links)


NETWORKS = {
    "tree-1000": lambda: fat_tree(1000),
    "short-1024": lambda: clos(16, rule="short"),
    "ecmp-1024": lambda: clos(16),
    "pairs-1000": lambda: crossbar(1000),
    "tree-10000": lambda: fat_tree(10_000),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_preview(name: str, application: Any, client_as: Any, capsys: Any) -> None:
    topology = NETWORKS[name]()
    cluster = clusters.refresh_cluster(ClusterFacts(topology, "", ""), "grid")
    measure(cluster, topology)
    unit = seconds(lambda: sorted(numbers))
    say = Table(capsys, name, unit)
    say("reading after a measurement, then again", lambda: network_status("grid"), forget(cluster))
    for flows in (False, True):
        asked = Requirements(flows=flows)
        spec = JobSpec(application, {}, 8, method="pattern", pattern="ring", requirements=asked)
        say(f"preview{', flows' if flows else ''}", lambda spec=spec: preview(spec))
    form = form_of(application, node_count="8", method="pattern", pattern="ring")
    say("page", lambda: client_as("user").post("/submit/preview", form))


rng = random.Random(1)
numbers = [rng.random() for _ in range(1_000_000)]


class Table:
    """Prints a line for each piece of work: the first time, and the least of those after."""

    def __init__(self, capsys: Any, network: str, unit: float) -> None:
        self.capsys, self.network, self.unit = capsys, network, unit

    def __call__(self, what: str, work: Callable[[], Any], before: Callable[[], None] = lambda: None) -> None:
        before()
        first, *later = [seconds(work) for _ in range(int(os.environ.get("TIMES", "4")))]
        with self.capsys.disabled():
            sys.stdout.write(
                f"\n  {self.network}, {what}: first {first:.2f} s, then {min(later):.3f} s"
                f" ({min(later) / self.unit:.2f} sorts of a million numbers)"
            )


def seconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    assert work() is not None
    return time.perf_counter() - started


def forget(cluster: Cluster) -> Callable[[], None]:
    return lambda: last_figures.note_changed_links(cluster)


def measure(cluster: Cluster, topology: Topology) -> None:
    """Each link and node has a figure of its own; of measured pairs the history has rates and latencies too."""
    spread = "0.3 + 0.7 * ((id * 48271) % 65537) / 65537"
    table = LinkRow._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET bandwidth = capacity * ({spread}), latency = 0.0001, "
            "measured_at = '2026-01-01 00:00:00', origin = 'probe'"
        )
    at = time.time()
    nodes = topology.compute_nodes()
    samples = [Sample(node.id, "cpu", at, 1.0 - (place % 7) / 20) for place, node in enumerate(nodes)]
    if topology.kind == "links":
        samples += [Sample(f"{node.id}:eth0", metric, at, 1e6) for node in nodes for metric in ("tx", "rx")]
    else:  # a cluster has a million series at most
        ends = [f"{link.source}>{link.target}" for link in topology.links]
        samples += [Sample(pair, "bandwidth", at, 1e9) for pair in ends]
        samples += [Sample(pair, "latency", at, 1e-4) for pair in ends[: MOST_SERIES - len(samples)]]
    readings.record_readings(cluster.name, "bench", samples)
    last_figures.note_changed_links(cluster)
