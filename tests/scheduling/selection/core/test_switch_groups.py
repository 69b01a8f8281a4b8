"""Routers of one group of a dragonfly are one part of its tree; switches that only meet further up are not."""

from __future__ import annotations

import numpy as np

from gridportal.network.topology import Topology
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.trees.switch_groups import close_switches
from tests.bench.fabrics import clos, dragonfly


def parts_of_nodes(topology: Topology, above: int) -> list[int]:
    """By node the part that is so many parts above its switch."""
    tree = Pairs(topology, topology.compute_nodes()).switches
    found = tree.home.tolist()
    for _ in range(above):
        found = [tree.parent[part] for part in found]
    return found


def test_each_group_of_a_dragonfly_is_a_part_between_its_routers_and_the_whole():
    topology = dragonfly(routers=4, each=2, across=2)
    groups = parts_of_nodes(topology, 1)
    assert len(set(groups)) == 9
    assert [groups.index(group) for group in groups] == [8 * (node // 8) for node in range(72)]
    assert set(parts_of_nodes(topology, 2)) == set(parts_of_nodes(topology, 2)[:1])


def test_edge_switches_of_a_fat_tree_have_no_links_between_them_and_are_no_group():
    pods = parts_of_nodes(clos(4), 1)
    assert [pods.index(pod) for pod in pods] == [4 * (node // 4) for node in range(16)]


def test_switches_of_a_torus_are_no_group():
    side = 6
    at = [(x, y) for x in range(side) for y in range(side)]
    arcs = [
        (x * side + y, (x + dx) % side * side + (y + dy) % side)
        for x, y in at
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))
    ]
    tail, head = np.array(arcs).T
    assert list(close_switches(head, tail)) == []
