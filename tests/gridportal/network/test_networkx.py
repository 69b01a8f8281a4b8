"""Topologies as networkx graphs and back, and as the files that networkx writes."""

from __future__ import annotations

import json
from dataclasses import replace

import networkx as nx
import pytest
from hypothesis import given, settings

from gridportal.base.errors import InputError
from gridportal.network import topology
from gridportal.network.importers import graphml, read
from gridportal.network.topology import Link, Topology, dump, parse
from gridportal.network.topology_files import load
from gridportal.testbed import topologies
from tests.scheduling.selection.core.networks import networks

HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
TWO = '<node id="a"/><node id="b"/>'


def same(found: Topology, expected: Topology) -> bool:
    """But for the order of links, and which end of an undirected one is called its source."""

    def turned(network: Topology) -> Topology:
        links = [link if network.directed else _upwards(link) for link in network.links]
        return replace(network, links=tuple(sorted(links, key=repr)))

    return turned(found) == turned(expected)


def _upwards(link: Link) -> Link:
    low, high = sorted((link.source, link.target))
    return replace(link, source=low, target=high)


def problems(text: str) -> list[str]:
    return [str(problem) for problem in read(text, "net").problems]


@settings(max_examples=50, deadline=None)
@given(networks())
def test_a_graph_of_networkx_keeps_everything_but_the_order_of_links(network: Topology) -> None:
    graph = network.to_networkx()
    assert (len(graph), graph.number_of_edges()) == (len(network.nodes), len(network.links))
    assert same(Topology.from_networkx(graph), network)


@settings(max_examples=50, deadline=None)
@given(networks())
def test_what_is_written_as_graphml_is_read_back(network: Topology) -> None:
    found = parse(topology.node_link(nx.parse_graphml(graphml.dumps(network))))
    assert same(found, network)


@pytest.mark.parametrize("name", ["cactus", "crossbar10", "cmu8", "grads", "grads-whole", "smp6"])
def test_files_of_networkx_are_read_whatever_they_call_their_edges(name: str) -> None:
    network = load(topologies.find(name))
    for key in ("links", "edges"):
        text = json.dumps(nx.node_link_data(network.to_networkx(), edges=key))
        assert same(read(text, "net").believed(), network)
    found = read(graphml.dumps(network), "net")
    assert found.format == "graphml"
    assert same(found.believed(), network)


def test_links_with_the_same_ends_stay_two() -> None:
    link = {"source": "a", "target": "b", "capacity": 1e8}
    network = parse({"nodes": [{"id": "a"}, {"id": "b"}], "links": [link, {**link, "source": "b", "target": "a"}]})
    assert network.to_networkx().number_of_edges() == 2
    assert same(Topology.from_networkx(network.to_networkx()), network)
    assert same(read(graphml.dumps(network), "net").believed(), network)
    assert (dump(network)["multigraph"], dump(replace(network, directed=True))["multigraph"]) == (True, False)


def test_paths_of_networkx_are_as_long_as_ours() -> None:
    from gridportal.network.routes import Routes

    network = load(topologies.find("cmu8"))
    graph, routes = network.to_networkx(), Routes(network)
    for node in network.compute_nodes()[1:]:
        path = routes.path("m-1", node.id)
        assert path is not None
        assert len(path.arcs) == nx.shortest_path_length(graph, "m-1", node.id)


def test_defaults_of_a_graphml_file_hold_for_edges_and_nodes_that_say_nothing() -> None:
    keys = '<key id="c" for="edge" attr.name="capacity" attr.type="double"><default>1e9</default></key>'
    text = f'{HEAD}{keys}<graph edgedefault="undirected">{TWO}<edge source="a" target="b"/></graph></graphml>'
    assert read(text, "net").believed().links[0].capacity == 1e9
    assert problems(text.replace("1e9", "-1"))[0] == "edge a - b.capacity is -1.0; accepted is a number above 0."


def test_a_graph_that_is_no_topology_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"links\[0\]\.capacity is empty"):
        Topology.from_networkx(nx.path_graph(2))
    with pytest.raises(InputError, match=r"a key of links\[0\] is 'weight'"):
        Topology.from_networkx(nx.Graph([("a", "b", {"capacity": 1.0, "weight": 3})]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<", "GraphML (unclosed token"),
        ("<graph/>", "GraphML that networkx reads (file not successfully read as graphml)"),
        ("\ufeff<graphml/>", "GraphML that networkx reads"),
        (f'<!DOCTYPE g [<!ENTITY a "aa">]>{HEAD}<graph>{TWO}</graph></graphml>', "GraphML without entities of its own"),
        (f"{HEAD}<graph><node/></graph></graphml>", "node id is empty; accepted is a name that no other node has."),
        (f'{HEAD}<graph>{TWO}<node id="a"/></graph></graphml>', "node id is 'a'; accepted is a name that no other"),
        (f'{HEAD}<graph>{TWO}<edge source="a" target="z"/></graph></graphml>', "edge target is 'z'"),
        (f'{HEAD}<graph>{TWO}<edge source="a" target="b"/></graph></graphml>', "no capacity is known of the link a"),
        (f"{HEAD}<graph>{TWO}<hyperedge/></graph></graphml>", "doesn't support hyperedges"),
        (f'{HEAD}<graph><node id="a"><data key="k">1</data></node></graph></graphml>', "no key k"),
        (f'{HEAD}<key id="k" for="node" attr.name="cpu" attr.type="floot"/><graph>{TWO}</graph></graphml>', "'floot'"),
    ],
)
def test_a_bad_graphml_file_is_one_sentence(text: str, said: str) -> None:
    found = problems(text)
    assert said in found[0]
    assert all(len(problem) < 250 for problem in found)


def test_a_label_that_xml_cannot_hold_is_refused() -> None:
    network = parse({"nodes": [{"id": "a", "site": "c\x00mu"}], "links": []})
    with pytest.raises(InputError, match="a label is "):
        graphml.dumps(network)
