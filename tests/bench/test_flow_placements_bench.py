"""How good groups are when all pairs talk at once, and how long they take: beside the bound and plain tree order."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

import pytest

from gridportal.network.topology import Topology
from scheduling.jobs.core.patterns import named
from scheduling.selection.core.flows.flow_bound import FlowBound
from scheduling.selection.core.flows.flow_starts import FlowStarts
from scheduling.selection.core.flows.link_crossings import LinkCrossings
from scheduling.selection.core.flows.switch_flows import flow_model
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.placement import Request
from scheduling.selection.core.selection import select
from tests.bench.fabrics import clos, dragonfly, fat_tree

pytestmark = pytest.mark.bench

#: By what stands in the table: with noise, so that no two links have as much left.
NETWORKS: dict[str, Callable[[], Topology]] = {
    "full-bisection-2000": lambda: fat_tree(2000),
    "tapered-2000": lambda: fat_tree(2000, taper=2.0),
    "clos-ecmp-1024": lambda: clos(16),
    "dragonfly-1056": dragonfly,
}


@pytest.mark.parametrize("name", NETWORKS)
def test_placements_beside_the_bound_and_tree_order(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    net = NETWORKS[name]()
    for shape in ("ring", "mesh-2d", "hypercube", "all-to-all"):
        for ranks in (64, 256, 1024):
            if name.startswith("dragonfly") and shape == "all-to-all" and ranks > 64:
                continue  # no tree of switches tells all there, and link by link it takes minutes
            pattern = named(shape, ranks)
            request = Request(ranks, "pattern", pattern, flows=True, candidates=1)
            started = time.perf_counter()
            found = select(net, request, rng=random.Random(0), clock=time.perf_counter).candidates[0]
            seconds = time.perf_counter() - started
            pairs = Pairs(net, net.compute_nodes())
            crossings = LinkCrossings(pairs)
            starts = FlowStarts(FlowBound(pairs.switches, crossings, pattern))
            model = flow_model(pairs.switches, crossings)
            order = model.lowest(next(starts.in_tree_order()), [edge[:2] for edge in pattern.edges])
            assert found.bound is not None
            assert found.score >= order
            with capsys.disabled():
                sys.stdout.write(
                    f"\n  {name}, {shape} of {ranks}: {found.score / found.bound:.3f} of the bound,"
                    f" {found.score / order:.1f} times tree order, {seconds:.1f} s"
                )
