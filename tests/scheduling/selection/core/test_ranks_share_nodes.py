"""Several ranks on a node: every method against all placements of small jobs on small networks."""

from __future__ import annotations

import json
import math
import random
import time
from dataclasses import replace
from itertools import combinations, count, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.network.flows import Flow, flow_query
from gridportal.network.routes import Routes
from gridportal.network.topology import Topology, parse
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.jobs.core.patterns import Pattern, named
from scheduling.messages import message
from scheduling.selection.core.selection import Request, Selection, document, select
from scheduling.selection.core.slots.seating import crowded, seated
from scheduling.selection.core.slots.slot_room import Room
from tests.examples import examples
from tests.scheduling.selection.core import networks, oracle

NONE = float("-inf")
PATTERNS = ("all-to-all", "ring", "line", "star")


def choose(topology: Topology, request: Request) -> Selection:
    return select(topology, request, rng=random.Random(request.seed), clock=time.monotonic)


@st.composite
def weighted(draw, ranks: int) -> Pattern:
    """A pattern, with equal weights or not, or any pairs at all."""
    if draw(st.booleans()):
        pattern = named(draw(st.sampled_from(PATTERNS)), ranks)
    else:
        pairs = [(a, b) for a in range(ranks) for b in range(a + 1, ranks)]
        pattern = Pattern(
            "some", ranks, tuple((*p, 1.0) for p in sorted(draw(st.sets(st.sampled_from(pairs), min_size=1))))
        )
    if draw(st.booleans()):
        return pattern
    return Pattern(
        pattern.name, ranks, tuple((a, b, draw(st.sampled_from([1.0, 2.0, 8.0]))) for a, b, _ in pattern.edges)
    )


@st.composite
def jobs(draw, kinds=None) -> tuple[Topology, Request]:
    """A small network, slots of its nodes, and ranks for them; sometimes with pins and groups."""
    topology = draw(st.one_of(*(kinds or (networks.trees(5), networks.crossbars(5), networks.meshes(4)))))
    names = [node.id for node in topology.compute_nodes()]
    slots = {name: draw(st.integers(0, 3)) for name in names if draw(st.booleans())}
    ranks = draw(st.integers(2, 5 if len(names) < 5 else 4))
    sizes = {"ranks": ranks, "nodes": draw(st.none() | st.integers(1, min(ranks, len(names))))}
    method = draw(st.sampled_from(["compute", "communication", "balanced", "pattern"]))
    pattern = draw(weighted(ranks)) if method == "pattern" or (method == "balanced" and draw(st.booleans())) else None
    request = Request(
        method=method,
        pattern=pattern,
        candidates=draw(st.integers(1, 4)),
        slots=slots,
        min_bandwidth=draw(st.sampled_from([0.0, 0.0, 25.0])),
        compute_priority=draw(st.sampled_from([1.0, 2.0])),
        specification=draw(specifications(names, ranks)),
        time_budget=20.0,
        **sizes,
    )
    return topology, request


@st.composite
def specifications(draw, names: list[str], ranks: int) -> ApplicationSpecification | None:
    if draw(st.booleans()):
        return None
    first = draw(st.integers(1, ranks))
    groups = [{"name": "first", "count": first, "most": draw(st.sampled_from([None, None, "cpu"]))}]
    if draw(st.booleans()):
        groups[0]["require"] = ["site=utk"]
    if first < ranks:
        groups.append({"name": "rest", "count": ranks - first})
    pins = draw(st.dictionaries(st.integers(0, ranks - 1).map(str), st.sampled_from(names), max_size=2))
    return ApplicationSpecification.read({"groups": groups, "pins": pins})


def slots_of(topology: Topology, request: Request) -> dict[str, int]:
    """The room on each node; one rank where each has a node of its own."""
    most = 1 if request.nodes == request.rank_count else 99
    return {node.id: min(most, (request.slots or {}).get(node.id, 1)) for node in topology.compute_nodes()}


def allowed(topology: Topology, request: Request) -> list[list[str]]:
    """For each rank the nodes on which it may be."""
    nodes, slots = {node.id: node for node in topology.compute_nodes()}, slots_of(topology, request)
    found = [[name for name in nodes if slots[name]] for _ in range(request.rank_count)]
    spec = request.specification
    if spec is None:
        return found
    pinned, group_of = spec.pinned(), [group for group in spec.groups for _ in range(group.count)]
    for rank, group in enumerate(group_of):
        met = [n for n in found[rank] if all(nodes[n].labels[k] == v for k, v in group.require.items())]
        found[rank] = [name for name in met if name in pinned.get(rank, nodes)]
    for group in spec.groups:
        if group.most:
            least = least_of_group(topology, slots, found, spec.members(group.name))
            for rank in spec.members(group.name):
                found[rank] = [n for n in found[rank] if nodes[n].cpu * nodes[n].speed >= least]
    return found


def least_of_group(topology: Topology, slots: dict[str, int], found: list[list[str]], members: range) -> float:
    """The cpu of the last node that a group with the most cpu needs, of those that others are not pinned to."""
    left = dict(slots)
    for rank, places in enumerate(found):
        if rank not in members and len(places) == 1:
            left[places[0]] -= 1
    cpu = {node.id: node.cpu * node.speed for node in topology.compute_nodes()}
    open_to = {name for rank in members for name in found[rank] if left[name] > 0}
    each = sorted((cpu[name] for name in open_to for _ in range(left[name])), reverse=True)
    return each[min(len(members), len(each)) - 1] if each else NONE


def placements(topology: Topology, request: Request):
    slots = slots_of(topology, request)
    for at in product(*allowed(topology, request)):
        counts = {name: at.count(name) for name in at}
        if request.nodes in (None, len(counts)) and all(count <= slots[name] for name, count in counts.items()):
            yield at


def worth(topology: Topology, request: Request, at: tuple[str, ...], pairs, shares, pattern: Pattern) -> float:
    """What the method maximises, of one placement; -inf where it may not be."""
    cpu = {node.id: node.cpu * node.speed for node in topology.compute_nodes()}
    between = [(at[a], at[b]) for a, b, _ in pattern.edges if at[a] != at[b]]
    least = min(cpu[name] for name in at)
    if not pattern.edges:
        return least
    is_floor = request.method in ("compute", "balanced") and request.min_bandwidth > 0
    if is_floor and any(pairs[pair] < request.min_bandwidth for pair in between):
        return NONE
    if request.method == "compute":
        return least
    if request.method == "balanced":
        return min([least / request.compute_priority, *(shares[pair] for pair in between)])
    rate = min((pairs[pair] for pair in between), default=math.inf)
    return rate if rate > NONE and rate >= request.min_bandwidth else NONE


def bests(topology: Topology, request: Request) -> list[float]:
    """What the best node sets are worth, best first."""
    pairs = oracle.both_ways(topology, lambda link: link.bandwidth)
    shares = oracle.both_ways(topology, lambda link: link.bandwidth / link.capacity)
    pattern = request.talking if request.by_pattern else named("all-to-all", request.rank_count)
    values: dict[frozenset[str], float] = {}
    for at in placements(topology, request):
        value = worth(topology, request, at, pairs, shares, pattern)
        if value > values.get(frozenset(at), NONE):
            values[frozenset(at)] = value
    return sorted(values.values(), reverse=True)


@settings(max_examples=examples(40, fuzz=200))
@given(jobs())
def test_every_method_finds_the_best_placements(job):
    topology, request = job
    expected = bests(topology, request)
    try:
        found = choose(topology, request)
    except ImpossibleError:
        assert not expected
        return
    assert found.optimal
    assert [each.score for each in found.candidates] == pytest.approx(expected[: request.candidates])
    assert len({frozenset(each.nodes) for each in found.candidates}) == len(found.candidates)
    assert {each.nodes for each in found.candidates} <= set(placements(topology, request))


@settings(max_examples=examples(20, fuzz=100))
@given(jobs((networks.trees(4), networks.crossbars(4))))
def test_among_equals_cpu_decides_and_then_the_time_of_messages_between_nodes(job):
    """The method communication or pattern; every placement is tried, and the best by all of its aims is taken."""
    topology, request = job
    request = replace(request, method="pattern" if request.pattern else "communication", candidates=1)
    pattern = request.pattern or named("all-to-all", request.rank_count)
    pairs = oracle.both_ways(topology, lambda link: link.bandwidth)
    cpu = {node.id: node.cpu * node.speed for node in topology.compute_nodes()}

    def score(at: tuple[str, ...]) -> tuple[float, float, float]:
        between = [(pairs[at[a], at[b]], weight) for a, b, weight in pattern.edges if at[a] != at[b]]
        time = sum(weight / rate if rate > 0 else math.inf for rate, weight in between)
        return worth(topology, request, at, pairs, {}, pattern), min(cpu[name] for name in at), -time

    best = max(map(score, placements(topology, request)), default=(NONE,))
    if best[0] == NONE:
        return
    assert score(choose(topology, request).nodes) == pytest.approx(best)


@st.composite
def flow_jobs(draw) -> tuple[Topology, Request]:
    topology, request = draw(jobs((networks.trees(4), networks.crossbars(4), networks.meshes(3))))
    method = "pattern" if request.pattern else "communication"
    return topology, replace(request, method=method, flows=True, min_bandwidth=0.0)


@settings(max_examples=examples(20, fuzz=100))
@given(flow_jobs())
def test_streams_of_ranks_on_one_node_share_its_links(job):
    topology, request = job
    pattern = request.pattern or named("all-to-all", request.rank_count)
    best: dict[frozenset[str], float] = {}
    for at in placements(topology, request):
        value = at_once(topology, at, pattern)
        best[frozenset(at)] = max(value, best.get(frozenset(at), NONE))
    expected = sorted((value for value in best.values() if value > NONE), reverse=True)
    try:
        found = choose(topology, request)
    except ImpossibleError:
        assert not expected
        return
    assert found.optimal
    assert [each.score for each in found.candidates] == pytest.approx(expected[: request.candidates], rel=1e-6)
    first = found.candidates[0]
    if first.bottleneck is not None:
        assert first.bottleneck.bandwidth == pytest.approx(first.score, rel=1e-6)


@pytest.mark.parametrize("method", ["pattern", "communication", "balanced"])
def test_among_placements_with_as_much_at_once_cpu_decides(method):
    cpu = {"a": 0.2, "b": 0.4, "c": 0.9, "d": 0.8}
    nodes = [*({"id": name, "cpu": part} for name, part in cpu.items()), {"id": "s", "kind": "network"}]
    topology = parse({"nodes": nodes, "links": [{"source": name, "target": "s", "capacity": 100} for name in cpu]})
    ring = named("ring", 4) if method == "pattern" else None
    request = Request(2, method, pattern=ring, ranks=4, slots=dict.fromkeys(cpu, 2), flows=True, time_budget=20.0)
    found = choose(topology, request)
    assert set(found.nodes) == {"c", "d"}
    assert found.optimal


def at_once(topology: Topology, at: tuple[str, ...], pattern: Pattern) -> float:
    """The least rate when all pairs between nodes talk both ways; -inf without a path."""
    between = [(at[a], at[b]) for a, b, _ in pattern.edges if at[a] != at[b]]
    if any(not oracle.route(topology, *ends) for pair in between for ends in (pair, pair[::-1])):
        return NONE
    flows = [Flow(*ends) for pair in between for ends in (pair, pair[::-1])]
    return min((rate.bandwidth for rate in flow_query(topology, flows)), default=math.inf)


@settings(max_examples=examples(20, fuzz=100))
@given(jobs())
def test_drawn_placements_keep_to_slots_pins_and_bandwidth(job):
    topology, request = job
    request = replace(request, method="random", pattern=None)
    pairs = oracle.both_ways(topology, lambda link: link.bandwidth)
    legal = {
        at
        for at in placements(topology, request)
        if all(pairs[a, b] >= request.min_bandwidth for a, b in combinations(dict.fromkeys(at), 2))
        or request.min_bandwidth == 0
    }
    try:
        drawn = choose(topology, request)
    except ImpossibleError:
        assert not legal
        return
    assert {each.nodes for each in drawn.candidates} <= legal


@settings(max_examples=examples(12, fuzz=60))
@given(jobs((networks.trees(6), networks.crossbars(6))))
def test_with_one_slot_everywhere_ranks_are_nodes(job):
    """However it is said: nodes, ranks, ranks and nodes, one rank a node, or slots of one."""
    topology, request = job
    count = min(request.rank_count, len(topology.compute_nodes()))
    pattern = None if request.pattern is None else named("ring" if count > 1 else "all-to-all", count)
    plain = replace(request, pattern=pattern, specification=None, slots=None, ranks=None, nodes=count)
    ones = dict.fromkeys((node.id for node in topology.compute_nodes()), 1)
    same = [
        replace(plain, nodes=None, ranks=count),
        replace(plain, ranks=count),
        replace(plain, ranks_per_node=1),
        replace(plain, nodes=None, ranks=count, slots=ones),
        replace(plain, slots=dict.fromkeys(ones, 4)),
    ]
    answers = [answer_or_error(topology, asked) for asked in (plain, *same)]
    assert len({str(answer) for answer in answers if not isinstance(answer, str)}) <= 1
    assert len({isinstance(answer, str) for answer in answers}) == 1


def answer_or_error(topology: Topology, request: Request):
    try:
        return [(each.nodes, each.score) for each in choose(topology, request).candidates]
    except ImpossibleError as error:
        return str(error)


def large(kind: str, size: int, seed: int) -> tuple[Topology, dict[str, int]]:
    """A tree of switches, or measured pairs, with nodes of 4 to 64 slots."""
    rng = random.Random(seed)
    nodes = [{"id": f"n{i}"} for i in range(size)]
    if kind == "pairs":
        rates = {(a, b): 5e9 * rng.lognormvariate(0, 0.3) for a, b in combinations([n["id"] for n in nodes], 2)}
        links = [{"source": a, "target": b, "capacity": rate} for (a, b), rate in rates.items()]
    else:
        switches = [f"s{i}" for i in range(size // 8)]
        links = [{"source": f"n{i}", "target": switches[i % len(switches)]} for i in range(size)]
        links += [{"source": switch, "target": "root"} for switch in switches]
        links = [{**link, "capacity": 1e10, "bandwidth": rng.uniform(1e9, 1e10)} for link in links]
        nodes += [{"id": name, "kind": "network"} for name in (*switches, "root")]
    slots = {node["id"]: rng.choice([4, 8, 16, 32, 64]) for node in nodes}
    return parse({"graph": {"kind": "pairs" if kind == "pairs" else "links"}, "nodes": nodes, "links": links}), slots


def in_steps(topology: Topology, request: Request) -> Selection:
    """By a clock that counts how often it is asked, so that a busy machine finds the same."""
    return select(topology, request, rng=random.Random(1), clock=count(0.0, 0.01).__next__)


@pytest.mark.parametrize("flows", [False, True])
@pytest.mark.parametrize("kind", ["tree", "pairs"])
@pytest.mark.parametrize("name", ["mesh-2d", "hypercube", "star"])
def test_many_ranks_are_never_worse_than_nodes_filled_in_rank_order(kind, name, flows):
    topology, slots = large(kind, 24, seed=3)
    asked = Request(None, "pattern", named(name, 64), ranks=64, slots=slots, flows=flows)
    found = in_steps(topology, asked)
    assert max(found.nodes.count(node) - slots[node] for node in found.nodes) <= 0
    names = [node.id for node in topology.compute_nodes()]
    compared = 0
    for size in sorted(set(slots.values())):
        small = frozenset(node for node in names if slots[node] < size)
        if 64 // size + len(small) <= len(names) and size < 64:
            group = in_steps(topology, Request(64 // size, "communication", exclude=small, candidates=1))
            filled = tuple(node for node in group.nodes for _ in range(size))
            assert found.candidates[0].score >= value_of(topology, filled, asked) * (1 - 1e-9)
            compared += 1
    assert compared >= 2
    assert found.optimal or kind == "pairs" or flows


def test_256_ranks_on_large_nodes_are_placed_in_the_time_that_is_given():
    """Every search asks its clock often enough to end soon after the time is over."""
    topology, slots = large("pairs", 64, seed=1)
    asked = Request(None, "pattern", named("mesh-2d", 256), ranks=256, slots=slots, time_budget=5.0)
    assert in_steps(topology, asked).seconds < 6.0


def value_of(topology: Topology, at: tuple[str, ...], request: Request) -> float:
    pattern = request.pattern
    if request.flows:
        between = [(at[a], at[b]) for a, b, _ in pattern.edges if at[a] != at[b]]
        flows = [Flow(*ends) for pair in between for ends in (pair, pair[::-1])]
        return min((rate.bandwidth for rate in flow_query(topology, flows)), default=math.inf)
    routes = Routes(topology)
    pairs = {(at[a], at[b]) for a, b, _ in pattern.edges if at[a] != at[b]}
    links = topology.links
    return min((min(links[arc >> 1].bandwidth for arc in routes.path(*pair).arcs) for pair in pairs), default=math.inf)


def test_heavy_pairs_go_inside_a_node():
    """Four pairs with much and a ring with little to exchange, on nodes of two."""
    heavy = [(a, a + 4, 1000.0) for a in range(4)]
    pattern = Pattern("couples", 8, tuple(sorted([*heavy, *((a, a + 1, 1.0) for a in range(7) if a != 3)])))
    links = [{"source": f"n{i}", "target": "s", "capacity": 1e9} for i in range(6)]
    nodes = [*({"id": f"n{i}"} for i in range(6)), {"id": "s", "kind": "network"}]
    slots = {f"n{i}": 2 for i in range(6)}
    asked = Request(None, "pattern", pattern, ranks=8, slots=slots)
    found = choose(parse({"nodes": nodes, "links": links}), asked)
    assert all(found.nodes[a] == found.nodes[b] for a, b, _ in heavy)
    assert {edge.weight for edge in found.candidates[0].edges} == {1.0}, "pairs inside a node take no link"
    assert document(found)["nodes"] == list(found.nodes)


def test_a_job_inside_one_node_needs_no_link():
    links = [{"source": f"n{i}", "target": "s", "capacity": 1e9} for i in range(3)]
    nodes = [*({"id": f"n{i}"} for i in range(3)), {"id": "s", "kind": "network"}]
    asked = Request(None, "communication", ranks=3, slots={"n1": 4}, candidates=2)
    found = choose(parse({"nodes": nodes, "links": links}), asked)
    assert (found.nodes, found.objective.min_bandwidth, found.bottleneck) == (("n1",) * 3, None, None)
    assert message(found.candidates[0].reason) == (
        "all ranks that talk with each other are on one node, so they need no link; lowest cpu 100 %"
    )
    assert message(found.candidates[1].reason).startswith("ranks on different nodes talk: bottleneck")
    assert json.dumps(document(found), allow_nan=False)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {"ranks": 9, "slots": {"n0": 2, "n1": 3}},
            r"has only 3 compute nodes \(room for 6 ranks\), 9 ranks were asked",
        ),
        ({"ranks": 3, "nodes": 4}, "nodes is 4; accepted is at most 3, one for each rank"),
        (
            {"ranks": 9, "nodes": 2, "ranks_per_node": 4},
            "ranks is 9; accepted is at most 8, which is 2 nodes with at most 4 ranks each",
        ),
        ({}, "ranks is empty; accepted is a number of ranks or of nodes"),
    ],
)
def test_what_cannot_be_is_said(asked, said):
    links = [{"source": f"n{i}", "target": "s", "capacity": 1e9} for i in range(3)]
    nodes = [*({"id": f"n{i}"} for i in range(3)), {"id": "s", "kind": "network"}]
    with pytest.raises((ImpossibleError, InputError), match=said):
        choose(parse({"nodes": nodes, "links": links}), Request(method="compute", **{"nodes": None, **asked}))


def test_a_pin_to_a_node_that_is_excluded_is_said():
    nodes, links = [{"id": "a"}, {"id": "b"}], [{"source": "a", "target": "b", "capacity": 1e9}]
    pinned = ApplicationSpecification.read({"pins": {"0": "a"}})
    with pytest.raises(ImpossibleError, match="Rank 0 is pinned to a, which cannot be used: it is excluded or in use"):
        choose(
            parse({"nodes": nodes, "links": links}),
            Request(1, "compute", specification=pinned, exclude=frozenset({"a"})),
        )


@pytest.mark.parametrize("pattern", ["all-to-all", "no pairs"])
@pytest.mark.parametrize("method", ["pattern", "communication", "balanced", "compute", "random"])
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"pins": {"0": "a", "1": "a"}}, "ranks 0-1 may run on a alone, which has room for 1 of their 2 ranks"),
        (
            {"groups": [{"name": "x", "count": 2}, {"name": "y", "count": 1}], "pins": {"x": ["a", "b"], "y": "b"}},
            "the groups x and y may run on a and b alone, which have room for 2 of their 3 ranks",
        ),
        (
            {"groups": [{"name": "x", "count": 3}], "pins": {"1": "a", "2": "a"}},
            "ranks 1-2 of x may run on a alone, which has room for 1 of their 2 ranks",
        ),
    ],
)
def test_pins_that_leave_no_room_are_said(asked, said, method, pattern):
    nodes, links = [{"id": name} for name in "abs"], [{"source": x, "target": "s", "capacity": 1e9} for x in "ab"]
    pinned = ApplicationSpecification.read(asked)
    ranks = pinned.ranks or 2
    talking = named("all-to-all", ranks) if pattern == "all-to-all" else Pattern("silent", ranks, ())
    request = Request(ranks, method, pattern=talking if method == "pattern" else None, specification=pinned)
    with pytest.raises(ImpossibleError, match=f"as pins and groups ask: {said}."):
        choose(parse({"nodes": nodes, "links": links}), request)


@given(st.data())
def test_ranks_have_a_place_or_a_crowd_that_has_too_few(data):
    """Against every assignment; a crowd is one by Hall's condition."""
    ranks, many = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 4))
    capacity = data.draw(st.lists(st.integers(0, 2), min_size=many, max_size=many))
    rows = st.lists(st.booleans(), min_size=many, max_size=many)
    domains = np.array(data.draw(st.lists(rows, min_size=ranks, max_size=ranks)), dtype=bool)
    room = Room(np.array(capacity), None, domains)
    places = any(
        all(at.count(node) <= capacity[node] for node in range(many))
        for at in product(*(np.flatnonzero(row).tolist() for row in domains))
    )
    found, crowd = seated(room, np.ones(many, dtype=bool), ranks), crowded(room, ranks)
    assert (found is not None) == places == (crowd is None)
    if crowd is None:
        assert room.holds(found)
    else:
        assert not domains[np.ix_(list(crowd.ranks), [n for n in range(many) if n not in crowd.nodes])].any()
        assert len(crowd.ranks) > crowd.slots == sum(capacity[node] for node in crowd.nodes)


def test_a_long_way_to_a_free_slot_is_found():
    """Every rank has to move on by one node, which is deeper than Python's own stack."""
    many = 3000
    domains = np.zeros((many, many), dtype=bool)
    domains[np.arange(many - 1), np.arange(many - 1)] = domains[np.arange(many - 1), np.arange(1, many)] = True
    domains[-1, [0, 1]] = True
    assert seated(Room(np.ones(many, dtype=int), None, domains), np.ones(many, dtype=bool), many) is not None


def test_a_pin_to_a_node_that_is_not_there_is_refused():
    nodes, links = [{"id": "a"}, {"id": "b"}], [{"source": "a", "target": "b", "capacity": 1e9}]
    pinned = ApplicationSpecification.read({"pins": {"0": ["a", "x"]}})
    with pytest.raises(InputError, match=r"pins.0 is 'x'; accepted is the id of a compute node"):
        choose(parse({"nodes": nodes, "links": links}), Request(1, "compute", specification=pinned))


def test_trees_too_large_for_a_matrix_meet_the_bound():
    """1,200 nodes of 1 to 4 slots; the best part is known by hand."""
    switches = [f"s{i}" for i in range(60)]
    nodes = [{"id": f"n{i}"} for i in range(1200)] + [{"id": s, "kind": "network"} for s in (*switches, "root")]
    links = [{"source": f"n{i}", "target": switches[i % 60], "capacity": (5 + i % 60) * 1e8} for i in range(1200)]
    links += [{"source": s, "target": "root", "capacity": 1e8} for s in switches]
    slots = {f"n{i}": 1 + i % 4 for i in range(1200)}
    asked = Request(None, "communication", ranks=50, slots=slots, candidates=1)
    found = choose(parse({"nodes": nodes, "links": links}), asked)
    assert found.optimal
    assert found.objective.min_bandwidth == 64e8
    assert {int(name[1:]) % 60 for name in found.nodes} == {59}


@settings(max_examples=examples(12, fuzz=60))
@given(jobs((networks.trees(5), networks.crossbars(4), networks.meshes(3))), st.data())
def test_pairs_that_talk_keep_to_a_latency(job, data):
    """Also with one rank on each node, by every method; the random one for every pair."""
    topology, request = job
    links = [replace(link, latency=data.draw(st.sampled_from([0.001, 0.002, 0.004]))) for link in topology.links]
    topology = replace(topology, links=tuple(links))
    method = data.draw(st.sampled_from([request.method, "random"]))
    pattern = None if method == "random" else request.pattern
    request = replace(request, method=method, pattern=pattern, require={"latency": "<=0.004"}, min_bandwidth=0.0)
    talking = pattern or named("all-to-all", request.rank_count)

    def one_way(a: str, b: str) -> float:
        return sum(link.latency for link in oracle.route(topology, a, b)) or math.inf

    def is_quick(at: tuple[str, ...]) -> bool:
        between = {(at[a], at[b]) for a, b, _ in talking.edges if at[a] != at[b]}
        return all(max(one_way(a, b), one_way(b, a)) <= 0.004 for a, b in between)

    legal = {at for at in placements(topology, request) if is_quick(at)}
    try:
        found = choose(topology, request)
    except ImpossibleError:
        assert not legal
        return
    assert {each.nodes for each in found.candidates} <= legal


@settings(max_examples=60)
@given(flow_jobs(), st.data())
def test_with_flows_pairs_that_talk_keep_to_a_latency_and_have_the_most(job, data):
    topology, request = job
    links = [replace(link, latency=data.draw(st.sampled_from([0.001, 0.002, 0.004]))) for link in topology.links]
    topology = replace(topology, links=tuple(links))
    request = replace(request, require={"latency": "<=0.004"})
    pattern = request.pattern or named("all-to-all", request.rank_count)

    def is_quick(a: str, b: str) -> bool:
        seconds = [sum(link.latency for link in oracle.route(topology, *ends)) for ends in ((a, b), (b, a))]
        return all(0 < each <= 0.004 for each in seconds)

    best = NONE
    for at in placements(topology, request):
        if all(is_quick(at[a], at[b]) for a, b, _ in pattern.edges if at[a] != at[b]):
            best = max(best, at_once(topology, at, pattern))
    try:
        found = choose(topology, request)
    except ImpossibleError:
        assert best == NONE
        return
    assert found.optimal
    assert found.candidates[0].score == pytest.approx(best, rel=1e-6)
    assert all(is_quick(*ends) for ends in {(edge.source, edge.target) for edge in found.candidates[0].edges})


def test_groups_that_differ_keep_to_pins_too():
    """Where a rank is pinned to one node no two groups differ in all of theirs, and the first is still found."""
    nodes = [*({"id": f"n{i}"} for i in range(6)), {"id": "s", "kind": "network"}]
    links = [{"source": f"n{i}", "target": "s", "capacity": (9 - i) * 1e8} for i in range(6)]
    pinned = ApplicationSpecification.read({"pins": {"0": "n5"}})
    asked = Request(3, "communication", specification=pinned, candidates=3, differ=3)
    found = choose(parse({"nodes": nodes, "links": links}), asked)
    assert found.nodes[0] == "n5"
    assert len(found.candidates) == 1
    slots = {f"n{i}": 2 for i in range(6)}
    shared = Request(None, "communication", ranks=4, slots=slots, candidates=3, differ=2)
    groups = [set(each.nodes) for each in choose(parse({"nodes": nodes, "links": links}), shared).candidates]
    assert groups[0] == {"n0", "n1"}
    assert len(groups[0] & groups[1]) == 0
