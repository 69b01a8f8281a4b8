"""Flows on networks of switches by one table, and steps towards a level: against link by link, and trying all."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.network.topology import Topology
from scheduling.jobs.core.patterns import Pattern, named
from scheduling.selection.core.flows.flow_bound import FlowBound
from scheduling.selection.core.flows.flow_question import FlowQuestion
from scheduling.selection.core.flows.level_search import LevelSearch
from scheduling.selection.core.flows.switch_flows import flow_model, switch_flows
from scheduling.selection.core.threshold import OutOfTime
from tests.bench.fabrics import clos, dragonfly, fat_tree
from tests.examples import examples
from tests.gridportal.network.networks import random_network
from tests.scheduling.selection.core import test_flows_at_size
from tests.scheduling.selection.core.test_flows_at_size import least


def question(topology: Topology, pattern: Pattern) -> FlowQuestion:
    """As a large pattern has it."""
    asked = test_flows_at_size.question(topology, pattern)
    asked.model = flow_model(asked.tree, asked.crossings)
    return asked


NETWORKS: dict[str, Callable[[int], Topology]] = {
    "tree": lambda seed: fat_tree(24, each=6, pod=2, taper=2.0, seed=seed),
    "clos": lambda seed: clos(4, seed=seed, rule="short"),
    "shared": lambda seed: clos(4, seed=seed),
    "dragonfly": lambda seed: dragonfly(routers=3, each=2, across=1, seed=seed),
    "random": lambda seed: random_network(seed, cycles=seed % 3),
    "directed": lambda seed: random_network(seed, cycles=seed % 3, directed=True),
}


@given(st.sampled_from(sorted(NETWORKS)), st.integers(0, 9_999), st.sampled_from(["ring", "star", "all-to-all"]))
@settings(max_examples=examples(24, fuzz=120), deadline=None)
def test_a_table_of_switches_counts_the_flows_that_paths_do(name: str, seed: int, shape: str) -> None:
    topology = NETWORKS[name](seed)
    count = len(topology.compute_nodes())
    pattern = named(shape, min(7, count))
    asked = question(topology, pattern)
    group = random.Random(seed).sample(range(count), pattern.ranks)
    slowest = least(topology, group, pattern)
    assert asked.value(tuple(group)) == pytest.approx(slowest) or slowest < 0
    ways, model = asked.model.ways, asked.model
    if ways is None:
        return
    for a, b in itertools.combinations(range(count), 2):
        pair = model.pair(a, b)
        assert pair is not None
        between = Counter(pair) & Counter(ways.names.tolist() * 4)
        counts = ways.crossings(np.array([a]), np.array([b]))
        assert Counter(dict(zip(ways.names.tolist(), counts.tolist(), strict=True))) == Counter(
            {each: between[each] for each in ways.names.tolist()}
        )
    for level in (1e6, 7e6, 1e9, 6e9):
        for each, flows in zip(ways.names.tolist(), model.lets_through(level).tolist(), strict=True):
            assert flows == 0 or model.rate(each, flows) >= level * (1 - 1e-9)
            assert model.rate(each, flows + 1) < level


def test_networks_whose_nodes_do_not_hang_on_one_switch_have_no_table() -> None:
    assert switch_flows(question(clos(4), named("ring", 4)).crossings) is None
    assert switch_flows(question(clos(4, rule="short"), named("ring", 4)).crossings) is not None


def searched(asked: FlowQuestion, group: tuple[int, ...], ticks: int) -> list[tuple[int, ...]]:
    """The placements that a search finds in so many looks at the clock."""
    left = iter(range(ticks))

    def tick() -> None:
        if next(left, None) is None:
            raise OutOfTime

    bound = FlowBound(asked.tree, asked.crossings, asked.pattern)
    high = bound.highest(0.0, 1e11, lambda: None)[1]
    ways = asked.model.ways
    assert ways is not None
    search = LevelSearch(bound, asked.model, ways, asked.beside, rng=random.Random(1), tick=tick)
    found = []
    try:
        for better in search.raised(group, asked.value(group), high):
            found.append(better)
    except OutOfTime:
        pass
    assert all(asked.value(better) <= high * (1 + 1e-9) for better in found)
    return found


@given(
    st.sampled_from(["tree", "clos", "shared", "dragonfly"]),
    st.integers(0, 9_999),
    st.sampled_from(["ring", "hypercube", "mesh-2d:2x4"]),
)
@settings(max_examples=examples(12, fuzz=60), deadline=None)
def test_no_placement_is_worse_than_the_one_before_and_each_rank_has_a_node_of_its_own(
    name: str, seed: int, shape: str
) -> None:
    asked = question(NETWORKS[name](seed), named(shape, 8))
    group = tuple(random.Random(seed).sample(range(len(asked.crossings.usable)), 8))
    found = searched(asked, group, 20)
    values = [asked.value(each) for each in (group, *found)]
    assert values == sorted(values)
    assert all(len(set(each)) == 8 for each in found)


def test_above_what_nodes_let_through_no_step_is_looked_at() -> None:
    asked = question(fat_tree(16, each=4, pod=2), named("ring", 8))
    bound = FlowBound(asked.tree, asked.crossings, asked.pattern)
    ways = asked.model.ways
    assert ways is not None
    search = LevelSearch(bound, asked.model, ways, asked.beside, rng=random.Random(1), tick=lambda: None)
    high = 1e15  # no link has as much
    search.at = np.arange(8)
    assert not search._reaches(high)
