"""Hops between switches, all at once, against the routes pair by pair."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.network.narrowest import bandwidth, narrowest
from gridportal.network.routes import Routes
from gridportal.network.routing_rules import RoutingRules
from gridportal.network.switch_hops import links_in_use, switch_hops
from gridportal.network.topology import Topology
from scheduling.selection.core.pairs.pair_rates import Pairs
from tests.examples import examples
from tests.gridportal.network.networks import fat_tree, random_network

NETWORKS = st.builds(
    lambda seed, cycles, rule, directed: replace(
        random_network(seed, cycles=cycles, directed=directed), routing=RoutingRules(rule)
    ),
    st.integers(0, 99_999),
    st.integers(0, 6),
    st.sampled_from(["short", "ecmp"]),
    st.booleans(),
)


@given(NETWORKS)
@settings(max_examples=examples(30, fuzz=150), deadline=None)
def test_the_narrowest_links_are_those_of_the_routes(network: Topology) -> None:
    routes, names = Routes(network), [node.id for node in network.compute_nodes()]
    expected = np.full((len(names), len(names)), -np.inf)
    for i, j in permutations(range(len(names)), 2):
        path = routes.path(names[i], names[j])
        if path:
            expected[i, j] = min(bandwidth(network.links[arc >> 1], part) for arc, part in path.loads)
    found = narrowest(routes, names, bandwidth)
    assert np.allclose(found, expected)
    both = Pairs(network, network.compute_nodes()).rates(bandwidth)
    assert np.allclose(both, np.minimum(expected, expected.T))


@given(NETWORKS.filter(lambda network: network.routing.rule == "short"))
@settings(max_examples=80, deadline=None)
def test_links_in_use_are_those_of_the_routes(network: Topology) -> None:
    routes, names = Routes(network), [node.id for node in network.compute_nodes()]
    if links_in_use(network) is None:
        return
    paths = [path for pair in permutations(names, 2) if (path := routes.path(*pair))]
    assert {arc >> 1 for path in paths for arc in path.arcs} <= set(np.flatnonzero(links_in_use(network)).tolist())


def test_a_fat_tree_by_the_short_rule_is_a_tree_and_with_shared_paths_it_is_not() -> None:
    short = fat_tree(4)
    shared = replace(short, routing=RoutingRules("ecmp"))
    assert Pairs(short, short.compute_nodes()).tree(bandwidth) is not None
    assert Pairs(shared, shared.compute_nodes()).tree(bandwidth) is None


def test_every_arc_of_a_fat_tree_carries_its_part_of_the_flows() -> None:
    network = replace(fat_tree(4), routing=RoutingRules("ecmp"))
    hops = switch_hops(network)
    assert hops is not None
    assert hops.arc_shares.parts == pytest.approx([0.25, 0.5])
    assert hops.arc_shares.pairs.sum() == sum(
        len(path.loads) - 2
        for a, b in permutations([f"n{pod}.{edge}.0" for pod in range(4) for edge in range(2)], 2)
        if (path := Routes(network).path(a, b))
    )
