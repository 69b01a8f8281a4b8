"""Logical topologies: smaller, and for the chosen nodes the same."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from gridportal.network.flows import Flow, flow_query
from gridportal.network.logical import Logical, LogicalLink, logical_topology
from gridportal.network.routes import Routes
from gridportal.network.routing_rules import RoutingRules
from gridportal.network.topology import Link, Node, Topology, dump, parse
from tests.examples import examples
from tests.gridportal.network.networks import fat_tree, random_network

networks = st.builds(
    random_network,
    st.integers(0, 10_000),
    cycles=st.integers(0, 5),
    directed=st.booleans(),
    kind=st.sampled_from(["links", "pairs"]),
)


def chosen(topology: Topology, seed: int) -> list[str]:
    rng = random.Random(seed)
    names = [node.id for node in topology.compute_nodes()]
    return rng.sample(names, rng.randint(2, len(names)))


@given(networks, st.integers(0, 1000), st.booleans())
@settings(max_examples=examples(60, fuzz=300), deadline=None)
def test_flows_among_the_chosen_nodes_get_the_same_as_on_the_whole_network(
    topology: Topology, seed: int, half_duplex: bool
) -> None:
    names = chosen(topology, seed)
    small = logical_topology(topology, names)
    rng = random.Random(seed)
    flows = [Flow(*rng.sample(names, 2)) for _ in range(6)]
    whole = flow_query(topology, flows, half_duplex=half_duplex)
    part = flow_query(small.topology, flows, routing=small, half_duplex=half_duplex)
    assert [r.bandwidth for r in part] == pytest.approx([r.bandwidth for r in whole])
    assert [r.latency for r in part] == pytest.approx([r.latency for r in whole])
    assert [(r.held, r.several) for r in part] == [(r.held, r.several) for r in whole]


@given(st.integers(0, 10_000), st.integers(0, 1000))
@settings(max_examples=examples(41, fuzz=200), deadline=None)
def test_on_a_tree_no_switch_is_left_that_only_passes_on(seed: int, choice: int) -> None:
    topology = random_network(seed)
    small = logical_topology(topology, chosen(topology, choice)).topology
    for node in small.nodes:
        ends = [link for link in small.links if node.id in (link.source, link.target)]
        assert node.kind == "compute" or len(ends) > 2


@given(st.integers(0, 10_000), st.integers(0, 1000))
@settings(deadline=None)
def test_on_a_tree_the_logical_topology_routes_as_its_paths_say(seed: int, choice: int) -> None:
    """There is one way only, so whoever reads the document finds the same flows without the ways."""
    topology = random_network(seed)
    names = chosen(topology, choice)
    small = logical_topology(topology, names)
    routes = Routes(small.topology)
    assert all(routes.path(a, b) == small.path(a, b) for a in names for b in names if a != b)


def line() -> Topology:
    """a - s - t - u - b, with c beside t, and a switch v that leads nowhere."""
    nodes = [*(Node(n) for n in "abc"), *(Node(n, "network") for n in "stuv")]
    ends = ("as", "st", "tu", "ub", "tc", "uv")
    links = [Link(e[0], e[1], 100 - i, 50 + i, 0.1, measured_at=10.0 + i, origin="probe") for i, e in enumerate(ends)]
    return Topology("line", False, "links", tuple(nodes), tuple(links))


def test_a_chain_is_one_link_with_the_least_bandwidth_and_the_sum_of_latencies() -> None:
    found = logical_topology(line(), ["b", "a"])
    (link,) = found.topology.links
    assert isinstance(link, LogicalLink)
    assert (link.source, link.target, link.through) == ("b", "a", ("u", "t", "s"))
    assert (link.capacity, link.bandwidth, link.latency) == (97, 50, pytest.approx(0.4))
    assert (link.measured_at, link.origin) == (10.0, "probe")
    assert found.left_out == (1, 1, 2)


def test_a_switch_where_paths_part_stays() -> None:
    found = logical_topology(line(), ["a", "b", "c"])
    assert {node.id for node in found.topology.nodes} == {"a", "b", "c", "t"}
    assert [(x.source, x.target) for x in found.topology.links] == [("a", "t"), ("t", "b"), ("t", "c")]


def test_nodes_without_a_path_stand_alone() -> None:
    apart = Topology("apart", False, "links", (Node("a"), Node("b")), ())
    assert logical_topology(apart, ["a", "b"]) == Logical(apart, {}, (0, 0, 0))


def test_of_several_paths_only_the_one_in_use_is_drawn() -> None:
    small = logical_topology(fat_tree(4), ["n0.0.0", "n1.0.0"]).topology
    assert len(small.links) == 1


def test_a_saved_one_has_each_parallel_link_that_a_hash_chooses_from_in_its_order() -> None:
    """Four pairs over four wires between two switches, of which the hash takes three."""
    names = [f"{side}{i}" for side in "ab" for i in range(4)]
    nodes = (*map(Node, names), *(Node(name, "network") for name in "st"))
    ends = [*((name, "s" if name < "b" else "t") for name in names), *[("s", "t")] * 4]
    links = tuple(Link(a, b, 100, 100 - place) for place, (a, b) in enumerate(ends))
    whole = Topology("wires", False, "links", nodes, links, RoutingRules("ecmp-hash"))
    chosen = [name for name in names if name[1] in "02"]
    small = logical_topology(whole, chosen)
    flows = [Flow(a, b) for a in chosen for b in chosen if a != b]
    saved = parse(dump(small.topology))
    rates = [[one.bandwidth for one in flow_query(net, flows)] for net in (whole, saved)]
    assert rates[0] == rates[1]
    assert len({link for path in small.ways.values() for link in path.arcs if link >> 1 > 3}) > 1, "several are taken"
    assert small.left_out == (0, 4, 4)


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (["a", "s"], "nodes is 's'; accepted is the name of a compute node: a, b, c."),
        (["a", "a"], "nodes is 'a'; accepted is each node once."),
        ([], "nodes is empty; accepted is at least one compute node."),
    ],
)
def test_nodes_that_cannot_be_chosen_are_named(nodes: list[str], said: str) -> None:
    with pytest.raises(InputError) as refused:
        logical_topology(line(), nodes)
    assert str(refused.value) == said
