"""Placements whose pairs talk all at once, against every placement, and the cases where it matters."""

from __future__ import annotations

import itertools
import random
import time
from dataclasses import replace
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.network.flows import Flow, flow_query
from gridportal.network.routes import Routes
from gridportal.network.topology import Link, Node, Topology
from scheduling.jobs.core.patterns import Pattern, named
from scheduling.messages import message
from scheduling.selection.core.placement import Request, Selection
from scheduling.selection.core.selection import select
from tests.examples import examples
from tests.gridportal.network.networks import fat_tree, random_network

SHAPES = st.sampled_from(["ring", "line", "star", "pairs", "all-to-all"])


def chosen(topology: Topology, pattern: Pattern, **more: object) -> Selection:
    request = Request(pattern.ranks, "pattern", pattern, flows=True, **more)  # type: ignore[arg-type]
    return select(topology, request, rng=random.Random(1), clock=time.monotonic)


def least(topology: Topology, group: tuple[str, ...], pattern: Pattern) -> float:
    """The least rate of a flow query for all pairs in both directions."""
    ends = [(group[a], group[b]) for a, b, _ in pattern.edges]
    rates = flow_query(topology, [Flow(*pair) for a, b in ends for pair in ((a, b), (b, a))])
    return min(rate.bandwidth if rate.path else -1.0 for rate in rates)


def parts(topology: Topology, routes: Routes, group: tuple[str, ...]) -> float:
    """The least part of its capacity that one flow gets on a link between any two of the group."""
    paths = [routes.path(a, b) for a, b in permutations(group, 2)]
    links = [topology.links[arc >> 1] for path in paths if path for arc in path.arcs]
    return min(link.bandwidth / link.capacity for link in links)


def every(topology: Topology, pattern: Pattern) -> list[float]:
    """The value of every node set at its best order, best first; sets without a way are left out."""
    names = [node.id for node in topology.compute_nodes()]
    values = (
        max(least(topology, order, pattern) for order in permutations(group))
        for group in combinations(names, pattern.ranks)
    )
    return sorted((value for value in values if value >= 0), reverse=True)


@given(
    st.integers(0, 10_000),
    st.integers(0, 3),
    st.booleans(),
    st.sampled_from(["links", "links", "pairs"]),
    SHAPES,
    st.integers(2, 4),
)
@settings(max_examples=examples(16, fuzz=80), deadline=None)
def test_the_best_node_sets_are_those_that_trying_all_placements_finds(
    seed: int, cycles: int, directed: bool, kind: str, shape: str, ranks: int
) -> None:
    topology = random_network(seed, cycles=cycles, directed=directed, kind=kind)
    ranks = min(ranks, len(topology.compute_nodes()))
    pattern = named(shape, ranks - ranks % 2 if shape == "pairs" else ranks)
    if not pattern.edges or pattern.ranks < 2:
        return
    truth = every(topology, pattern)
    if not truth:
        with pytest.raises(ImpossibleError):
            chosen(topology, pattern)
        return
    found = chosen(topology, pattern, candidates=3)
    assert found.optimal
    assert [c.score for c in found.candidates] == pytest.approx(truth[: len(found.candidates)])
    assert len(found.candidates) == min(3, len(truth))
    assert len({frozenset(c.nodes) for c in found.candidates}) == len(found.candidates)
    for candidate in found.candidates:
        assert candidate.score == pytest.approx(least(topology, candidate.nodes, pattern))
        assert candidate.objective.min_bandwidth == pytest.approx(candidate.score)


def two_rooms(wide: float, narrow: float) -> Topology:
    """Eight nodes on two switches with a narrow link between them; the first room's links are a little slower."""
    nodes = [*(Node(f"a{i}") for i in range(4)), *(Node(f"b{i}") for i in range(4))]
    links = [Link(node.id, node.id[0] + "-switch", 100, wide - (node.id[0] == "a")) for node in nodes]
    switches = (Node("a-switch", "network"), Node("b-switch", "network"))
    links.append(Link("a-switch", "b-switch", 100, narrow))
    return Topology("rooms", False, "links", (*nodes, *switches), tuple(links))


def test_a_link_that_is_fast_enough_for_one_flow_is_avoided_when_many_share_it() -> None:
    """By pairs six nodes over both rooms are worth 80; all at once a ring crosses the link twice and shares it."""
    net = two_rooms(wide=90, narrow=80)
    found = chosen(net, named("ring", 6))
    assert found.objective.min_bandwidth == 40, "two ring edges cross, and each node has two partners anyway"
    everybody = chosen(net, named("all-to-all", 6))
    assert everybody.objective.min_bandwidth == pytest.approx(10), "eight flows cross: the least for 4 + 2 nodes"


def test_patterns_of_equal_worth_by_pairs_are_told_apart() -> None:
    net = two_rooms(wide=90, narrow=80)
    by_pairs = [
        select(net, Request(6, "pattern", named(shape, 6)), rng=random.Random(1), clock=time.monotonic).objective
        for shape in ("line", "ring", "all-to-all")
    ]
    assert len({one.min_bandwidth for one in by_pairs}) == 1
    at_once = [chosen(net, named(shape, 6)).objective.min_bandwidth for shape in ("line", "ring", "all-to-all")]
    assert at_once == pytest.approx([44.5, 40, 10])


def test_the_reason_says_that_all_talk_at_once() -> None:
    best = chosen(two_rooms(90, 80), named("ring", 4)).candidates[0]
    end = "no other group of 4 nodes has a faster slowest pair, all pairs talking at once"
    assert message(best.reason).endswith(end)


def test_a_wish_for_bandwidth_counts_with_all_talking() -> None:
    with pytest.raises(ImpossibleError, match="No 6 nodes for all-to-all with 50 bit/s or more: the best 6 reach 10"):
        chosen(two_rooms(90, 80), named("all-to-all", 6), min_bandwidth=50)


@pytest.mark.parametrize("method", ["random", "compute"])
def test_other_methods_know_no_flows(method: str) -> None:
    with pytest.raises(InputError, match="flows is true; accepted is the method pattern, communication or balanced"):
        select(two_rooms(9, 9), Request(2, method, flows=True), rng=random.Random(1), clock=time.monotonic)  # type: ignore[arg-type]


def test_a_large_network_ends_in_time_with_a_placement_that_keeps_to_one_room_where_it_can() -> None:
    nodes = [Node(f"n{i}") for i in range(400)]
    switches = [Node(f"s{i}", "network") for i in range(20)] + [Node("top", "network")]
    links = [Link(f"n{i}", f"s{i // 20}", 1e9, 1e9) for i in range(400)]
    links += [Link(f"s{i}", "top", 1e9, 1e9) for i in range(20)]
    net = Topology("rooms", False, "links", (*nodes, *switches), tuple(links))
    found = chosen(net, named("mesh-2d:4x4", 16), time_budget=3.0)
    assert len({int(name[1:]) // 20 for name in found.nodes}) == 1
    assert found.objective.min_bandwidth == 0.25e9
    assert found.optimal


@given(st.integers(0, 10_000), st.integers(0, 3), st.booleans(), st.integers(2, 4), st.sampled_from([0.5, 1.0, 2.0]))
@settings(max_examples=examples(12, fuzz=60), deadline=None)
def test_balanced_weighs_processors_against_what_flows_get(
    seed: int, cycles: int, directed: bool, ranks: int, priority: float
) -> None:
    rng = random.Random(seed)
    drawn = random_network(seed, cycles=cycles, directed=directed)
    nodes = tuple(replace(node, cpu=rng.choice([0.2, 0.5, 0.9, 1.0])) for node in drawn.nodes)
    topology = replace(drawn, nodes=nodes)
    pattern = named("all-to-all", min(ranks, len(topology.compute_nodes())))
    cpu = {node.id: node.cpu for node in topology.compute_nodes()}
    reference, routes = 10.0, Routes(topology)
    values = [
        min(
            least(topology, group, pattern) / reference,
            parts(topology, routes, group),
            *(cpu[name] / priority for name in group),
        )
        for group in combinations(cpu, pattern.ranks)
        if least(topology, group, pattern) >= 0
    ]
    if not pattern.edges or not values:
        return
    request = Request(pattern.ranks, "balanced", flows=True, compute_priority=priority, reference_bandwidth=reference)
    found = select(topology, request, rng=random.Random(1), clock=time.monotonic)
    assert found.optimal
    assert [c.score for c in found.candidates] == pytest.approx(sorted(values, reverse=True)[: len(found.candidates)])


def test_balanced_takes_as_whole_what_idle_links_of_nodes_give_to_each_flow() -> None:
    net = two_rooms(wide=90, narrow=80)
    request = Request(4, "balanced", flows=True)
    found = select(net, request, rng=random.Random(1), clock=time.monotonic)
    assert found.nodes == ("b0", "b1", "b2", "b3")
    assert found.candidates[0].score == pytest.approx((90 / 3) / (100 / 3))
    assert message(found.candidates[0].reason) == (
        "90 % of what idle links would give, while its processors have 100 % (bottleneck b0-b1 gives 30 bit/s); "
        "no other group of 4 nodes has more, all pairs talking at once"
    )
    two_by_two = next(c for c in found.candidates if len({name[0] for name in c.nodes}) == 2)
    assert two_by_two.score < found.candidates[0].score


def test_a_loaded_node_and_a_shared_link_are_told_apart_by_which_costs_more() -> None:
    net = two_rooms(wide=100, narrow=100)
    loaded = replace(net, nodes=tuple(replace(n, cpu=0.4) if n.id in ("a0", "b0") else n for n in net.nodes))
    request = Request(4, "balanced", flows=True)
    found = select(loaded, request, rng=random.Random(1), clock=time.monotonic)
    assert not {"a0", "b0"} & set(found.nodes), "a link that four flows share still gives 75 % of an own one"
    held = select(
        loaded, replace(request, exclude=frozenset({"a3", "b3", "b2"})), rng=random.Random(1), clock=time.monotonic
    )
    assert message(held.candidates[0].reason).startswith(
        "40 % of its processors, while its network has more (bottleneck "
    )
    assert len({name[0] for name in found.nodes}) == 2


def test_balanced_keeps_to_a_least_bandwidth_of_flows() -> None:
    net = two_rooms(wide=90, narrow=80)
    loaded = replace(net, nodes=tuple(replace(n, cpu=0.1) if n.id[0] == "b" else n for n in net.nodes))
    wish = Request(4, "balanced", flows=True, min_bandwidth=29.9)
    assert set(select(loaded, wish, rng=random.Random(1), clock=time.monotonic).nodes) == {"b0", "b1", "b2", "b3"}
    with pytest.raises(ImpossibleError, match="No 4 nodes with 31 bit/s or more: the best 4 reach 30 bit/s"):
        select(loaded, replace(wish, min_bandwidth=31.0), rng=random.Random(1), clock=time.monotonic)


def test_balanced_counts_only_the_pairs_that_talk_where_they_are_known() -> None:
    """Of six nodes over both rooms all pairs share the narrow link eight times over, a line's one pair crosses it."""
    net = two_rooms(wide=90, narrow=80)
    every, line = (
        select(net, Request(6, "balanced", pattern, flows=True), rng=random.Random(1), clock=time.monotonic)
        for pattern in (None, named("line", 6))
    )
    assert every.objective.min_bandwidth == pytest.approx(10)
    assert line.objective.min_bandwidth == pytest.approx(44.5)
    assert (every.pattern, line.pattern) == (None, named("line", 6))
    by_pairs = select(net, Request(6, "balanced", named("line", 6)), rng=random.Random(1), clock=time.monotonic)
    assert by_pairs.pattern == named("line", 6)
    with pytest.raises(InputError, match="nodes is 5; accepted is 6, the number of ranks of the pattern line"):
        select(net, Request(5, "balanced", named("line", 6), flows=True), rng=random.Random(1), clock=time.monotonic)


def test_a_link_that_somebody_fills_is_avoided_even_where_little_of_it_is_needed() -> None:
    """A worker gets half of a busy link, more than its master can send it; but its messages wait behind the stream."""
    net = two_rooms(wide=100, narrow=100)
    busy = tuple(replace(k, bandwidth=50.0, used=100.0) if k.source in ("a2", "a3") else k for k in net.links)
    found = select(
        replace(net, links=busy),
        Request(4, "balanced", named("star", 4), flows=True),
        rng=random.Random(1),
        clock=time.monotonic,
    )
    assert not {"a2", "a3"} & set(found.nodes)


def test_among_equals_by_the_slowest_the_mean_decides() -> None:
    """One busy node cannot be avoided, so every group is worth the same; but two need not be taken."""
    net = two_rooms(wide=100, narrow=100)
    kept = [node for node in net.nodes if node.id not in ("b2", "b3")]
    links = [k for k in net.links if k.source not in ("b2", "b3")]
    busy = tuple(replace(k, bandwidth=50.0, used=100.0) if k.source in ("a0", "a1", "a2") else k for k in links)
    found = select(
        replace(net, nodes=tuple(kept), links=busy),
        Request(4, "balanced", named("star", 4), flows=True),
        rng=random.Random(1),
        clock=time.monotonic,
    )
    assert len({"a0", "a1", "a2"} & set(found.nodes)) == 1


def test_a_master_is_not_put_behind_a_busy_link_where_a_worker_would_do() -> None:
    net = two_rooms(wide=100, narrow=100)
    kept = [node for node in net.nodes if node.id[0] != "b" or node.id == "b-switch"]
    links = [k for k in net.links if k.source[0] == "a"]
    busy = tuple(replace(k, bandwidth=50.0, used=100.0) if k.source == "a0" else k for k in links)
    found = select(
        replace(net, nodes=tuple(kept), links=busy),
        Request(4, "balanced", named("star", 4), flows=True),
        rng=random.Random(1),
        clock=time.monotonic,
    )
    assert found.nodes[0] != "a0"


def test_where_every_pair_has_its_own_path_all_at_once_is_the_same_as_one_by_one() -> None:
    names = ["c0", "c1", "c2", "c3", "d0", "d1", "d2", "d3"]
    links = tuple(
        Link(a, b, 100, 100 if a[0] == b[0] == "d" else 40) for a, b in combinations(names, 2)
    )  # the first four have more cpu and 40 % of the bandwidth
    nodes = tuple(Node(name, cpu=0.9 if name[0] == "c" else 0.8) for name in names)
    crossbar = Topology("crossbar", False, "pairs", nodes, links)
    one_by_one, at_once = (
        select(crossbar, Request(4, "balanced", flows=flows), rng=random.Random(1), clock=time.monotonic)
        for flows in (False, True)
    )
    assert at_once.nodes == one_by_one.nodes == ("d0", "d1", "d2", "d3")
    assert at_once.candidates[0].score == one_by_one.candidates[0].score == 0.8


def many_rooms(rooms: int, each: int, *, uplink: float = 1e10, last: tuple[int, float] | None = None) -> Topology:
    """Rooms of nodes that all differ, on switches below one; the last room of another size and cpu."""
    rng = random.Random(1)
    nodes, links = [Node("top", "network")], []
    for room in range(rooms):
        size, cpu = last if last and room == rooms - 1 else (each, 1.0)
        nodes.append(Node(f"s{room}", "network"))
        links.append(Link(f"s{room}", "top", uplink, uplink))
        for i in range(size):
            nodes.append(Node(f"n{room}.{i}", cpu=cpu - 0.001 * rng.random()))
            links.append(Link(f"n{room}.{i}", f"s{room}", 1e9, 1e9 * rng.uniform(0.9, 1)))
    return Topology("rooms", False, "links", tuple(nodes), tuple(links))


def test_a_large_network_whose_nodes_all_differ_ends_in_time() -> None:
    """Growing one placement takes long here, and sixteen are to be grown: whoever looks at the clock sees time pass."""
    looks = itertools.count()
    request = Request(64, "balanced", flows=True, time_budget=1.0)
    found = select(many_rooms(50, 20), request, rng=random.Random(1), clock=lambda: next(looks) * 1e-3)
    assert len(found.nodes) == 64
    assert next(looks) * 1e-3 < 6


def test_a_group_that_has_the_bandwidth_only_in_a_loaded_room_is_found() -> None:
    """By pairs the idle rooms together are better balanced, and their uplinks are wide enough for one flow."""
    net = many_rooms(11, 16, uplink=1e8, last=(24, 0.1))
    request = Request(20, "balanced", flows=True, min_bandwidth=4e7, time_budget=1.0)
    found = select(net, request, rng=random.Random(1), clock=time.monotonic)
    assert {name.split(".")[0] for name in found.nodes} == {"n10"}


def test_a_group_that_was_not_found_in_time_is_not_said_to_be_impossible() -> None:
    request = Request(32, "balanced", flows=True, min_bandwidth=1.0, time_budget=1e-9)
    with pytest.raises(ImpossibleError, match="No group of 32 nodes was found in 1e-09 s; a larger time_budget may"):
        select(fat_tree(8), request, rng=random.Random(1), clock=time.monotonic)


@given(st.floats(1e6, 1e8), st.sampled_from([1e8, 123456789.0, 3e8]))
def test_a_wish_for_just_the_bandwidth_that_there_is_can_be_had(rate: float, capacity: float) -> None:
    nodes = (*(Node(name) for name in "abc"), Node("s", "network"))
    net = Topology("star", False, "links", nodes, tuple(Link(name, "s", capacity, rate) for name in "abc"))
    request = Request(3, "balanced", flows=True, min_bandwidth=rate / 2)
    assert select(net, request, rng=random.Random(1), clock=time.monotonic).objective.min_bandwidth == rate / 2


@pytest.mark.parametrize("flows", [False, True])
def test_a_slower_group_that_cpu_makes_equal_is_not_said_to_be_as_fast(flows: bool) -> None:
    nodes = (*(Node(name, cpu=0.2) for name in "abc"), Node("s", "network"))
    links = tuple(Link(name, "s", 100, rate) for name, rate in zip("abc", (90, 90, 60), strict=True))
    request = Request(2, "balanced", flows=flows)
    net = Topology("star", False, "links", nodes, links)
    found = select(net, request, rng=random.Random(1), clock=time.monotonic)
    slower = next(other for other in found.candidates[1:] if other.objective.min_bandwidth == 60)
    reach = "as high a lowest share as the chosen group, but bottleneck"
    assert message(slower.reason).startswith(reach)
    assert message(slower.reason).endswith("gives 60 bit/s, 30 bit/s less")


def test_nodes_that_do_not_talk_are_compared_by_cpu_alone() -> None:
    net = Topology("two", False, "links", (Node("a", cpu=0.9), Node("b", cpu=0.5)), ())
    found = select(net, Request(1, "balanced", flows=True), rng=random.Random(1), clock=time.monotonic)
    assert message(found.candidates[1].reason) == "lowest cpu 50 %, 40 points less than the chosen group"
