"""How many nodes are connected at every bandwidth, against brute force; and what is left out changes no answer."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.network.narrowest import bandwidth
from gridportal.network.topology import Topology, parse
from scheduling.selection.core.trees.merge_tree import MergeTree
from scheduling.selection.core.trees.part_sizes import part_sizes, within
from scheduling.selection.core.trees.tree_groups import TreeGroups
from scheduling.selection.core.trees.usable_network import build
from tests.scheduling.selection.core import oracle


def forest(compute: int, switches: int, seed: int, speeds: int) -> Topology:
    """Compute nodes with one link each, to a switch or in rare cases to each other; switches in trees."""
    rng = random.Random(seed)
    nodes = [{"id": f"n{i}", "cpu": rng.choice((0.2, 0.5, 1.0))} for i in range(compute)]
    nodes += [{"id": f"s{i}", "kind": "network"} for i in range(switches)]
    ends = [(f"s{i}", f"s{rng.randrange(i)}") for i in range(1, switches) if rng.random() < 0.9]
    ends += [(f"n{i}", f"s{rng.randrange(switches)}") for i in range(2, compute)]
    ends.append(("n0", "n1") if rng.random() < 0.2 else ("n0", "s0"))
    rng.shuffle(ends)
    links = [{"source": a, "target": b, "capacity": 1e6 * rng.randint(1, speeds)} for a, b in ends]
    return parse({"nodes": nodes, "links": links})


networks = st.builds(forest, st.integers(2, 7), st.integers(1, 5), st.integers(0, 10**6), st.sampled_from((2, 5, 100)))


@given(networks)
def test_the_bottleneck_of_every_number_of_nodes_is_that_of_brute_force(topology: Topology) -> None:
    network = build(topology, topology.compute_nodes(), bandwidth)
    names = [node.id for node in topology.compute_nodes()]
    pairs = oracle.both_ways(topology, lambda link: link.bandwidth)
    expected = []
    for m in range(2, len(names) + 1):
        best = max(min(pairs[ends] for ends in combinations(group, 2)) for group in combinations(names, m))
        if best > oracle.NONE:
            expected.append(best)
    assert part_sizes(network, network.w).bottlenecks().tolist() == expected


@given(networks, st.integers(2, 5), st.integers(1, 6))
def test_the_best_groups_lie_in_the_parts_that_are_kept(topology: Topology, m: int, k: int) -> None:
    network = build(topology, topology.compute_nodes(), bandwidth)
    cpu = [node.cpu for node in topology.compute_nodes()]
    whole = TreeGroups(MergeTree(network), m, cpu).ranked(k)
    level = part_sizes(network, network.w).level(m, k)
    part, numbers = within(network, network.w, m, level)
    kept = TreeGroups(MergeTree(part), m, [cpu[number] for number in numbers]).ranked(k)
    assert [value for value, _ in kept] == [value for value, _ in whole][: len(kept)]
    assert len(kept) == len(whole) or level > -np.inf
    assert [tuple(numbers[list(group)]) for _, group in kept] == [group for _, group in whole][: len(kept)]


def test_nodes_without_links_have_no_bottleneck() -> None:
    topology = parse({"nodes": [{"id": "a"}, {"id": "b"}], "links": []})
    network = build(topology, topology.compute_nodes(), bandwidth)
    assert part_sizes(network, network.w).bottlenecks().tolist() == []


@pytest.mark.parametrize("m", [2, 3, 9])
def test_a_part_is_small_where_few_links_are_fast(m: int) -> None:
    topology = forest(400, 20, 7, 10**6)
    network = build(topology, topology.compute_nodes(), bandwidth)
    part, numbers = within(network, network.w, m, part_sizes(network, network.w).level(m, 3))
    assert m <= part.count == len(numbers) < 10 * m
