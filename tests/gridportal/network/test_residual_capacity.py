"""What links leave to one more stream."""

from __future__ import annotations

import pytest

from gridportal.network import topology_files
from gridportal.network.flows import Flow, flow_query
from gridportal.network.residual_capacity import left
from gridportal.network.topology import Link, Node, Topology
from gridportal.testbed import topologies

CMU8 = topology_files.load(topologies.find("cmu8"))


def test_streams_between_nodes_also_fill_the_link_between_routers():
    found = left(CMU8, {("m-1", "m-5"): 50e6, ("m-2", "m-6"): 50e6})

    assert found["panama", "gibraltar"] == pytest.approx(100e6 / 3)
    assert found["m-1", "panama"] == pytest.approx(50e6)
    assert found["gibraltar", "suez"] == 155e6
    assert found["m-3", "panama"] == 100e6


def test_of_both_directions_the_lower_counts_and_each_is_shared_by_its_own_streams():
    found = left(CMU8, {("m-1", "m-2"): 95e6, ("m-2", "m-1"): 40e6})

    assert found["m-1", "panama"] == pytest.approx(50e6)


def test_a_trickle_takes_what_it_takes_and_no_share():
    assert left(CMU8, {("m-1", "m-2"): 1e6})["m-1", "panama"] == pytest.approx(99e6)


def test_strangers_and_nothing_at_all_leave_everything():
    every = {(link.source, link.target): link.capacity for link in CMU8.links}

    assert left(CMU8, {}) == left(CMU8, {("m-1", "mars"): 9e9, ("m-1", "m-1"): 9e9, ("m-2", "m-3"): 0.0}) == every


def test_it_agrees_with_what_greedy_streams_leave_a_new_one():
    """One more flow beside greedy ones, as a flow query shares links among them."""
    others = [("m-1", "m-5"), ("m-1", "m-6"), ("m-7", "m-5")]
    shared = flow_query(CMU8, [Flow(a, b) for a, b in others])
    found = left(CMU8, {pair: rate.bandwidth for pair, rate in zip(others, shared, strict=True)})

    asked = flow_query(CMU8, [*(Flow(a, b) for a, b in others), Flow("m-2", "m-5")])
    way = [("m-2", "panama"), ("panama", "gibraltar"), ("m-5", "gibraltar")]
    assert min(found.get(link) or found[link[::-1]] for link in way) == pytest.approx(asked[-1].bandwidth, rel=0.35)


def test_streams_that_will_have_ended_are_expected_anywhere():
    now = {("m-1", "m-2"): 100e6}

    kept, spread, half = (left(CMU8, now, staying) for staying in (1.0, 0.0, 0.5))

    assert kept["m-7", "suez"] == 100e6
    # Of 56 ordered pairs 7 send from m-7, and 15 go from panama's three nodes to the other five.
    assert spread["m-7", "suez"] == spread["m-1", "panama"] == pytest.approx(100e6 / (1 + 7 / 56))
    assert spread["panama", "gibraltar"] == pytest.approx(100e6 / (1 + 15 / 56))
    assert half["m-1", "panama"] == pytest.approx(100e6 / (1 + 0.5 + 0.5 * 7 / 56))


def test_where_nothing_passes_nothing_is_expected():
    assert left(CMU8, {}, 0.0) == left(CMU8, {})


def test_a_link_that_many_small_pairs_fill_leaves_nothing_either_way():
    """None of them is a stream on the wide link in the middle, each is one at its own end."""
    ends = [(f"{side}{i}", side) for side in ("west", "east") for i in range(60)]
    links = [*(Link(name, side, 10e6, 10e6) for name, side in ends), Link("west", "east", 100e6, 100e6)]
    nodes = [*(Node(name) for name, _ in ends), Node("west", "network"), Node("east", "network")]
    wide = Topology("wide", False, "links", tuple(nodes), tuple(links))
    full = {(f"west{i}", f"east{i}"): 1.7e6 for i in range(60)}

    now, later = (left(wide, full, staying) for staying in (1.0, 0.5))

    assert now["west", "east"] == later["west", "east"] == 0.0
    assert 0 < later["west0", "west"] < now["west0", "west"]
