"""Files of every kind are read whole: all that is wrong is said at once, in sentences, and nothing is guessed."""

from __future__ import annotations

import json

import pytest

from gridportal.base.errors import GridPortalError
from gridportal.network import topology_files
from gridportal.network.importers import read
from gridportal.testbed import topologies

CONF = "SwitchName=s1 Nodes=n[1-2] LinkSpeed=10G\nSwitchName=s2 Nodes=n3\nSwitchName=top Switches=s[1-2] LinkSpeed=40G"
BLOCKS = "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4"


def said(text: str, **checks: object) -> list[str]:
    return [str(problem) for problem in read(text, "net", **checks).problems]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["cactus", "crossbar10", "cmu8", "grads", "grads-whole", "smp6"])
def test_the_shipped_topologies_have_no_problem_and_read_as_the_strict_reader_does(name: str) -> None:
    path = topologies.find(name)
    found = read(path.read_text(encoding="utf-8"), path.stem)
    assert found.format == "node-link"
    assert found.believed() == topology_files.load(path)


def test_a_tree_of_slurm_names_the_links_without_speed() -> None:
    assert said(CONF) == ["line 2: no capacity is known of the link s2 - n3."]
    tree = read(CONF, "net", capacity=1e9).believed()
    assert [link.capacity for link in tree.links] == [1e10, 1e10, 1e9, 4e10, 4e10]


def test_blocks_are_switches_under_one_that_joins_them() -> None:
    found = read(BLOCKS, "net", capacity=1e9).believed()
    assert [node.id for node in found.nodes] == ["n1", "n2", "n3", "n4", "b1", "b2", "between-blocks"]
    assert len(found.links) == 6
    assert len(said(BLOCKS)) == 2, "one sentence for each line without capacities"


def test_nodes_that_the_cluster_does_not_have_or_the_file_leaves_out_are_named() -> None:
    assert said(CONF, nodes={"n1", "n2", "n4"}, capacity=1e9) == [
        "n3 is in the file and not a node of the cluster.",
        "n4 is a node of the cluster and not in the file.",
    ]


def test_parts_without_a_way_to_each_other_are_named() -> None:
    apart = "SwitchName=s1 Nodes=n[1-3] LinkSpeed=1\nSwitchName=s2 Nodes=n[4-5] LinkSpeed=1"
    assert said(apart) == ["n4 and n5 have no way to n1, n2 and n3."]


def test_every_wrong_entry_of_our_own_format_is_named_not_only_the_first() -> None:
    document = {
        "nodes": [{"id": "a"}, {"id": "a"}, {"kind": "network"}, {"id": "s", "kind": "network"}, {"id": "t", "cpu": 2}],
        "links": [
            {"source": "a", "target": "zz", "capacity": 1},
            {"source": "a", "target": "s"},
            {"source": "a", "target": "s", "capacity": 1, "bandwidth": 2},
        ],
    }
    assert said(json.dumps(document)) == [
        "nodes[1].id is 'a'; accepted is a name that no other node has.",
        "nodes[2] is {'kind': 'network'}; accepted is an object with an id.",
        "nodes[4].cpu is 2; accepted is a number from 0 to 1.",
        "links[0].target is 'zz'; accepted is the id of a node in nodes.",
        "links[2].bandwidth is 2.0; accepted is at most the capacity, 1.",
        "links[1]: no capacity is known of the link a - s.",
    ]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", "hello", '{"nodes": [], "links": []}', "\x00\x00", '{"nodes": 1}']
)
def test_whatever_a_file_holds_there_is_a_sentence_and_no_traceback(text: str) -> None:
    found = read(text, "net")
    assert found.topology is None
    assert found.problems
    with pytest.raises(GridPortalError):
        found.believed()
