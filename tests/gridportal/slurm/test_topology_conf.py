"""topology.conf becomes the tree that it describes, or a sentence that names the line."""

from __future__ import annotations

import pytest

from gridportal.base.errors import InputError
from gridportal.network import topology
from gridportal.slurm.topology_conf import parse

CONF = """\
# Two racks under one top switch.
SwitchName=leaf1 Nodes=n[1-2] LinkSpeed=100
SwitchName=leaf2 \\
  Nodes=n3,m[01-02]   # across the room
switchname=top Switches=leaf[1-2] LinkSpeed=10G
"""


def test_switches_and_nodes_become_a_tree() -> None:
    tree = parse(CONF, default_capacity=1e9)
    assert [node.id for node in tree.compute_nodes()] == ["n1", "n2", "n3", "m01", "m02"]
    assert {(link.source, link.target): link.capacity for link in tree.links} == {
        ("leaf1", "n1"): 1e8, ("leaf1", "n2"): 1e8, ("leaf2", "n3"): 1e9, ("leaf2", "m01"): 1e9, ("leaf2", "m02"): 1e9,
        ("top", "leaf1"): 1e10, ("top", "leaf2"): 1e10,
    }  # fmt: skip


def test_the_tree_can_be_written_and_read_as_a_topology_file() -> None:
    tree = parse(CONF, default_capacity=1e9)
    assert topology.parse(topology.dump(tree)) == tree


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "topology.conf is empty"),
        ("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2", "line 2 is 'a'"),
        ("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1", "line 2 is 'n1'"),
        ("SwitchName=a Nodes=n[1-2],n2", "line 1 is 'n2'"),
        ("SwitchName=a Switches=b", "line 1 is 'b'"),
        ("SwitchName=a Nodes=zz", "line 1 is 'zz'"),
        ("SwitchName=a Switches=b\nSwitchName=b Switches=a", "line 1 is 'a'"),
        ("SwitchName=a", "line 1 is 'a'"),
        ("BlockName=a Nodes=n1 LinkSpeed=1", "line 1 is 'linkspeed'"),
        ("SwitchName=a Nodes=n[1-", "host list is"),
        ("hello", "line 1 is 'hello'"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, named: str) -> None:
    with pytest.raises(InputError, match=named):
        parse(text, default_capacity=1e9, cluster_nodes=frozenset({"n1", "n2", "n3"}))
