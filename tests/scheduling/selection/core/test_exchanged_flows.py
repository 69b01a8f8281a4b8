"""What is worked out for many nodes at once is what it is for each of them alone."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.network.sharing import sharing
from gridportal.network.topology import Topology
from scheduling.jobs.core.patterns import named
from scheduling.selection.core.flows.exchanged_flows import ExchangedFlows
from scheduling.selection.core.flows.link_crossings import LinkCrossings
from scheduling.selection.core.pairs.pair_rates import Pairs
from tests.bench.fabrics import clos
from tests.examples import examples
from tests.gridportal.network.networks import random_network


def network(seed: int) -> Topology:
    return clos(4, seed=seed) if seed % 4 == 0 else random_network(seed, cycles=seed % 3, directed=seed % 5 == 0)


@given(st.integers(0, 9_999), st.sampled_from(["ring", "star", "all-to-all"]))
@settings(max_examples=examples(36, fuzz=200), deadline=None)
def test_a_node_in_the_place_of_another_gets_what_the_whole_placement_tells(seed: int, shape: str) -> None:
    topology = network(seed)
    rng = random.Random(seed)
    nodes = topology.compute_nodes()
    crossings = LinkCrossings(Pairs(topology, nodes), caps=[rng.uniform(0.1, 1.0) for _ in nodes] if seed % 2 else None)
    places = rng.choices(range(len(nodes)), k=rng.randint(2, 6))  # several ranks on a node, too
    edges = [(a, b) for a, b, _ in named(shape, len(places)).edges if places[a] != places[b]]
    flows = ExchangedFlows(crossings, places, edges)
    for left, taken in itertools.product(set(places), set(range(len(nodes))) - set(places)):
        moved = [taken if place == left else place for place in places]
        assert flows.lowest(left, taken) == crossings.lowest(moved, edges)


@given(st.integers(0, 9_999), st.integers(1, 5))
@settings(max_examples=examples(36, fuzz=200), deadline=None)
def test_a_node_gets_at_most_what_its_own_links_let_through(seed: int, flows: int) -> None:
    topology = network(seed)
    nodes = topology.compute_nodes()
    crossings = LinkCrossings(Pairs(topology, nodes), unit=3.0, caps=[1.0] * len(nodes) if seed % 2 else None)
    routes = crossings.routes
    for node, each in enumerate(nodes):
        bounds = [crossings.caps[node]]
        for arcs in (routes.leaving[routes.place[each.id]], routes.arriving[routes.place[each.id]]):
            alone = [crossings.rate(arc, flows * crossings.units if len(arcs) == 1 else 1) for arc in arcs]
            bounds.append(max(alone, default=-math.inf))
        assert crossings.access(node, flows) == min(bounds)
        for arc in routes.leaving[routes.place[each.id]]:
            share = sharing(topology.links[arc >> 1]).rate(flows / crossings.units)
            assert crossings.share(arc, flows) == pytest.approx(share / 3.0)


@pytest.mark.parametrize("seed", range(4))
def test_nodes_alike_are_those_on_one_switch_by_links_in_the_same_state(seed: int) -> None:
    topology = random_network(seed)
    nodes = topology.compute_nodes()
    crossings = LinkCrossings(Pairs(topology, nodes))
    link = {end: each for each in topology.links for end in (each.source, each.target)}
    for a, b in itertools.combinations(range(len(nodes)), 2):
        one, other = link[nodes[a].id], link[nodes[b].id]
        above = {one.source, one.target} - {nodes[a].id}, {other.source, other.target} - {nodes[b].id}
        alike = above[0] == above[1] and sharing(one) == sharing(other)
        assert (crossings.equivalence_key(a) == crossings.equivalence_key(b)) is alike
