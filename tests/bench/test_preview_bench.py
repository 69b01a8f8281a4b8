"""How long the preview of a job takes on large clusters: seconds, and the share of it that goes into reading."""

from __future__ import annotations

import itertools
import os
import random
import sys
import time
from typing import Any

import pytest

from gridportal.network.sweep_result import ClusterFacts
from gridportal.network.topology import Link, Node, Topology
from monitoring.clusters.models import Link as LinkRow
from monitoring.status.selectors.network_status import network_status
from monitoring.telemetry.services import clusters
from scheduling.jobs.core.requirements import Requirements
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.placing.services.preview import preview
from tests.bench.fabrics import ACCESS, clos, fat_tree

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
@pytest.mark.parametrize("flows", [False, True])
def test_a_preview(name: str, flows: bool, application: Any, capsys: Any) -> None:
    topology = NETWORKS[name]()
    clusters.refresh_cluster(ClusterFacts(topology, "", ""), "grid")
    rows = list(LinkRow.objects.filter(cluster__name="grid"))
    rng = random.Random(1)
    for row in rows:
        row.bandwidth = row.capacity * rng.uniform(0.3, 1.0)
    LinkRow.objects.bulk_update(rows, ["bandwidth"], batch_size=5000)
    spec = JobSpec(application, {}, 8, method="pattern", pattern="ring", requirements=Requirements(flows=flows))
    times, reading = [], []
    for _ in range(int(os.environ.get("TIMES", "3"))):
        started = time.perf_counter()
        network_status("grid")
        reading.append(time.perf_counter() - started)
        started = time.perf_counter()
        shown = preview(spec)
        times.append(time.perf_counter() - started)
    assert shown.candidates
    with capsys.disabled():
        sys.stdout.write(
            f"\n  {name}{', flows' if flows else ''}: first {times[0]:.2f} s, then {min(times[1:]):.2f} s;"
            f" reading alone {reading[0]:.2f} s, then {min(reading[1:]):.2f} s"
        )
