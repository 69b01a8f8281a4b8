"""Flows at once: the bound against every placement, several ranks a node, large groups, and time that runs out."""

from __future__ import annotations

import itertools
import json
import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.base.errors import ImpossibleError
from gridportal.network.flows import Flow, flow_query
from gridportal.network.narrowest import bandwidth
from gridportal.network.topology import Topology
from scheduling.jobs.core.patterns import Pattern, named
from scheduling.messages import message
from scheduling.selection.core.flows.concurrent import best_concurrent
from scheduling.selection.core.flows.flow_bound import FlowBound, sums
from scheduling.selection.core.flows.flow_question import FlowQuestion
from scheduling.selection.core.flows.flow_search import FlowSearch
from scheduling.selection.core.flows.flow_starts import FlowStarts
from scheduling.selection.core.flows.least_cuts import least_cuts
from scheduling.selection.core.flows.link_crossings import LinkCrossings
from scheduling.selection.core.flows.slowest_pairs import slowest_pairs
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.placement import Request, Selection, document
from scheduling.selection.core.selection import select
from scheduling.selection.core.threshold import OutOfTime
from scheduling.selection.core.trees.switch_tree import switch_tree
from tests.bench.fabrics import clos, fat_tree
from tests.examples import examples
from tests.gridportal.network.networks import random_network

SHAPES = st.sampled_from(["ring", "line", "star", "all-to-all", "mesh-2d:2x2"])


def question(topology: Topology, pattern: Pattern, slots: Sequence[int] | None = None, k: int = 1) -> FlowQuestion:
    pairs = Pairs(topology, topology.compute_nodes())
    names = [node.id for node in pairs.usable]
    tree = switch_tree(topology, names, pairs.tree(bandwidth), pairs.routes)
    crossings = LinkCrossings(pairs)
    rng = random.Random(0)
    return FlowQuestion(
        crossings, tree, pattern, k, rng=rng, clock=time.monotonic, deadline=time.monotonic() + 20.0, slots=slots
    )


def least(topology: Topology, group: Sequence[int], pattern: Pattern) -> float:
    """By a flow query; ranks of one node have no flow."""
    names = [node.id for node in topology.compute_nodes()]
    ends = [(names[group[a]], names[group[b]]) for a, b, _ in pattern.edges if group[a] != group[b]]
    rates = flow_query(topology, [Flow(*pair) for a, b in ends for pair in ((a, b), (b, a))])
    return min((rate.bandwidth if rate.path else -1.0 for rate in rates), default=math.inf)


def talking(group: Sequence[int], pattern: Pattern) -> tuple[tuple[int, ...], ...]:
    """The nodes that talk, whichever ranks are there: groups with the same have the same flows."""
    ends = ((group[a], group[b]) for a, b, _ in pattern.edges)
    return tuple(sorted(tuple(sorted(pair)) for pair in ends if pair[0] != pair[1]))


@given(st.integers(0, 99_999), st.integers(2, 9), st.sampled_from(["ring", "line", "hypercube", "mesh", "other"]))
@settings(max_examples=examples(12, fuzz=60), deadline=None)
def test_no_set_of_ranks_has_fewer_edges_to_the_others_than_the_least_cut(seed: int, ranks: int, shape: str) -> None:
    rng = random.Random(seed)
    pairs = [pair for pair in itertools.combinations(range(ranks), 2) if rng.random() < 0.5]
    pattern = Pattern(rng.choice(["ring", "x"]), ranks, tuple((a, b, 1.0) for a, b in pairs))
    if shape == "hypercube":
        pattern = named("hypercube", 8)
    elif shape == "mesh":
        rows, columns = rng.randint(1, 3), rng.randint(2, 4)
        pattern = named(f"mesh-2d:{rows}x{columns}", rows * columns)
    elif shape != "other":
        pattern = named(shape, ranks)
    fewest = [10**9] * (pattern.ranks + 1)
    for chosen in range(1 << pattern.ranks):
        cut = sum((chosen >> a ^ chosen >> b) & 1 for a, b, _ in pattern.edges)
        fewest[chosen.bit_count()] = min(fewest[chosen.bit_count()], cut)
    cuts = least_cuts(pattern).tolist()
    assert all(at_least <= cut for at_least, cut in zip(cuts, fewest, strict=True))
    if shape in ("ring", "line", "hypercube", "mesh"):
        assert cuts == fewest


@given(st.sets(st.integers(0, 12)), st.sets(st.integers(0, 12)), st.integers(0, 20))
def test_sets_of_numbers_are_added_as_bits(one: set[int], other: set[int], most: int) -> None:
    bits = [sum(1 << number for number in numbers) for numbers in (one, other)]
    added = sums(*bits, most)
    assert {number for number in range(30) if added >> number & 1} == {
        a + b for a in one for b in other if a + b <= most
    }


@given(st.integers(0, 10_000), st.integers(0, 3), st.booleans(), SHAPES, st.data())
@settings(max_examples=examples(24, fuzz=120), deadline=None)
def test_with_several_ranks_a_node_the_best_is_what_trying_all_finds_and_no_bound_is_below_it(
    seed: int, cycles: int, directed: bool, shape: str, data: st.DataObject
) -> None:
    topology = random_network(seed, cycles=cycles, directed=directed)
    count = len(topology.compute_nodes())
    slots = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    ranks = 4 if "mesh" in shape else data.draw(st.integers(2, 4))
    if sum(slots) < ranks:
        return
    pattern = named(shape, ranks)
    groups = {
        talking(group, pattern): group
        for group in itertools.product(range(count), repeat=ranks)
        if all(group.count(node) <= slots[node] for node in set(group))
    }
    truth = max(least(topology, group, pattern) for group in groups.values())
    asked = question(topology, pattern, slots)
    found = best_concurrent(asked, ())
    if truth < 0:
        assert not found
        return
    (best,) = found
    assert best.proved
    assert best.value == pytest.approx(truth)
    assert least(topology, best.group, pattern) == pytest.approx(truth)
    high = FlowBound(asked.tree, asked.crossings, pattern, slots).highest(0.0, 1e6, lambda: None)[1]
    assert high >= min(truth, 1e6) * (1 - 1e-9)


@pytest.mark.parametrize("ranks", [64, 256])
@pytest.mark.parametrize("shape", ["ring", "mesh-2d", "hypercube", "all-to-all"])
def test_large_groups_are_never_below_tree_order_and_near_the_bound(shape: str, ranks: int) -> None:
    net = fat_tree(512, each=16, taper=2.0)
    pattern = named(shape, ranks)
    request = Request(ranks, "pattern", pattern, flows=True, candidates=2)
    found = select(net, request, rng=random.Random(0), clock=ticking(0.02))
    first = found.candidates[0]
    assert first.bound is not None
    assert first.score >= 0.9 * first.bound
    asked = question(net, pattern)
    order = next(FlowStarts(FlowBound(asked.tree, asked.crossings, pattern)).in_tree_order())
    assert first.score >= asked.value(order)
    assert found.candidates[1].score >= 0.9 * first.score
    assert set(found.candidates[1].nodes) != set(first.nodes)


@given(st.integers(0, 10_000), st.integers(0, 2), st.integers(2, 5), st.integers(1, 2))
@settings(max_examples=examples(10, fuzz=40), deadline=None)
def test_steps_never_make_a_placement_worse(seed: int, cycles: int, ranks: int, room: int) -> None:
    topology = random_network(seed, cycles=cycles)
    count = len(topology.compute_nodes())
    pattern = named("ring", min(ranks, count))
    asked = question(topology, pattern, [room] * count)
    group = tuple(random.Random(seed).sample(range(count), pattern.ranks))
    left = iter(range(400))

    def tick() -> None:
        if next(left, None) is None:
            raise OutOfTime

    search = FlowSearch(asked.model, asked.beside, asked.room, rng=random.Random(1), tick=tick)
    better = search.improved(group, math.inf)
    assert asked.value(better) >= asked.value(group)
    assert all(better.count(node) <= room for node in better)


def ticking(step: float) -> Callable[[], float]:
    """A clock that goes on by so many seconds whenever it is asked: a busy machine has as much time as others."""
    return itertools.count(step=step).__next__


def running_out(calls: int) -> Callable[[], float]:
    """A clock that stands still so many times and is then past every deadline."""
    left = itertools.count()
    return lambda: 0.0 if next(left) < calls else 1e9


def agrees(found: Selection) -> None:
    """The numbers of the document fit together."""
    told = json.loads(json.dumps(document(found), allow_nan=False))
    first = told["candidates"][0]
    assert told["nodes"] == first["nodes"]
    assert (told["objective"], told["bottleneck"]) == (first["objective"], first["bottleneck"])
    assert told["optimal"] == first["proved"]
    scores = [group["score"] for group in told["candidates"]]
    assert scores == sorted(scores, reverse=True)
    for group in told["candidates"]:
        assert group["score"] == pytest.approx(group["objective"]["min_bandwidth"])
        assert min(edge["bandwidth"] for edge in group["edges"]) == group["objective"]["min_bandwidth"]
        assert group["bottleneck"]["bandwidth"] == group["objective"]["min_bandwidth"]
    if told["bound"] is not None:
        assert told["gap"] == pytest.approx(1 - scores[0] / told["bound"])
        assert told["bound"] >= scores[0] * (1 - 1e-9)
        assert not (told["optimal"] and told["gap"] > 1e-6)
    assert "None" not in message(found.candidates[0].reason)


@pytest.mark.parametrize("flows", [False, True])
@pytest.mark.parametrize("calls", [2, 3, 5, 8, 13, 21, 34, 55, 89, 200, 500, 2000])
@pytest.mark.parametrize("net", [fat_tree(24, each=6, pod=2), clos(4, rule="short"), clos(4)], ids=lambda net: net.name)
def test_the_numbers_of_an_answer_agree_whenever_time_runs_out(calls: int, flows: bool, net: Topology) -> None:
    request = Request(6, "pattern", named("mesh-2d", 6), flows=flows, candidates=3)
    try:
        found = select(net, request, rng=random.Random(0), clock=running_out(calls))
    except ImpossibleError as error:
        why = str(error)
    else:
        agrees(found)
        return
    assert "a larger time_budget may find one" in why


def test_where_the_bound_is_met_the_search_stops() -> None:
    """The clock is asked some times for the bound, and no more for steps that could not help."""
    clock = ticking(1e-6)
    request = Request(128, "pattern", named("ring", 128), flows=True, candidates=1)
    found = select(fat_tree(512, each=16), request, rng=random.Random(0), clock=clock)
    assert found.optimal
    assert found.candidates[0].gap == 0.0
    assert clock() < 500e-6


@given(st.integers(0, 99_999), st.booleans(), st.integers(2, 7), st.sampled_from(["ring", "all-to-all", "star"]))
@settings(max_examples=examples(16, fuzz=80), deadline=None)
def test_the_slowest_pairs_have_the_rates_of_a_flow_query(seed: int, directed: bool, ranks: int, shape: str) -> None:
    topology = random_network(seed, directed=directed)
    nodes = topology.compute_nodes()
    pattern = named(shape, min(ranks, len(nodes)))
    asked = question(topology, pattern)
    group = random.Random(seed).sample(range(len(nodes)), pattern.ranks)
    ends = [(nodes[group[a]].id, nodes[group[b]].id) for a, b in asked.edges]
    both = flow_query(topology, [Flow(*pair) for a, b in ends for pair in ((a, b), (b, a))])
    expected = [min(one.bandwidth, other.bandwidth) for one, other in zip(both[::2], both[1::2], strict=True)]
    if not asked.tree.is_exact or any(rate.path == () for rate in both):
        return
    found = slowest_pairs(asked.tree, asked.crossings, group, asked.edges, len(asked.edges))
    assert {each.edge: each.rate for each in found} == pytest.approx(dict(enumerate(expected)))
    first = slowest_pairs(asked.tree, asked.crossings, group, asked.edges, 1)[0]
    assert first.rate == pytest.approx(min(expected))
    assert [each.rate for each in found] == sorted(each.rate for each in found)


@given(st.integers(0, 9_999), st.integers(0, 2), st.integers(2, 4), st.sampled_from(["ring", "star", "all-to-all"]))
@settings(max_examples=examples(10, fuzz=40), deadline=None)
def test_no_group_has_as_fast_a_slowest_flow_and_more_cpu_than_the_chosen(
    seed: int, cycles: int, ranks: int, shape: str
) -> None:
    rng = random.Random(seed)
    drawn = random_network(seed, cycles=cycles)
    nodes = tuple(replace(node, cpu=rng.choice([0.25, 0.5, 1.0])) for node in drawn.nodes)
    topology = replace(drawn, nodes=nodes)
    count = len(topology.compute_nodes())
    pattern = named(shape, min(ranks, count))
    cpu = [node.cpu for node in topology.compute_nodes()]
    request = Request(pattern.ranks, "pattern", pattern, flows=True)
    try:
        found = select(topology, request, rng=random.Random(0), clock=ticking(1e-5)).candidates[0]
    except ImpossibleError:
        return
    for group in itertools.combinations(range(count), pattern.ranks):
        value = max(least(topology, order, pattern) for order in itertools.permutations(group))
        power = min(cpu[node] for node in group)
        assert not (value >= found.score * (1 - 1e-9) and power > found.objective.min_cpu)
