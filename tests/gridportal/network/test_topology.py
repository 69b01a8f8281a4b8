"""Topology files: what is read, what comes back, and what a wrong entry is answered with."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from gridportal.base.errors import InputError
from gridportal.network.importers import node_link
from gridportal.network.topology import Link, dump, parse
from gridportal.network.topology_files import load
from tests.scheduling.selection.core.networks import networks

TWO = {"nodes": [{"id": "a", "cpu": 0.5, "site": "cmu"}, {"id": "s", "kind": "network"}], "links": []}


def with_link(**link) -> dict:
    return {**TWO, "links": [{"source": "a", "target": "s", **link}]}


@settings(max_examples=50, deadline=None)
@given(networks())
def test_what_is_dumped_is_read_back(topology):
    assert parse(json.loads(json.dumps(dump(topology)))) == topology


def test_compute_nodes_are_those_that_ranks_can_run_on():
    assert [node.id for node in parse(TWO).compute_nodes()] == ["a"]


def test_other_entries_of_a_node_are_its_labels():
    assert parse(TWO).node("a").labels == {"site": "cmu"}


def test_an_unknown_node_is_answered_with_those_that_exist():
    with pytest.raises(InputError, match="a, s"):
        parse(TWO).node("b")


def test_bandwidth_is_the_capacity_unless_it_is_given():
    assert parse(with_link(capacity=1e8)).links[0].bandwidth == 1e8
    assert parse(with_link(bandwidth=5e7)).links[0].capacity == 5e7


def test_bwfactor_is_the_available_fraction_of_the_peak():
    assert Link("a", "b", 1e8, 4e7).bwfactor == 0.4


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ([], "topology"),
        ({"nodes": []}, "links"),
        ({"nodes": [{}], "links": []}, r"nodes\[0\]"),
        ({"nodes": [{"id": "a"}, {"id": "a"}], "links": []}, "node id"),
        ({"nodes": [{"id": "a", "kind": "router"}], "links": []}, r"nodes\[0\].kind"),
        ({"nodes": [{"id": "a", "cpu": 1.5}], "links": []}, r"nodes\[0\].cpu"),
        ({"nodes": [{"id": "a", "cpu": True}], "links": []}, r"nodes\[0\].cpu"),
        ({"nodes": [{"id": "a", "speed": 0}], "links": []}, r"nodes\[0\].speed"),
        ({**TWO, "graph": {"kind": "ring"}}, "graph.kind"),
        ({**TWO, "graph": "ring"}, "graph is"),
        ({**TWO, "links": [{"source": "a", "target": "b", "capacity": 1}]}, r"links\[0\].target"),
        ({**TWO, "links": [{"source": "a", "target": "a", "capacity": 1}]}, r"links\[0\].target"),
        ({**TWO, "links": ["a-s"]}, r"links\[0\]"),
        (with_link(), r"links\[0\].capacity"),
        (with_link(capacity=0), r"links\[0\].capacity"),
        (with_link(capacity=1e8, bandwidth=-1), r"links\[0\].bandwidth"),
        (with_link(capacity=1e8, bandwidth=2e8), r"links\[0\].bandwidth is 200000000.0; accepted is at most the"),
        (with_link(capacity=1e8, bandwith=1e7), r"a key of links\[0\] is 'bandwith'; accepted is source, target, cap"),
        ({**TWO, "graph": {"knd": "pairs"}}, "a key of graph is 'knd'; accepted is name, kind or routing"),
        ({**TWO, "direction": True}, "a key of the topology is 'direction'; accepted is directed, multigraph, graph"),
        ({**TWO, "directed": "false"}, "directed is 'false'; accepted is true or false, without quotes"),
        ({**TWO, "directed": 1}, "directed is 1; accepted is true or false"),
        (with_link(capacity=1e8, latency="1 ms"), r"links\[0\].latency"),
    ],
)
def test_a_wrong_entry_is_named(document, field):
    with pytest.raises(InputError, match=field):
        parse(document)


def test_a_file_that_is_not_there_or_not_json_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.json"):
        load(tmp_path / "nowhere.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(InputError, match=r"bad\.json"):
        load(tmp_path / "bad.json")


def test_a_topology_is_called_by_its_file_unless_it_names_itself(tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps(TWO))
    assert load(tmp_path / "mine.json").name == "mine"
    (tmp_path / "mine.json").write_text(json.dumps({**TWO, "graph": {"name": "other"}}))
    assert load(tmp_path / "mine.json").name == "other"


@pytest.mark.parametrize("content", ["[" * 20_000, "1" * 5000, '{"nodes": [], "links": NaN}'])
def test_a_file_that_no_reader_gets_through_is_one_sentence(tmp_path, content):
    (tmp_path / "bad.json").write_text(content)
    with pytest.raises(InputError, match=r"^topology is '.*bad\.json'; accepted is a readable node-link JSON file"):
        load(tmp_path / "bad.json")


@pytest.mark.parametrize("capacity", [10**400, float("inf"), float("nan"), -(10**400)])
def test_a_number_that_fits_no_float_is_refused(capacity):
    two = [{"id": "a"}, {"id": "b"}]
    with pytest.raises(InputError, match=r"links\[0\]\.capacity is "):
        parse({"nodes": two, "links": [{"source": "a", "target": "b", "capacity": capacity}]})


@pytest.mark.parametrize("cpus", [-1, 0, 1.5, "x", 10**30, True, "nan", "inf", [4]])
def test_processors_that_no_node_can_have_are_named_with_it(cpus):
    document = {"nodes": [{"id": "a"}, {"id": "b", "cpus": cpus}], "links": []}
    with pytest.raises(
        InputError, match=r"nodes\[1\]\.cpus \(b\) is .*; accepted is a whole number of processors from 1"
    ):
        parse(document)
    assert "nodes[1].cpus (b)" in str(node_link.draft(json.dumps(document), "net").problems[0])


@pytest.mark.parametrize("cpus", [1, 8, "8", 8.0, "8.0", None])
def test_processors_that_a_node_can_have_are_kept(cpus):
    (node,) = parse({"nodes": [{"id": "a", "cpus": cpus}], "links": []}).nodes
    assert node.labels == ({} if cpus is None else {"cpus": str(cpus)})


def test_a_switch_that_says_type_for_kind_is_no_compute_node_without_a_word():
    nodes = [{"id": "a", "type": "fast"}, {"id": "s", "type": "switch"}]
    sentence = r"nodes\[1\]\.type is 'switch'; accepted is the key kind for it"
    with pytest.raises(InputError, match=sentence):
        parse({"nodes": nodes, "links": []})
    (problem,) = node_link.draft(json.dumps({"nodes": nodes, "links": []}), "net").problems
    assert "nodes[1].type is 'switch'" in str(problem)
    told = parse({"nodes": [nodes[0], {**nodes[1], "kind": "network"}], "links": []})
    assert [node.labels for node in told.nodes] == [{"type": "fast"}, {"type": "switch"}]
    assert len(parse({"nodes": nodes[:1], "links": []}).compute_nodes()) == 1
