"""What a selection promises of a pair is what a flow query answers for it, however the network routes."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gridportal.base.errors import ImpossibleError
from gridportal.network.flows import Flow, flow_query
from gridportal.network.logical import logical_topology
from gridportal.network.topology import Link, Node, Topology, dump, parse
from monitoring.status.core import remos
from scheduling.jobs.core.patterns import named
from scheduling.selection.core.selection import Request, select
from tests.examples import examples
from tests.scheduling.selection.core import networks

MANY = settings(max_examples=examples(20, fuzz=100), deadline=None)
METHODS = st.sampled_from(["random", "compute", "communication", "balanced", "pattern"])


def lower_direction(topology: Topology, a: str, b: str) -> float:
    there, back = (flow_query(topology, [Flow(*ends)])[0] for ends in ((a, b), (b, a)))
    return min(there.bandwidth, back.bandwidth)


def choose(topology: Topology, request: Request):
    try:
        return select(topology, request, rng=random.Random(request.seed), clock=lambda: 0.0)
    except ImpossibleError:
        assume(False)
        raise


@MANY
@given(networks.routed(), st.integers(2, 4), METHODS, st.sampled_from([0.0, 30.0]))
def test_every_edge_has_the_rate_that_a_flow_query_answers(topology, m, method, floor):
    assume(m <= len(topology.compute_nodes()))
    request = Request(m, method, named("ring", m) if method == "pattern" else None, min_bandwidth=floor)
    for candidate in choose(topology, request).candidates:
        for edge in candidate.edges:
            answer = lower_direction(topology, edge.source, edge.target)
            assert edge.bandwidth == pytest.approx(answer)
            assert answer >= floor * (1 - 1e-9)
        if method in ("communication", "pattern"):
            assert candidate.score == pytest.approx(candidate.objective.min_bandwidth)


@MANY
@given(networks.routed(max_compute=5), st.integers(2, 4), st.sampled_from(["communication", "pattern"]))
def test_with_flows_the_edges_have_what_one_query_for_all_answers(topology, m, method):
    assume(m <= len(topology.compute_nodes()))
    request = Request(m, method, named("ring", m) if method == "pattern" else None, flows=True)
    for candidate in choose(topology, request).candidates:
        ends = [(edge.source, edge.target) for edge in candidate.edges]
        flows = [Flow(*pair) for a, b in ends for pair in ((a, b), (b, a))]
        rates = [rate.bandwidth for rate in flow_query(topology, flows)]
        assert [edge.bandwidth for edge in candidate.edges] == pytest.approx(
            [min(both) for both in zip(rates[::2], rates[1::2], strict=True)]
        )
        assert candidate.score == pytest.approx(candidate.objective.min_bandwidth)


@MANY
@given(networks.routed(), st.data())
def test_the_logical_topology_answers_as_the_whole_one(topology, data):
    names = [node.id for node in topology.compute_nodes()]
    chosen = data.draw(st.permutations(names))[: data.draw(st.integers(2, len(names)))]
    part = logical_topology(topology, chosen)
    flows = [Flow(a, b) for a in chosen for b in chosen if a != b]
    whole = flow_query(topology, flows)
    answers = flow_query(part.topology, flows, routing=part)
    assert [one.bandwidth for one in answers] == pytest.approx([one.bandwidth for one in whole])
    saved = parse(json.loads(json.dumps(remos.logical_document(part, 0.0, {}))))
    again = flow_query(saved, flows)
    assert [one.bandwidth for one in again] == pytest.approx([one.bandwidth for one in whole])


def two_spines(seed: int) -> Topology:
    """Four leaf switches with four nodes each, under two spines, all links loaded."""
    rng = random.Random(seed)
    nodes = [*(Node(f"n{i}") for i in range(16)), *(Node(f"l{i}", "network") for i in range(4))]
    nodes += [Node(f"s{i}", "network") for i in range(2)]
    ends = [(f"n{i}", f"l{i // 4}") for i in range(16)] + [(f"l{i}", f"s{j}") for i in range(4) for j in range(2)]
    links = (Link(a, b, 100e6, 100e6 * rng.uniform(0.02, 1)) for a, b in ends)
    return Topology("two spines", False, "links", tuple(nodes), tuple(links))


@pytest.mark.parametrize("seed", range(40))
def test_on_fat_trees_with_two_spines_no_promise_is_above_the_route(seed):
    topology = two_spines(seed)
    chosen = select(topology, Request(8, "communication"), rng=random.Random(0), clock=lambda: 0.0)
    answers = {edge.ranks: lower_direction(topology, edge.source, edge.target) for edge in chosen.candidates[0].edges}
    assert {edge.ranks: edge.bandwidth for edge in chosen.candidates[0].edges} == pytest.approx(answers)
    assert chosen.objective.min_bandwidth == pytest.approx(min(answers.values()))
    assert chosen.optimal


def test_a_short_slow_way_counts_before_a_long_fast_one_for_everybody():
    links = [("a", "s", 100), ("s", "t", 10), ("s", "u", 90), ("u", "t", 90), ("t", "b", 100)]
    net = parse(
        {
            "nodes": [{"id": "a"}, {"id": "b"}, *({"id": x, "kind": "network"} for x in "stu")],
            "links": [{"source": x, "target": y, "capacity": rate} for x, y, rate in links],
        }
    )
    chosen = select(net, Request(2, "communication"), rng=random.Random(0), clock=lambda: 0.0)
    assert chosen.objective.min_bandwidth == 10
    assert flow_query(net, [Flow("a", "b")])[0].bandwidth == 10
    (link,) = logical_topology(net, ["a", "b"]).topology.links
    assert link.bandwidth == 10
    flows = select(net, Request(2, "communication", flows=True), rng=random.Random(0), clock=lambda: 0.0)
    assert flows.objective.min_bandwidth == 10
    fixed = parse({**dump(net), "graph": {"routing": {"paths": [["a", "s", "u", "t", "b"]]}}})
    chosen = select(fixed, Request(2, "communication"), rng=random.Random(0), clock=lambda: 0.0)
    assert chosen.objective.min_bandwidth == 90
    assert chosen.candidates[0].link in {("s", "u"), ("u", "t")}


def test_of_parallel_links_one_counts_and_with_ecmp_both():
    ends = [("a", "s", 100), ("s", "t", 30), ("s", "t", 50), ("t", "b", 100)]
    links = tuple(Link(x, y, rate, rate) for x, y, rate in ends)
    nodes = (Node("a"), Node("b"), Node("s", "network"), Node("t", "network"))
    net = Topology("parallel", False, "links", nodes, links)
    rates = {}
    for rule in ("short", "ecmp"):
        routed = replace(net, routing=replace(net.routing, rule=rule))
        chosen = select(routed, Request(2, "communication"), rng=random.Random(0), clock=lambda: 0.0)
        rates[rule] = chosen.objective.min_bandwidth
        assert flow_query(routed, [Flow("a", "b")])[0].bandwidth == chosen.objective.min_bandwidth
    assert rates == {"short": 30, "ecmp": 60}
