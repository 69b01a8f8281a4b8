"""No group is taken where another is at least as good in everything and better in something, against brute force."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gridportal.base.errors import ImpossibleError
from gridportal.network.topology import Topology, parse
from scheduling.jobs.core.patterns import Pattern, named
from scheduling.messages import message
from scheduling.selection.core.selection import Request, Selection, select
from tests.examples import examples
from tests.scheduling.selection.core import networks, oracle

MANY = settings(max_examples=examples(30, fuzz=150), deadline=None)
ROUNDING = 1e-9
METHODS = st.sampled_from(
    ["compute", "communication", "balanced", "ring", "line", "star", "pairs", "mesh-2d:2x2", "binary-tree"]
)


def choose(topology: Topology, request: Request) -> Selection:
    return select(topology, request, rng=random.Random(0), clock=lambda: 0.0)


def offers(topology: Topology, request: Request, pattern: Pattern) -> dict[frozenset[str], tuple[float, float, float]]:
    """Of every group: what the method maximises, the lowest cpu, the lowest bandwidth (in the best rank order)."""
    cpu = {n.id: n.cpu * n.speed for n in topology.compute_nodes()}
    rates = oracle.both_ways(topology, lambda link: link.bandwidth)
    fractions = oracle.both_ways(topology, lambda link: link.bwfactor)
    lowest = oracle.set_values(list(cpu), pattern, rates)
    shares = oracle.set_values(list(cpu), pattern, fractions)
    found = {}
    for group in map(frozenset, combinations(cpu, request.nodes)):
        power, rate = min(cpu[n] for n in group), lowest.get(group, 0.0)
        if request.method == "compute":
            found[group] = (power, power, rate)
        elif group in lowest:
            score = min(power, shares[group]) if request.method == "balanced" else rate
            found[group] = (score, power, rate)
    return found


def beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """At least as good in everything, and better in something."""
    pairs = list(zip(one, other, strict=True))
    return all(a >= b * (1 - ROUNDING) for a, b in pairs) and any(a > b * (1 + ROUNDING) for a, b in pairs)


@MANY
@given(networks.networks(), st.integers(2, 4), METHODS, st.integers(1, 4))
def test_no_candidate_is_dominated_by_a_group_that_does_not_stand_before_it(topology, m, what, k):
    assume(m <= len(topology.compute_nodes()))
    assume("2x2" not in what or m == 4)
    assume(what != "pairs" or m % 2 == 0)
    method = what if what in ("compute", "communication", "balanced") else "pattern"
    pattern = named(what if method == "pattern" else "all-to-all", m)
    request = Request(m, method, pattern if method == "pattern" else None, candidates=k)
    every = offers(topology, request, pattern)
    try:
        selection = choose(topology, request)
    except ImpossibleError:
        assert not every
        return
    before: set[frozenset[str]] = set()
    for candidate in selection.candidates:
        group = frozenset(candidate.nodes)
        own = (candidate.score, candidate.objective.min_cpu, candidate.objective.min_bandwidth or 0.0)
        assert own == pytest.approx(every[group])
        worse_than = [other for other in every if other not in before and beats(every[other], own)]
        assert not worse_than
        before.add(group)


def ten(seed: int) -> Topology:
    """Ten nodes with few different processors, on a tree of four switches with few different rates: many equals."""
    rng = random.Random(seed)
    nodes = [{"id": f"n{i}", "cpu": rng.choice([0.5, 1.0])} for i in range(10)]
    nodes += [{"id": f"s{i}", "kind": "network"} for i in range(4)]
    ends = [(f"s{i}", f"s{rng.randrange(i)}") for i in range(1, 4)] + [(f"n{i}", f"s{i % 4}") for i in range(10)]
    links = [{"source": a, "target": b, "capacity": 1e8, "bandwidth": rng.choice([1e6, 5e7, 1e8])} for a, b in ends]
    return parse({"nodes": nodes, "links": links})


@pytest.mark.parametrize("method", ["compute", "communication", "balanced"])
def test_of_sixty_networks_with_many_equals_no_choice_is_dominated(method):
    dominated = []
    for seed in range(60):
        request = Request(4, method, candidates=3)
        every = offers(ten(seed), request, named("all-to-all", 4))
        chosen = choose(ten(seed), request).candidates[0]
        own = every[frozenset(chosen.nodes)]
        dominated += [seed for other in every.values() if beats(other, own)][:1]
    assert dominated == []


def test_compute_takes_the_faster_of_two_pairs_with_as_much_cpu_and_says_that_this_decided():
    nodes = [*({"id": x} for x in "abcd"), {"id": "s", "kind": "network"}]
    links = [
        {"source": x, "target": "s", "capacity": 1e8, "bandwidth": w}
        for x, w in zip("abcd", (1e6, 1e6, 1e8, 1e8), strict=True)
    ]
    selection = choose(parse({"nodes": nodes, "links": links}), Request(2, "compute"))
    assert selection.nodes == ("c", "d")
    assert message(selection.candidates[0].reason).endswith("; among equals the bandwidth decided")
    said = message(selection.candidates[1].reason)
    assert said.startswith("as much cpu as the chosen group, but bottleneck ")
    assert said.endswith("gives 1 Mbit/s, 99 Mbit/s less")


def test_communication_takes_the_pair_with_more_cpu_of_two_as_fast():
    nodes = [
        *({"id": x, "cpu": c} for x, c in zip("abcd", (0.5, 0.5, 1, 1), strict=True)),
        {"id": "s", "kind": "network"},
    ]
    links = [{"source": x, "target": "s", "capacity": 1e8} for x in "abcd"]
    selection = choose(parse({"nodes": nodes, "links": links}), Request(2, "communication"))
    assert selection.nodes == ("c", "d")
    assert message(selection.candidates[0].reason).endswith("; among equals the cpu decided")
