"""How long flow queries take: seconds for 10,000 flows, and the ratio to looking up their paths."""

from __future__ import annotations

import random
import sys
import time

import pytest

from gridportal.network.flows import Flow, flow_query
from gridportal.network.routes import Routes
from gridportal.network.topology import Link, Node, Topology
from tests.gridportal.network.networks import fat_tree

pytestmark = pytest.mark.bench


def tree(compute: int, switches: int, seed: int) -> Topology:
    """A tree of switches, eight under each, with links in any state and others on a third of them that yield."""
    rng = random.Random(seed)
    ends = [(f"s{i}", f"s{(i - 1) // 8}", 4e10) for i in range(1, switches)]
    ends += [(f"n{i}", f"s{rng.randrange(switches)}", 1e10) for i in range(compute)]
    nodes = [*(Node(f"s{i}", "network") for i in range(switches)), *(Node(f"n{i}") for i in range(compute))]
    links = [Link(a, b, peak, peak * rng.uniform(0.1, 1), used=rng.choice([None, 0.0, peak])) for a, b, peak in ends]
    return Topology(f"tree of {compute} nodes", False, "links", tuple(nodes), tuple(links))


@pytest.mark.parametrize("network", [tree(9500, 500, 1), fat_tree(32)], ids=["tree", "fat tree"])
def test_ten_thousand_flows(network: Topology, capsys: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(2)
    names = [node.id for node in network.compute_nodes()]
    flows = [Flow(*rng.sample(names, 2)) for _ in range(10_000)]
    started = time.perf_counter()
    routes = Routes(network)
    for flow in flows:
        routes.path(flow.source, flow.target)
    paths = time.perf_counter() - started
    started = time.perf_counter()
    rates = flow_query(network, flows)
    whole = time.perf_counter() - started
    assert all(rate.bandwidth > 0 for rate in rates)
    with capsys.disabled():
        sys.stdout.write(
            f"\n  {network.name}, {len(network.nodes):,} nodes, {len(network.links):,} links: 10,000 flows in"
            f" {whole:.2f} s, {whole / paths:.1f} times as long as their paths alone"
        )
