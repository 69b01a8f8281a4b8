"""Routes: shortest, through network nodes only, the same every time, whatever finds them."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.network.routes import Core, Path, Routes
from gridportal.network.routing_rules import RoutingRules
from gridportal.network.topology import Topology
from tests.gridportal.network.networks import fat_tree, random_network


def shortest(topology: Topology, source: str, target: str) -> list[tuple[str, ...]]:
    """Every path with the fewest links through network nodes, by trying all of them, level by level."""
    network = {node.id for node in topology.nodes if node.kind == "network"}
    hops = {(x.source, x.target) for x in topology.links}
    hops |= set() if topology.directed else {(b, a) for a, b in hops}
    paths: list[tuple[str, ...]] = [(source,)]
    while paths:
        found = [(*path, target) for path in paths if (path[-1], target) in hops]
        if found:
            return found
        paths = [(*path, b) for path in paths for a, b in hops if a == path[-1] and b in network and b not in path]
    return []


@given(st.integers(0, 10_000), st.integers(0, 6), st.booleans())
def test_paths_are_shortest_and_pass_through_network_nodes_only(seed: int, cycles: int, directed: bool) -> None:
    topology = random_network(seed, cycles=cycles, directed=directed)
    routes = Routes(topology)
    for a in topology.compute_nodes():
        for b in topology.compute_nodes():
            if a is b:
                continue
            path, possible = routes.path(a.id, b.id), shortest(topology, a.id, b.id)
            if path is None:
                assert not possible
                continue
            assert routes.nodes(a.id, path) in possible
            assert path.several or len(possible) == 1
            here = a.id
            for arc in path.arcs:
                link = topology.links[arc >> 1]
                assert here == (link.target if arc & 1 else link.source)
                here = link.source if arc & 1 else link.target


@given(st.integers(0, 10_000))
def test_climbing_a_tree_and_searching_it_find_the_same_path(seed: int) -> None:
    topology = random_network(seed)
    climbing, searching = Routes(topology), Routes(topology)
    searching.finder = Core(searching)
    names = [node.id for node in topology.compute_nodes()]
    assert [climbing.path(a, b) for a in names for b in names if a != b] == [
        searching.path(a, b) for a in names for b in names if a != b
    ]


def test_the_first_of_several_equal_links_in_the_file_is_taken_and_said_to_be_one_of_several() -> None:
    routes = Routes(fat_tree(4))
    path = routes.path("n0.0.0", "n3.1.1")
    assert path is not None
    assert routes.nodes("n0.0.0", path) == ("n0.0.0", "edge0.0", "up0.0", "core0", "up3.0", "edge3.1", "n3.1.1")
    assert path.several
    beside = routes.path("n0.0.0", "n0.0.1")
    assert beside is not None
    assert not beside.several


@pytest.mark.parametrize("rule", ["short", "ecmp", "ecmp-hash"])
@pytest.mark.parametrize("cycles", [0, 3])
def test_the_way_of_a_node_to_itself_is_no_link(rule: str, cycles: int) -> None:
    """Two ranks on one node send nothing over a link."""
    topology = replace(random_network(0, cycles=cycles), routing=RoutingRules(rule))
    routes = Routes(topology)
    assert {routes.path(node.id, node.id) for node in topology.nodes} == {Path(())}


def spread_of(core: Core, a: int, b: int) -> tuple[tuple[int, float], ...]:
    """The even parts of a flow, from node to node as its pair goes."""
    loads: dict[int, float] = {}
    level = {a: 1.0}
    while level:
        following: dict[int, float] = {}
        for here, part in level.items():
            arcs = core.following(here, b)
            for arc in arcs:
                loads[arc] = loads.get(arc, 0.0) + part / len(arcs)
                there = core.routes.head[arc]
                following[there] = following.get(there, 0.0) + part / len(arcs)
        following.pop(b, None)
        level = following
    return tuple(loads.items())


def check_spreads(topology: Topology) -> Core:
    """Every pair has the parts that it has by itself, bit for bit and in the same order."""
    routes = Routes(replace(topology, routing=RoutingRules("ecmp")))
    core = Core(routes)
    for a, b in permutations(range(len(topology.nodes)), 2):
        path = core.path(a, b)
        if path is not None and path.several:
            assert path.spread == spread_of(core, a, b)
    return core


@given(st.integers(0, 10_000), st.integers(1, 6), st.booleans())
@settings(deadline=None)
def test_what_is_worked_out_once_for_two_switches_is_what_each_pair_has(seed: int, cycles: int, directed: bool) -> None:
    check_spreads(random_network(seed, cycles=cycles, directed=directed))


def test_the_ways_between_switches_are_worked_out_once_for_all_nodes_on_them() -> None:
    """In a 6-ary fat tree 54 nodes are on 18 switches; 27 switches more stand above."""
    core = check_spreads(fat_tree(6))
    assert len({key for key in core.inner_spreads if len(key[0]) == 1}) <= 45 * 44


def test_a_node_that_is_not_there_is_an_error_of_the_caller() -> None:
    with pytest.raises(KeyError):
        Routes(fat_tree(2)).path("n9", "n0.0.0")
