"""Networks route by a rule, by fixed paths or by tables; everybody reads the same of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings

from gridportal.base.errors import InputError
from gridportal.network.flows import Flow, flow_query
from gridportal.network.importers import graphml, read
from gridportal.network.narrowest import bandwidth, narrowest
from gridportal.network.routes import Routes
from gridportal.network.topology import Link, Topology, dump, parse
from tests.examples import examples
from tests.gridportal.network.networks import fat_tree
from tests.scheduling.selection.core import networks


def diamond(routing: object = "short", **changes: object) -> Topology:
    """a - s, then t (the first) or u, then v - b, c."""
    ends = [("a", "s"), ("s", "u"), ("s", "t"), ("u", "v"), ("t", "v"), ("v", "b"), ("v", "c")]
    nodes = [*({"id": x} for x in "abc"), *({"id": x, "kind": "network"} for x in "stuv")]
    links = [{"source": x, "target": y, "capacity": 100.0} for x, y in ends]
    return parse({"nodes": nodes, "links": links, "graph": {"routing": routing}, **changes})


def way(topology: Topology, source: str, target: str) -> str | None:
    routes = Routes(topology)
    path = routes.path(source, target)
    return None if path is None else "".join(routes.nodes(source, path))


def test_the_short_rule_takes_the_neighbour_that_stands_first_among_the_nodes_whatever_the_order_of_the_links() -> None:
    net = diamond()
    assert way(net, "a", "b") == "astvb"
    assert way(replace(net, links=net.links[::-1]), "a", "b") == "astvb"
    assert way(Topology.from_networkx(net.to_networkx()), "a", "b") == "astvb"


def test_a_path_in_the_file_counts_for_its_pair_in_both_directions_and_for_no_other() -> None:
    net = diamond({"paths": [["a", "s", "u", "v", "b"]]})
    assert [way(net, *pair) for pair in ("ab", "ba", "ac")] == ["asuvb", "bvusa", "astvc"]


def test_a_table_leads_by_the_target_and_drops_what_it_does_not_have() -> None:
    net = diamond({"tables": {"s": {"b": "u", "a": "a"}}})
    assert [way(net, *pair) for pair in ("ab", "ba", "ac")] == ["asuvb", "bvtsa", None]


def test_with_ecmp_a_flow_is_shared_evenly_and_gets_what_all_its_ways_give() -> None:
    net = diamond("ecmp")
    path = Routes(net).path("a", "b")
    assert path is not None
    assert path.several
    assert sorted(part for _, part in path.loads) == [0.5, 0.5, 0.5, 0.5, 1.0, 1.0]
    slow = replace(net, links=tuple(replace(x, bandwidth=30.0) if x.target == "t" else x for x in net.links))
    (rate,) = flow_query(slow, [Flow("a", "b")])
    assert (rate.bandwidth, rate.binding) == (60.0, ("s", "t"))


def test_with_ecmp_hash_each_pair_has_one_way_and_pairs_have_different_ones() -> None:
    tree = fat_tree(4)
    hashed = Routes(replace(tree, routing=replace(tree.routing, rule="ecmp-hash")))
    pairs = list(permutations((node.id for node in tree.compute_nodes()), 2))
    paths = {pair: hashed.path(*pair) for pair in pairs}
    assert all(path is not None and not path.spread for path in paths.values())
    assert len({hashed.nodes(a, path)[3] for (a, b), path in paths.items() if path and len(path.arcs) == 6}) == 4


def test_flows_that_share_evenly_fill_a_link_by_their_parts() -> None:
    net = diamond("ecmp")
    slow = tuple(replace(x, bandwidth=40.0) if "u" in (x.source, x.target) else x for x in net.links)
    rates = flow_query(replace(net, links=slow), [Flow("a", "b"), Flow("a", "c")])
    assert [rate.bandwidth for rate in rates] == [40.0, 40.0]


@settings(max_examples=examples(21, fuzz=100), deadline=None)
@given(networks.routed())
def test_all_pairs_at_once_are_the_narrowest_links_of_their_paths(topology: Topology) -> None:
    routes, names = Routes(topology), [node.id for node in topology.compute_nodes()]
    rates = narrowest(routes, names, bandwidth)
    for (i, a), (j, b) in permutations(enumerate(names), 2):
        path = routes.path(a, b)
        loads = path.loads if path else ()
        expected = min((bandwidth(topology.links[arc >> 1], part) for arc, part in loads), default=-np.inf)
        assert rates[i, j] == pytest.approx(expected)


@settings(max_examples=50, deadline=None)
@given(networks.routed())
def test_a_topology_comes_back_with_its_routing_from_every_format(topology: Topology) -> None:
    again = parse(dump(topology))
    assert again == topology
    if not topology.directed and topology.routing.is_fixed:
        names = {link: (link.source, link.target) for link in topology.links}
        if len({frozenset(ends) for ends in names.values()}) == len(topology.links):
            drawn = read(graphml.dumps(topology), "drawn").topology
            assert drawn is None or drawn.routing == topology.routing


@pytest.mark.parametrize(
    ("routing", "said"),
    [
        ("fastest", "graph.routing is 'fastest'; accepted is short, ecmp or ecmp-hash"),
        (7, "graph.routing is 7"),
        ({"rules": "short"}, "a key of graph.routing is 'rules'; accepted is rule, paths or tables"),
        ({"paths": "asb"}, "graph.routing.paths is 'asb'"),
        ({"paths": [["a", "v", "b"]]}, r"graph.routing.paths\[0\] is 'a - v'; accepted is a link from each node"),
        ({"paths": [["a", "s", "b", "v", "c"]]}, "network nodes between two compute nodes"),
        ({"paths": [["a", "s", "t", "v", "b"], ["a", "s", "u", "v", "b"]]}, "one path from a to b"),
        ({"tables": {"a": {}}}, "a key of graph.routing.tables is 'a'; accepted is the id of a network node"),
        ({"tables": {"s": {"t": "t"}}}, "a key of graph.routing.tables.s is 't'; accepted is the id of a compute node"),
        (
            {"tables": {"s": {"b": "v"}}},
            "graph.routing.tables.s.b is 'v'; accepted is a node that a link from s",
        ),
        ({"tables": {"s": {"b": "t"}, "t": {"b": "s"}}}, "tables that lead to b, not in a circle"),
        ('{"rule": ', "graph.routing is .* accepted is JSON"),
    ],
)
def test_what_is_wrong_with_routing_is_named(routing: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        diamond(routing)


def test_measured_pairs_are_their_own_paths_and_have_no_routing() -> None:
    document = {"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b", "capacity": 1}]}
    with pytest.raises(InputError, match=r"graph.routing is 'ecmp'; accepted is no routing where graph.kind is pairs"):
        parse({**document, "graph": {"kind": "pairs", "routing": "ecmp"}})


def test_a_path_that_lost_a_link_is_no_path() -> None:
    net = diamond({"paths": [["a", "s", "u", "v", "b"]]})
    left = tuple(link for link in net.links if (link.source, link.target) != ("u", "v"))
    assert way(replace(net, links=left), "a", "b") is None
    assert way(replace(net, links=(*left, Link("u", "v", 1, 1))), "a", "b") == "asuvb"
