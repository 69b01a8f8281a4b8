"""Of nearly equal groups the one whose messages take the least time, against all placements of small networks."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from gridportal.network.narrowest import bandwidth
from gridportal.network.topology import Link, Node, Topology
from scheduling.jobs.core.patterns import Pattern
from scheduling.messages import message
from scheduling.selection.core import single_nodes
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.placement import Request, Selection
from scheduling.selection.core.selection import select
from tests.examples import examples

Rates = dict[tuple[str, str], float]


def _network(rates: Rates) -> Topology:
    names = sorted({name for pair in rates for name in pair})
    links = tuple(Link(a, b, 100e6, bandwidth=rate) for (a, b), rate in rates.items())
    return Topology("small", False, "pairs", tuple(Node(name) for name in names), links)


def _busiest(pattern: Pattern, rates: Rates, nodes: tuple[str, ...]) -> float:
    seconds = [0.0] * pattern.ranks
    for a, b, weight in pattern.edges:
        pair = (nodes[a], nodes[b])
        rate = rates.get(pair) or rates[pair[::-1]]
        seconds[a] += weight / rate
        seconds[b] += weight / rate
    return max(seconds)


def _asked(rates: Rates, pattern: Pattern, slack: float, candidates: int = 3) -> Selection:
    request = Request(pattern.ranks, "pattern", pattern=pattern, candidates=candidates, slack=slack)
    return select(_network(rates), request, rng=random.Random(1), clock=lambda: 0.0)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Rates, Pattern, float]:
    names = [f"n{i}" for i in range(draw(st.integers(5, 7)))]
    rates = {pair: draw(st.sampled_from([10e6, 24.6e6, 25e6, 49e6, 50e6])) for pair in itertools.combinations(names, 2)}
    pairs = list(itertools.combinations(range(4), 2))
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=6, unique=True))
    edges = tuple((a, b, draw(st.sampled_from([1.0, 5.0, 40.0]))) for a, b in sorted(chosen))
    return rates, Pattern("discovered", 4, edges), draw(st.sampled_from([0.02, 0.1]))


@settings(max_examples=examples(12, fuzz=60), deadline=None)
@given(problems())
def test_the_slowest_pair_stays_within_the_slack_and_the_messages_take_no_longer_than_without(
    problem: tuple[Rates, Pattern, float],
) -> None:
    rates, pattern, slack = problem
    plain, found = _asked(rates, pattern, 0.0), _asked(rates, pattern, slack)
    assert found.objective.min_bandwidth >= (1 - slack) * plain.objective.min_bandwidth  # type: ignore[operator]
    assert _busiest(pattern, rates, found.nodes) <= _busiest(pattern, rates, plain.nodes) * (1 + 1e-9)
    sets = [frozenset(candidate.nodes) for candidate in found.candidates]
    assert len(set(sets)) == len(sets) == len(plain.candidates)


@settings(max_examples=examples(12, fuzz=60), deadline=None)
@given(problems(), st.lists(st.sampled_from([0.25, 0.5, 1.0]), min_size=7, max_size=7))
def test_no_group_within_the_slack_is_better_in_something_and_worse_in_nothing(
    problem: tuple[Rates, Pattern, float], cpu: list[float]
) -> None:
    """By the time of the busiest rank, of all messages, the lowest rate and the lowest processor: of all placements."""
    rates, pattern, slack = problem
    network = _network(rates)
    power = {node.id: share for node, share in zip(network.nodes, cpu, strict=False)}
    network = replace(network, nodes=tuple(replace(node, cpu=power[node.id]) for node in network.nodes))
    request = Request(pattern.ranks, "pattern", pattern=pattern, candidates=3, slack=slack)
    chosen = select(network, request, rng=random.Random(1), clock=lambda: 0.0).nodes
    best = _asked(rates, pattern, 0.0).objective.min_bandwidth
    own = _worth(pattern, rates, power, chosen)
    for nodes in itertools.permutations(power, pattern.ranks):
        other = _worth(pattern, rates, power, nodes)
        if other[2] >= (1 - slack) * best:  # type: ignore[operator]
            worse = any(a < b - 1e-6 * abs(b) for a, b in zip(other, own, strict=True))
            assert worse or all(a <= b + 1e-6 * abs(b) for a, b in zip(other, own, strict=True)), (nodes, other, own)


def _worth(
    pattern: Pattern, rates: Rates, cpu: dict[str, float], nodes: tuple[str, ...]
) -> tuple[float, float, float, float]:
    total = sum(w / (rates.get((nodes[a], nodes[b])) or rates[nodes[b], nodes[a]]) for a, b, w in pattern.edges)
    lowest = _lowest(pattern, rates, nodes)
    return -_busiest(pattern, rates, nodes), -total, lowest, min(cpu[node] for node in nodes)


def test_nine_of_ten_draws_find_the_least_time_there_is() -> None:
    rng = random.Random(5)
    names = [f"n{i}" for i in range(7)]
    reached = 0
    for _ in range(30):
        rates = {pair: rng.choice([20e6, 33e6, 49e6, 50e6]) for pair in itertools.combinations(names, 2)}
        pattern = Pattern("discovered", 4, ((0, 1, 9.0), (0, 2, 1.0), (1, 3, 4.0), (2, 3, 4.0)))
        level = 0.9 * _asked(rates, pattern, 0.0).objective.min_bandwidth  # type: ignore[operator]
        good = [nodes for nodes in itertools.permutations(names, 4) if _lowest(pattern, rates, nodes) >= level]
        best = min(_busiest(pattern, rates, nodes) for nodes in good)
        reached += _busiest(pattern, rates, _asked(rates, pattern, 0.1).nodes) <= best * 1.001
    assert reached >= 27


def _lowest(pattern: Pattern, rates: Rates, nodes: tuple[str, ...]) -> float:
    return min(rates.get((nodes[a], nodes[b])) or rates[nodes[b], nodes[a]] for a, b, _ in pattern.edges)


def test_scatter_does_not_decide_and_the_sentences_say_what_does() -> None:
    """By its slowest pair a group is best by a hair, and all its other pairs are slow."""
    rates = dict.fromkeys(itertools.combinations("abcdef", 2), 10e6)
    rates |= {("a", "b"): 50.2e6, ("b", "c"): 50.2e6, ("d", "e"): 50e6, ("e", "f"): 100e6}
    line = Pattern("discovered", 3, ((0, 1, 1.0), (1, 2, 100.0)))
    assert set(_asked(rates, line, 0.0).nodes) == {"a", "b", "c"}
    found = _asked(rates, line, 0.1)
    assert found.nodes == ("d", "e", "f")
    assert message(found.candidates[0].reason) == (
        "bottleneck d-e gives 50 Mbit/s, at most 10 % below the best there is; of all such groups seen, its busiest "
        "rank's messages take the least time by bandwidth (latency is not counted)"
    )
    assert message(found.candidates[1].reason).endswith("but its busiest rank's messages take 97.3 % longer")


def test_a_slack_that_is_no_fraction_is_refused() -> None:
    pattern = Pattern("pair", 2, ((0, 1, 1.0),))
    with pytest.raises(InputError, match=r"slack.*a fraction from 0 to 0.9"):
        _asked({("a", "b"): 1e6}, pattern, 1.0)


@settings(max_examples=examples(12, fuzz=60), deadline=None)
@given(problems(), st.booleans())
def test_of_larger_networks_the_nodes_that_promise_most_are_looked_at(
    problem: tuple[Rates, Pattern, float], is_tree: bool
) -> None:
    """Fewer nodes than there are, so that the same has to hold of a part of them."""
    rates, pattern, slack = problem
    network = _network(rates) if not is_tree else _tree(list(rates.values()))
    request = Request(4, "pattern", pattern=pattern, candidates=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(single_nodes, "MOST_NODES", 1)
        plain, found = (
            select(network, replace(request, slack=each), rng=random.Random(1), clock=lambda: 0.0)
            for each in (0.0, slack)
        )
    pairs = Pairs(network, network.compute_nodes()).rates(bandwidth)
    names = [node.id for node in network.compute_nodes()]
    known = {(a, b): float(pairs[x, y]) for x, a in enumerate(names) for y, b in enumerate(names) if x < y}
    best = plain.objective.min_bandwidth
    assert found.objective.min_bandwidth >= (1 - slack) * best  # type: ignore[operator]
    assert _busiest(pattern, known, found.nodes) <= _busiest(pattern, known, plain.nodes) * (1 + 1e-9)
    assert found.candidates[0].objective.min_bandwidth == pytest.approx(_lowest(pattern, known, found.nodes))


def _tree(rates: list[float]) -> Topology:
    """Three switches in a row, nodes on each of them with these rates one after the other."""
    names = [f"n{at}" for at in range(len(rates))]
    links = [
        Link(name, f"s{at % 3}", 100e6, bandwidth=rate)
        for at, (name, rate) in enumerate(zip(names, rates, strict=True))
    ]
    links += [Link("s0", "s1", 100e6, bandwidth=49e6), Link("s1", "s2", 100e6, bandwidth=24.8e6)]
    switches = tuple(Node(f"s{at}", "network") for at in range(3))
    return Topology("tree", False, "links", (*map(Node, names), *switches), tuple(links))


def test_above_a_thousand_nodes_a_group_elsewhere_is_taken_whose_messages_take_less_time() -> None:
    """Of 41 switches one has the best slowest pair by a hair, and another one nodes that are twice as fast but two."""
    nodes, links = [Node("top", "network")], []
    for switch in range(41):
        nodes.append(Node(f"s{switch}", "network"))
        links.append(Link(f"s{switch}", "top", 1e9, bandwidth=40e6))
        for at in range(30):
            rate = {7: 100.5e6, 23: 96e6 if at == 0 else 200e6}.get(switch, 90e6 + at * 1e3)
            nodes.append(Node(f"n{switch}.{at}"))
            links.append(Link(f"n{switch}.{at}", f"s{switch}", 1e9, bandwidth=rate))
    network = Topology("large", False, "links", tuple(nodes), tuple(links))
    star = Pattern("discovered", 30, tuple((0, rank, 100.0 if rank > 1 else 1.0) for rank in range(1, 30)))
    request = Request(30, "pattern", pattern=star, slack=0.0, candidates=2)
    plain = select(network, request, rng=random.Random(1), clock=lambda: 0.0)
    assert plain.nodes[0].startswith("n7.")
    found = select(network, replace(request, slack=0.1), rng=random.Random(1), clock=lambda: 0.0)
    assert {name.split(".")[0] for name in found.nodes} == {"n23"}
    assert found.nodes[1] == "n23.0"
    assert "at most 10 % below the best there is" in message(found.candidates[0].reason)
