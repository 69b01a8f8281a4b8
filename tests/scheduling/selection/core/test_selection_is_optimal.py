"""Every method against brute force, on trees, measured pairs and networks with cycles."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.network.topology import Link, Node, Topology
from scheduling.jobs.core.patterns import Pattern, named
from scheduling.selection.core.selection import Request, Selection, select
from tests.examples import examples
from tests.scheduling.selection.core import networks, oracle

MANY = settings(max_examples=examples(20, fuzz=100), deadline=None)
SHAPES = ["ring", "line", "star", "pairs", "mesh-2d", "binary-tree", "binomial-tree", "all-to-all", "cg", "mg", "bt"]


def choose(topology: Topology, request: Request) -> Selection:
    return select(topology, request, rng=random.Random(request.seed), clock=lambda: 0.0)


def bandwidth(link: Link) -> float:
    return link.bandwidth


def effective(topology: Topology) -> dict[str, float]:
    return {n.id: n.cpu * n.speed for n in topology.compute_nodes()}


def agrees(topology: Topology, request: Request, values: dict[frozenset[str], float]) -> Selection | None:
    """The scores are the best that brute force knows, in order, each for a node set of its own; or nothing exists."""
    if not values:
        with pytest.raises(ImpossibleError):
            choose(topology, request)
        return None
    selection = choose(topology, request)
    assert [c.score for c in selection.candidates] == pytest.approx(oracle.top(values, request.candidates))
    assert len({frozenset(c.nodes) for c in selection.candidates}) == len(selection.candidates)
    for candidate in selection.candidates:
        assert values[frozenset(candidate.nodes)] == pytest.approx(candidate.score)
    assert selection.optimal
    assert all(c.proved for c in selection.candidates)
    return selection


def pattern_or_skip(name: str, ranks: int) -> Pattern:
    try:
        return named(name, ranks)
    except InputError:
        assume(False)
        raise


@MANY
@given(networks.networks(), st.integers(2, 4), st.integers(1, 5))
def test_communication_maximises_the_lowest_pair(topology, m, k):
    assume(m <= len(topology.compute_nodes()))
    names = [n.id for n in topology.compute_nodes()]
    values = oracle.set_values(names, named("all-to-all", m), oracle.both_ways(topology, bandwidth))
    selection = agrees(topology, Request(m, "communication", candidates=k), values)
    if selection:
        assert selection.objective.min_bandwidth == pytest.approx(selection.candidates[0].score)


@MANY
@given(networks.networks(), st.integers(2, 5), st.sampled_from(SHAPES), st.integers(1, 4))
def test_pattern_maximises_the_lowest_pair_that_talks(topology, m, shape, k):
    assume(m <= len(topology.compute_nodes()))
    pattern = pattern_or_skip(shape, m)
    names = [n.id for n in topology.compute_nodes()]
    pairs = oracle.both_ways(topology, bandwidth)
    values = oracle.set_values(names, pattern, pairs)
    selection = agrees(topology, Request(m, "pattern", pattern, candidates=k), values)
    if selection:
        for c in selection.candidates:
            assert min(pairs[c.nodes[a], c.nodes[b]] for a, b, _ in pattern.edges) == pytest.approx(c.score)
            assert {e.ranks: e.bandwidth for e in c.edges} == {
                (a, b): pytest.approx(pairs[c.nodes[a], c.nodes[b]]) for a, b, _ in pattern.edges
            }


@st.composite
def any_pattern(draw, most: int) -> Pattern:
    ranks = draw(st.integers(2, most))
    pairs = [(a, b) for a in range(ranks) for b in range(a + 1, ranks)]
    chosen = draw(st.sets(st.sampled_from(pairs), min_size=1))
    return Pattern("any", ranks, tuple((a, b, 1.0) for a, b in sorted(chosen)))


@MANY
@given(networks.networks(), any_pattern(5), st.integers(1, 4))
def test_any_pattern_whatever_its_symmetries_and_however_many_parts_it_has(topology, pattern, k):
    assume(pattern.ranks <= len(topology.compute_nodes()))
    names = [n.id for n in topology.compute_nodes()]
    values = oracle.set_values(names, pattern, oracle.both_ways(topology, bandwidth))
    agrees(topology, Request(pattern.ranks, "pattern", pattern, candidates=k), values)


@settings(max_examples=examples(10, fuzz=40), deadline=None)
@given(networks.trees(8, leaves_only=True), st.sampled_from([((0, 1), (2, 3)), ((0, 1), (1, 2), (3, 4)), ((0, 3),)]))
def test_separate_parts_of_a_pattern_may_lie_on_separate_parts_of_a_tree(topology, edges):
    pattern = Pattern("parts", max(b for _, b in edges) + 1, tuple((a, b, 1.0) for a, b in edges))
    assume(pattern.ranks <= len(topology.compute_nodes()))
    names = [n.id for n in topology.compute_nodes()]
    values = oracle.set_values(names, pattern, oracle.both_ways(topology, bandwidth))
    agrees(topology, Request(pattern.ranks, "pattern", pattern), values)


@MANY
@given(
    networks.networks(),
    st.integers(2, 4),
    st.sampled_from([0.5, 1.0, 2.0]),
    st.sampled_from([None, 100.0, 155.0]),
    st.sampled_from([0.0, 0.0, 30.0]),
)
def test_balanced_maximises_the_lowest_fraction_of_cpu_and_bandwidth(topology, m, priority, reference, floor):
    assume(m <= len(topology.compute_nodes()))
    cpu = effective(topology)
    pairs = oracle.both_ways(
        topology,
        lambda link: link.bandwidth / (reference or link.capacity),
        keep=lambda link: link.bandwidth >= floor,
    )
    both = {(a, b): min(value, cpu[a] / priority, cpu[b] / priority) for (a, b), value in pairs.items()}
    values = oracle.set_values(list(cpu), named("all-to-all", m), both)
    request = Request(
        m, "balanced", compute_priority=priority, reference_bandwidth=reference, min_bandwidth=floor, candidates=4
    )
    agrees(topology, request, values)


@MANY
@given(networks.networks(), st.integers(1, 4), st.sampled_from([0.0, 0.0, 20.0, 50.0]))
def test_compute_maximises_the_lowest_cpu_under_a_fixed_bandwidth(topology, m, floor):
    assume(m <= len(topology.compute_nodes()))
    cpu = effective(topology)
    if floor:
        wide = oracle.both_ways(topology, bandwidth)
        pairs = {(a, b): min(cpu[a], cpu[b]) if rate >= floor else oracle.NONE for (a, b), rate in wide.items()}
    else:
        pairs = {(a, b): min(cpu[a], cpu[b]) for a in cpu for b in cpu if a != b}
    values = (
        oracle.set_values(list(cpu), named("all-to-all", m), pairs) if m > 1 else {frozenset([n]): cpu[n] for n in cpu}
    )
    selection = agrees(topology, Request(m, "compute", min_bandwidth=floor), values)
    if selection:
        assert selection.objective.min_cpu == pytest.approx(selection.candidates[0].score)


@MANY
@given(networks.networks(), st.integers(1, 4))
def test_compute_takes_the_most_cpu_in_sum_too_unless_another_group_talks_faster(topology, m):
    assume(m <= len(topology.compute_nodes()))
    cpu, pairs = effective(topology), oracle.both_ways(topology, bandwidth)

    def lowest(nodes: Sequence[str]) -> float:
        return min((pairs[pair] for pair in combinations(nodes, 2)), default=0.0)

    chosen = choose(topology, Request(m, "compute")).nodes
    most = sorted(cpu.values(), reverse=True)[:m]
    assert min(cpu[n] for n in chosen) == most[-1]
    if sum(cpu[n] for n in chosen) < sum(most) * (1 - 1e-9):
        richest = [each for each in combinations(cpu, m) if sorted((cpu[n] for n in each), reverse=True) == most]
        assert all(lowest(each) < lowest(chosen) for each in richest)


def test_compute_takes_nodes_that_can_talk_rather_than_more_cpu_in_sum():
    """Found by fuzzing: by the lowest cpu all groups are alike, and the node with the most has no bandwidth left."""
    nodes = [Node(f"n{each}", cpu=0.25 if each == 2 else 0.1) for each in range(5)]
    links = [Link("s0", node.id, 100.0, 10.0 if node.id in ("n3", "n4") else 0.0, 0.0) for node in nodes]
    topology = Topology("star", False, "links", (*nodes, Node("s0", "network")), tuple(links))
    assert set(choose(topology, Request(2, "compute")).nodes) == {"n3", "n4"}


@MANY
@given(networks.networks(), st.integers(2, 4), st.integers(0, 9), st.sampled_from([0.0, 20.0, 80.0]))
def test_random_is_seeded_and_keeps_the_requirements(topology, m, seed, floor):
    assume(m <= len(topology.compute_nodes()))
    names = [n.id for n in topology.compute_nodes()]
    pairs = oracle.both_ways(topology, bandwidth)
    values = oracle.set_values(names, named("all-to-all", m), pairs)
    request = Request(m, "random", seed=seed, min_bandwidth=floor)
    if floor and max(values.values(), default=0.0) < floor:
        with pytest.raises(ImpossibleError):
            choose(topology, request)
        return
    first, again = choose(topology, request), choose(topology, request)
    assert first.nodes == again.nodes
    assert len({frozenset(c.nodes) for c in first.candidates}) == len(first.candidates)
    for candidate in first.candidates:
        assert values.get(frozenset(candidate.nodes), 0.0) >= floor
        assert candidate.objective.min_bandwidth == pytest.approx(values.get(frozenset(candidate.nodes), 0.0))


@MANY
@given(networks.networks(), st.integers(2, 3), st.sampled_from(["compute", "communication", "balanced", "pattern"]))
def test_requirements_filter_the_nodes_before_anything_is_maximised(topology, m, method):
    cpu = effective(topology)
    allowed = [n.id for n in topology.compute_nodes() if n.cpu >= 0.25 and n.labels["site"] == "utk" and n.id != "n0"]
    pattern = named("line", m)
    request = Request(m, method, pattern, min_cpu=0.25, require={"site": "utk"}, exclude=frozenset({"n0"}))
    if len(allowed) < m:
        with pytest.raises(ImpossibleError):
            choose(topology, request)
        return
    if method == "compute":
        pairs = {(a, b): min(cpu[a], cpu[b]) for a in cpu for b in cpu if a != b}
    else:
        pairs = oracle.both_ways(topology, bandwidth if method != "balanced" else lambda link: link.bwfactor)
        if method == "balanced":
            pairs = {(a, b): min(value, cpu[a], cpu[b]) for (a, b), value in pairs.items()}
    shape = pattern if method == "pattern" else named("all-to-all", m)
    agrees(topology, request, oracle.set_values(allowed, shape, pairs))
