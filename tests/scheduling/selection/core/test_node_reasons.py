"""Why each other node was not taken, held against the same group with the node in it, and what a better link buys."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import ImpossibleError
from gridportal.base.reasons import Code
from gridportal.network.narrowest import bandwidth
from gridportal.network.topology import Link, Topology, parse
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.jobs.core.explanation import Explanation, NextLink
from scheduling.jobs.core.patterns import Pattern, named
from scheduling.messages import message
from scheduling.messages.node_messages import KINDS, kind
from scheduling.messages.selection_messages import better_link
from scheduling.selection.core.explanations.choice_explanation import explanation
from scheduling.selection.core.explanations.next_link import next_link
from scheduling.selection.core.explanations.node_reasons import node_reasons
from scheduling.selection.core.explanations.talking_nodes import talking_nodes
from scheduling.selection.core.flows.link_crossings import LinkCrossings
from scheduling.selection.core.method_aims import share_of
from scheduling.selection.core.pairs.member_rates import member_rates
from scheduling.selection.core.pairs.pair_latency import slow_to
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.selection import Request, Selection, select
from tests.scheduling.selection.core import networks, oracle

ANY_NETWORK = st.one_of(networks.trees(), networks.crossbars(), networks.meshes())


def choose(topology: Topology, request: Request) -> Selection:
    return select(topology, request, rng=random.Random(request.seed), clock=lambda: 0.0)


@st.composite
def choices(draw) -> tuple[Topology, Request]:
    topology = draw(ANY_NETWORK)
    most = min(4, len(topology.compute_nodes()))
    method = draw(st.sampled_from(["compute", "communication", "balanced", "pattern", "random"]))
    m = draw(st.integers(1, most))
    pattern = named(draw(st.sampled_from(["ring", "line", "star", "all-to-all", "ep"])), m)
    return topology, Request(m, method, pattern if method == "pattern" else None)


@given(ANY_NETWORK, st.data())
def test_the_rates_to_members_are_those_of_all_pairs(topology, data):
    pairs = Pairs(topology, topology.compute_nodes())
    places = st.integers(0, len(pairs.usable) - 1)
    members = data.draw(st.lists(places, unique=True, min_size=1))
    assert (member_rates(pairs, members, bandwidth) == pairs.rates(bandwidth)[:, members]).all()


@given(choices())
def test_no_exchange_with_a_node_is_better_than_its_reason_says(drawn):
    topology, request = drawn
    try:
        chosen = choose(topology, request)
    except ImpossibleError:
        return
    by_name = {each.node: each.reason for each in node_reasons(topology, request, chosen)}
    assert set(by_name) == {node.id for node in topology.compute_nodes()} - set(chosen.nodes)
    if request.method == "random":
        assert {reason.code for reason in by_name.values()} <= {Code.NODE_NOT_DRAWN}
        return
    worth = _Worth(topology, request, chosen)
    for name, reason in by_name.items():
        best = max(worth.of(_exchanged(chosen.nodes, at, name)) for at in range(len(chosen.nodes)))
        own = worth.of(chosen.nodes)
        if reason.code in (Code.NODE_SLOWER, Code.NODE_LESS_CPU, Code.NODE_LESS_BALANCED):
            assert best[0] < own[0]
        elif reason.code is Code.NODE_APART:
            assert best < own
            assert -math.inf in best
        elif reason.code is Code.NODE_AS_GOOD:
            assert best == pytest.approx(own)
        else:
            assert best[0] == pytest.approx(own[0])
            assert best[1:] < own[1:]


#: What may be said of a node whose own pairs have as much as all of the group have at once.
OF_EQUALS = {
    *(Code.NODE_AS_GOOD, Code.NODE_SLOWER_AT_ONCE, Code.NODE_LESS_CPU, Code.NODE_LESS_CPU_AT_EQUALS),
    Code.NODE_NOT_WEIGHED,
}


@given(networks.trees(leaves_only=True), st.integers(2, 4))
def test_with_flows_no_node_that_is_said_to_be_slower_would_give_as_much(topology, m):
    request = Request(min(m, len(topology.compute_nodes())), "communication", flows=True)
    try:
        chosen = choose(topology, request)
    except ImpossibleError:
        return
    pairs = Pairs(topology, topology.compute_nodes())
    place = {node.id: at for at, node in enumerate(pairs.usable)}
    edges = [(a, b) for a, b, _ in named("all-to-all", request.nodes).edges]
    crossings = LinkCrossings(pairs)
    for each in node_reasons(topology, request, chosen):
        groups = [_exchanged(chosen.nodes, at, each.node) for at in range(len(chosen.nodes))]
        best = max(crossings.lowest([place[name] for name in group], edges) for group in groups)
        if each.reason.code in (Code.NODE_SLOWER, Code.NODE_APART):
            assert best < chosen.candidates[0].score
        else:
            assert each.reason.code in OF_EQUALS


def _exchanged(nodes: tuple[str, ...], at: int, name: str) -> tuple[str, ...]:
    return (*nodes[:at], name, *nodes[at + 1 :])


class _Worth:
    """What a group is worth, from the rates of all pairs: what the method maximises, then what decides."""

    def __init__(self, topology: Topology, request: Request, chosen: Selection) -> None:
        self.request, self.pattern = request, chosen.pattern
        self.nodes = {node.id: node for node in topology.compute_nodes()}
        self.place = {name: number for number, name in enumerate(self.nodes)}
        self.rates = Pairs(topology, topology.compute_nodes()).rates(bandwidth)
        self.shares = Pairs(topology, topology.compute_nodes()).rates(share_of(None))

    def of(self, nodes: tuple[str, ...]) -> tuple[float, ...]:
        pairs = [(self.place[nodes[a]], self.place[nodes[b]]) for a, b in talking_nodes(nodes, self.pattern)]
        rate = min((float(self.rates[pair]) for pair in pairs), default=float("inf"))
        cpu = min(self.nodes[name].effective_cpu for name in nodes)
        if not pairs:
            return (cpu,)
        if self.request.method == "compute":
            return (cpu, rate)
        if self.request.method == "balanced":
            return (min(cpu, *(float(self.shares[pair]) for pair in pairs)), cpu, rate)
        return (rate, cpu)


@given(ANY_NETWORK, st.sampled_from(["ring", "line", "star", "all-to-all"]), st.integers(2, 4), st.floats(0.05, 0.6))
def test_with_slack_the_reason_is_what_the_best_exchange_loses_by(topology, name, m, slack):
    weights = {edge: float(1 + at % 3) for at, edge in enumerate(named(name, m).edges)}
    pattern = Pattern(name, m, tuple((a, b, weights[a, b, w]) for a, b, w in named(name, m).edges))
    request = Request(m, "pattern", pattern, slack=slack)
    try:
        chosen = choose(topology, request)
    except ImpossibleError:
        return
    level = chosen.candidates[0].level
    if level is None:
        assert chosen.objective.min_bandwidth == 0
        return
    worth = _SlackWorth(topology, pattern, level)
    own = worth.of(chosen.nodes)
    for each in node_reasons(topology, request, chosen):
        best = max((worth.of(_exchanged(chosen.nodes, at, each.node)) for at in range(m)), key=_felt)
        at = next((at for at in range(5) if best[at] != pytest.approx(own[at], rel=1e-6)), 5)
        assert LOST_BY[each.reason.code] == ("reached", "busiest", "total", "lowest", "cpu", "")[at] or (
            each.reason.code is Code.NODE_MORE_MESSAGE_TIME and at in (1, 2)
        )
        assert best < own or at == 5


#: What a node would make less of, where the time of messages decides.
LOST_BY = {
    Code.NODE_APART: "reached",
    Code.NODE_BELOW_SLACK: "reached",
    Code.NODE_MORE_MESSAGE_TIME: "busiest",
    Code.NODE_SLOWER_AT_EQUALS: "lowest",
    Code.NODE_LESS_CPU_AT_EQUALS: "cpu",
    Code.NODE_AS_GOOD: "",
}


def _felt(figures: tuple[float, ...]) -> tuple[float, ...]:
    """Without what is due to the order of a sum."""
    return tuple(float(f"{figure:.9g}") for figure in figures)


class _SlackWorth:
    """What a group is worth where the time of messages decides, from the rates of all pairs."""

    def __init__(self, topology: Topology, pattern: Pattern, level: float) -> None:
        self.nodes = {node.id: node for node in topology.compute_nodes()}
        self.place = {name: number for number, name in enumerate(self.nodes)}
        self.rates = Pairs(topology, topology.compute_nodes()).rates(bandwidth)
        self.pattern, self.level = pattern, level

    def of(self, nodes: tuple[str, ...]) -> tuple[float, ...]:
        """Lowest rate up to the level, time of the busiest rank and of all (negative), lowest rate, lowest cpu."""
        busy = dict.fromkeys(range(self.pattern.ranks), 0.0)
        rates = []
        for a, b, weight in self.pattern.edges:
            rates.append(float(self.rates[self.place[nodes[a]], self.place[nodes[b]]]))
            for rank in (a, b):
                busy[rank] += weight / rates[-1] if rates[-1] > 0 else math.inf
        lowest, cpu = min(rates), min(self.nodes[name].effective_cpu for name in nodes)
        return min(lowest, self.level), -max(busy.values()), -sum(busy.values()) / 2, lowest, cpu


def test_with_slack_every_node_says_what_it_would_cost():
    topology = star([9e7, 9e7, 8.8e7, 8.8e7, 4e7], cpu=[1, 1, 1, 0.5, 1])
    request = Request(2, "pattern", named("line", 2), slack=0.1)
    left = {each.node: message(each.reason) for each in node_reasons(topology, request, choose(topology, request))}
    assert left == {
        "n3": "the busiest rank's messages take 2.27 % longer in the place of n1",
        "n4": "the busiest rank's messages take 2.27 % longer in the place of n1",
        "n5": "40 Mbit/s to n2 in the place of n1, less than the 81 Mbit/s that the slack allows",
    }


def test_slack_never_goes_below_the_bandwidth_that_was_asked_for():
    rates = {"ab": 1e8, "bc": 1e8, "ac": 1e8, "ad": 9e7, "de": 9e8}
    links = [{"source": x, "target": y, "capacity": 1e9, "bandwidth": rate} for (x, y), rate in rates.items()]
    topology = parse({"graph": {"kind": "pairs"}, "nodes": [{"id": name} for name in "abcde"], "links": links})
    pattern = Pattern("two", 3, ((0, 1, 1.0), (1, 2, 9.0)))
    free = choose(topology, Request(3, "pattern", pattern, slack=0.2))
    assert free.objective.min_bandwidth == 9e7
    bound = choose(topology, Request(3, "pattern", pattern, slack=0.2, min_bandwidth=1e8))
    assert bound.objective.min_bandwidth == 1e8


@given(choices())
def test_a_better_link_buys_what_a_network_with_it_gives(drawn):
    topology, request = drawn
    try:
        chosen = choose(topology, request)
    except ImpossibleError:
        return
    better = next_link(topology, chosen)
    if better is None:
        bottleneck = chosen.candidates[0].bottleneck
        assert bottleneck is None or bottleneck.link is None
        return
    raised = replace(topology, links=tuple(_raised(link, better) for link in topology.links))
    rates = Pairs(raised, [node for node in raised.compute_nodes() if node.id in chosen.nodes]).rates(bandwidth)
    place = {node.id: at for at, node in enumerate(n for n in raised.compute_nodes() if n.id in chosen.nodes)}
    names = chosen.nodes
    ends = talking_nodes(names, chosen.pattern)
    lowest = min(float(rates[place[names[a]], place[names[b]]]) for a, b in ends)
    assert lowest == (1e18 if better.then is None else better.then)
    assert better.then is None or better.then > better.bandwidth


def _raised(link: Link, better: NextLink) -> Link:
    fast = (link.source, link.target) in better.links
    return replace(link, capacity=1e18, bandwidth=1e18) if fast else link


def star(rates: list[float], **more) -> Topology:
    nodes = [{"id": f"n{i}", **{k: v[i - 1] for k, v in more.items()}} for i in range(1, len(rates) + 1)]
    links = [{"source": f"n{i}", "target": "s", "capacity": 1e8, "bandwidth": r} for i, r in enumerate(rates, 1)]
    return parse({"nodes": [*nodes, {"id": "s", "kind": "network"}], "links": links})


def test_each_requirement_of_the_job_is_a_reason():
    topology = star([9e7, 8e7, 7e7, 6e7, 5e7], site=["utk", "utk", "ucsd", "utk", "utk"], cpu=[1, 1, 1, 0.2, 1])
    asked = Request(2, "communication", require={"site": "utk"}, min_cpu=0.5, exclude=frozenset({"n5"}))
    reasons = {each.node: message(each.reason) for each in node_reasons(topology, asked, choose(topology, asked))}
    assert reasons == {
        "n3": "site=utk was asked for; it has site=ucsd",
        "n4": "20 % of its processor are free, 50 % were asked for",
        "n5": "excluded by the job itself",
    }


def test_a_node_without_enough_bandwidth_says_so_where_processors_decide():
    topology = star([9e7, 8e7, 7e7], cpu=[0.5, 0.5, 1.0])
    asked = Request(2, "compute", min_bandwidth=75e6)
    (left,) = node_reasons(topology, asked, choose(topology, asked))
    assert message(left.reason) == "70 Mbit/s to n2 in the place of n1, less than the 75 Mbit/s that were asked for"


def test_a_node_with_fewer_slots_than_any_of_the_group_has_ranks_says_so():
    topology = star([9e7, 8e7, 7e7])
    asked = Request(None, "communication", ranks=4, ranks_per_node=2, slots={"n1": 2, "n2": 2, "n3": 1})
    (left,) = node_reasons(topology, asked, choose(topology, asked))
    assert message(left.reason) == "room for 1 rank, and each node of the group has 2 ranks or more"


def test_a_node_that_lacks_what_a_group_asks_for_says_so():
    topology = star([9e7, 8e7, 7e7], site=["utk", "utk", "ucsd"])
    document = {"groups": [{"name": "all", "count": 2, "require": ["site=utk"]}]}
    asked = Request(None, "communication", ranks=2, specification=ApplicationSpecification.read(document))
    (left,) = node_reasons(topology, asked, choose(topology, asked))
    assert message(left.reason) == "site=utk was asked for; it has site=ucsd"


def test_a_node_says_that_others_were_named_for_the_ranks():
    topology = star([9e7, 8e7, 7e7, 6e7], site=["utk", "utk", "ucsd", "utk"])
    groups = [{"name": "server", "count": 1}, {"name": "clients", "count": 1, "require": ["site=utk"]}]
    pinned = ApplicationSpecification.read({"groups": groups, "pins": {"server": "n2"}})
    slots = dict.fromkeys(["n1", "n2", "n3", "n4"], 2)
    asked = Request(None, "communication", ranks=2, slots=slots, specification=pinned)
    chosen = choose(topology, asked)
    assert chosen.nodes == ("n2", "n2")
    others = "others were named for the chosen nodes' ranks, by pins or by who moved the job: n2"
    assert {each.node: message(each.reason) for each in node_reasons(topology, asked, chosen)} == {
        "n1": others,
        "n3": "site=utk was asked for; it has site=ucsd",
        "n4": others,
    }


def test_all_nodes_that_were_named_are_the_reason_of_the_others():
    topology = star([9e7, 8e7, 7e7])
    named_nodes = ApplicationSpecification.read({"pins": {"0": "n3", "1": "n2"}})
    asked = Request(2, "communication", specification=named_nodes)
    (left,) = node_reasons(topology, asked, choose(topology, asked))
    assert (left.reason.code, left.reason.facts) == (Code.NODE_NOT_PINNED, {"nodes": ["n3", "n2"]})
    assert kind(left.reason) == "not where somebody wants the ranks"


def test_all_links_that_would_have_to_be_faster_are_named():
    links = (("a1", "s"), ("s", "a1"), ("a2", "s"), ("b1", "s"))
    assert better_link(NextLink(links, 4e7, None, None)) == (
        "With faster links a1-s, a2-s and b1-s, all of them, no other link would limit the slowest pair."
    )
    many = tuple((f"n{i}", "s") for i in range(20))
    assert "n10-s and 9 more, all of them" in better_link(NextLink(many, 4e7, None, None))


@given(ANY_NETWORK, st.data())
def test_latencies_to_members_are_the_sums_along_their_routes(topology, data):
    seconds = st.sampled_from([0.0, 0.001, 0.002, 0.004])
    topology = replace(topology, links=tuple(replace(link, latency=data.draw(seconds)) for link in topology.links))
    pairs = Pairs(topology, topology.compute_nodes())
    members = data.draw(st.lists(st.integers(0, len(pairs.usable) - 1), unique=True, min_size=1))
    slow = slow_to(pairs, members, "<=0.003")
    for row, node in enumerate(pairs.usable):
        for column, member in enumerate(members):
            ways = [(node.id, pairs.usable[member].id), (pairs.usable[member].id, node.id)]
            sums = [sum(link.latency for link in oracle.route(topology, *way)) for way in ways]
            is_joined = all(oracle.route(topology, *way) for way in ways)
            assert slow[row, column] == (row != member and not (is_joined and max(sums) <= 0.003 + 1e-12))


def test_a_node_that_is_too_far_away_says_so():
    topology = star([9e7, 8e7, 9e7])
    links = [replace(link, latency=0.002 if link.source == "n3" else 0.001) for link in topology.links]
    topology = replace(topology, links=tuple(links))
    for flows in (False, True):
        asked = Request(2, "communication", require={"latency": "<=0.002"}, flows=flows)
        (left,) = node_reasons(topology, asked, choose(topology, asked))
        assert message(left.reason) == "too far from n2 in the place of n1: latency<=0.002 s was asked for"


def test_reasons_are_counted_by_kind_and_of_many_nodes_only_the_counts_are_kept():
    topology = star([9e7, 8e7, *([7e7] * 1500)], site=["a", "a", *["a"] * 500, *["b"] * 1000])
    asked = Request(2, "communication", require={"site": "a"})
    found = explanation(topology, asked, choose(topology, asked))
    assert [(kind(each.reason), each.nodes) for each in found.counts] == [
        ("without site=a", 1000),
        ("slower than the slowest pair of the group", 500),
    ]
    assert found.nodes == ()
    assert found.next_link == NextLink((("n2", "s"),), 8e7, 9e7, ("n1", "s"))


@given(choices())
def test_an_explanation_comes_back_from_its_document(drawn):
    topology, request = drawn
    try:
        found = explanation(topology, request, choose(topology, request))
    except ImpossibleError:
        return
    assert Explanation.read(found.document()) == found


def test_every_kind_of_reason_has_a_name_for_its_count():
    codes = {code for code in Code if code.value.startswith("node_")}
    assert codes - set(KINDS) == {Code.NODE_FAILED, Code.NODE_NOT_BOOTED, Code.NODE_NOT_RECONFIGURED, Code.NODE_LACKS}


@pytest.mark.parametrize(("ranks", "nodes"), [(4, "abcd"), (4, "aabb")])
def test_ranks_on_one_node_need_no_network_between_them(ranks, nodes):
    ends = talking_nodes(tuple(nodes), named("all-to-all", ranks))
    different = len(set(nodes))
    assert ends == [(a, b) for a, b in product(range(different), repeat=2) if a < b]
