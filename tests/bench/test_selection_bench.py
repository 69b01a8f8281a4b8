"""How long the choice takes: seconds for the targets, and the ratio to one sort of the links on the same machine."""

from __future__ import annotations

import random
import sys
import time

import numpy as np
import pytest

from gridportal.network.link_columns import link_columns
from gridportal.network.narrowest import bandwidth
from gridportal.network.topology import Topology, parse
from scheduling.jobs.core.patterns import named
from scheduling.selection.core.selection import Request, Selection, select
from scheduling.selection.core.trees.part_sizes import part_sizes
from scheduling.selection.core.trees.usable_network import build

pytestmark = pytest.mark.bench


def tree(compute: int, network: int, seed: int) -> Topology:
    rng = random.Random(seed)
    nodes = [{"id": f"n{i}", "cpu": rng.uniform(0.1, 1)} for i in range(compute)]
    nodes += [{"id": f"s{i}", "kind": "network"} for i in range(network)]
    ends = [(f"s{i}", f"s{rng.randrange(i)}") for i in range(1, network)]
    ends += [(f"n{i}", f"s{rng.randrange(network)}") for i in range(compute)]
    links = [{"source": a, "target": b, "capacity": 1e9, "bandwidth": 1e9 * rng.uniform(0.01, 1)} for a, b in ends]
    return parse({"nodes": nodes, "links": links})


def noisy_pairs(compute: int, seed: int) -> Topology:
    rng = random.Random(seed)
    links = [
        {"source": f"n{a}", "target": f"n{b}", "capacity": 1e8, "bandwidth": 1e8 * rng.uniform(0.1, 1)}
        for a in range(compute)
        for b in range(a)
    ]
    return parse({"graph": {"kind": "pairs"}, "nodes": [{"id": f"n{i}"} for i in range(compute)], "links": links})


def choose(topology: Topology, m: int, method: str, pattern: str | None = None) -> Selection:
    request = Request(m, method, named(pattern, m) if pattern else None, time_budget=20.0)  # type: ignore[arg-type]
    return select(topology, request, rng=random.Random(0), clock=time.perf_counter)


def tell(capsys: pytest.CaptureFixture[str], text: str) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\n  {text}")


@pytest.mark.parametrize("m", [16, 256])
def test_ten_thousand_nodes_on_a_tree(m, capsys):
    net = tree(10_000, 300, 1)
    rates = np.array([link.bandwidth for link in net.links])
    started = time.perf_counter()
    np.argsort(-rates, kind="stable")
    sort = time.perf_counter() - started
    for method, pattern in (
        ("compute", None),
        ("communication", None),
        ("balanced", None),
        ("pattern", "ring"),
        ("pattern", "pairs"),
    ):
        found = choose(net, m, method, pattern)
        sorts = found.seconds / sort
        tell(capsys, f"10,000 nodes, m={m}, {pattern or method}: {found.seconds:.3f} s, {sorts:.0f} sorts")
        assert found.optimal


@pytest.mark.parametrize("count", [100_000, 1_000_000])
def test_large_trees_in_sorts_of_their_links_by_python(count, capsys):
    """The bottleneck and the nodes of one m, and the bottleneck of every m beside it."""
    net = tree(count, count * 3 // 100, 1)
    started = time.perf_counter()
    sorted(net.links, key=lambda link: link.bandwidth)
    sort = time.perf_counter() - started
    started = time.perf_counter()
    link_columns(net)
    reading = time.perf_counter() - started
    tell(capsys, f"{count:,} nodes: arrays of the network {reading / sort:.1f} sorts")
    for method in ("communication", "balanced"):
        for m in (16, 256):
            found = choose(net, m, method)
            tell(capsys, f"{count:,} nodes, m={m}, {method}: {found.seconds:.3f} s, {found.seconds / sort:.1f} sorts")
            assert found.optimal
    started = time.perf_counter()
    network = build(net, net.compute_nodes(), bandwidth)
    assert network is not None
    levels = part_sizes(network, network.w).bottlenecks()
    took = time.perf_counter() - started
    tell(capsys, f"{count:,} nodes, the bottleneck of each of {len(levels):,} numbers: {took / sort:.1f} sorts")


@pytest.mark.parametrize(
    ("pattern", "m"), [("ring", 16), ("mesh-2d:4x4", 16), ("all-to-all", 8), ("hypercube", 16), ("cg", 16)]
)
def test_sixty_four_nodes_with_noisy_pairs(pattern, m, capsys):
    for seed in (1, 2, 3):
        found = choose(noisy_pairs(64, seed), m, "pattern", pattern)
        proved = sum(c.proved for c in found.candidates)
        tell(capsys, f"64 nodes, {pattern}-{m}, seed {seed}: {found.seconds:.2f} s, {proved} of 3 groups proved")
        assert found.optimal
