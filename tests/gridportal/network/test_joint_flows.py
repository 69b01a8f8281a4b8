"""Transfers at once find what a link behind slower ones has left."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from gridportal.network import estimate, topology
from gridportal.network import joint_flows as joint
from gridportal.network.flows import Flow, flow_query
from gridportal.network.rounds import ways_of
from gridportal.network.sweep_result import PairRate, Together


def network(access, middle, capacity=155.0):
    """Nodes on two switches, with `middle` left on the link between them."""
    names = [f"n{number}" for number in range(len(access))]
    links = [
        {"source": name, "target": "s" if number % 2 else "t", "capacity": 100.0, "bandwidth": rate}
        for number, (name, rate) in enumerate(zip(names, access, strict=True))
    ]
    links.append({"source": "s", "target": "t", "capacity": capacity, "bandwidth": middle})
    switches = [{"id": name, "kind": "network"} for name in "st"]
    return topology.parse({"nodes": [*({"id": name} for name in names), *switches], "links": links})


def rates_of(net):
    nodes = [node.id for node in net.compute_nodes()]
    return {(a, b): flow_query(net, [Flow(a, b)])[0].bandwidth for a in nodes for b in nodes if a != b}


def capacities_of(net):
    both = {(link.source, link.target): link.capacity for link in net.links}
    return both | {(b, a): capacity for (a, b), capacity in both.items()}


def answered(net, one):
    found = flow_query(net, [Flow(*pair) for pair in one.pairs])
    return {pair: answer.bandwidth for pair, answer in zip(one.pairs, found, strict=True)}


def estimated(net):
    ways, rates, capacities = ways_of(net), rates_of(net), capacities_of(net)
    found = joint.seen(ways, rates, capacities)
    for one in joint.plan(ways, rates, capacities):
        found[one.link] = max(found[one.link], one.measured(answered(net, one)).bandwidth)
    return found


def test_a_link_behind_slower_ones_is_found_by_two_transfers_at_once():
    net = network([50.0, 50.0, 50.0, 50.0], middle=80.0)

    assert joint.seen(ways_of(net), rates_of(net), capacities_of(net))["s", "t"] == 50.0
    assert estimated(net)["s", "t"] == 80.0


def test_a_link_that_is_the_slowest_needs_nothing_more():
    net = network([90.0, 80.0, 90.0, 70.0], middle=20.0)

    planned = joint.plan(ways_of(net), rates_of(net), capacities_of(net))
    assert {"s", "t"} not in [set(one.link) for one in planned]
    assert estimated(net)["s", "t"] == 20.0


def test_transfers_at_once_share_no_node_and_no_other_link():
    net = network([random.Random(3).uniform(10, 90) for _ in range(8)], middle=150.0)
    ways = ways_of(net)

    for one in joint.plan(ways, rates_of(net), capacities_of(net)):
        steps = [step for pair in one.pairs for step in ways(*pair) if step != one.link]
        ends = [node for pair in one.pairs for node in pair]
        assert len(ends) == len(set(ends))
        assert len(steps) == len(set(steps))


@given(
    st.lists(st.floats(5.0, 100.0), min_size=4, max_size=8),
    st.floats(5.0, 155.0),
)
def test_the_estimate_never_says_more_than_there_is_and_never_less_than_before(access, middle):
    net = network(access, middle)
    before = joint.seen(ways_of(net), rates_of(net), capacities_of(net))
    after = estimated(net)

    truth = {(link.source, link.target): link.bandwidth for link in net.links}
    truth |= {(b, a): rate for (a, b), rate in truth.items()}
    for link, rate in after.items():
        assert before[link] <= rate <= truth[link] * 1.0001


def test_flows_at_once_get_what_the_improved_estimate_says():
    net = network([50.0, 50.0, 33.0, 50.0], middle=155.0)
    found = estimated(net)
    links = [
        {
            "source": link.source,
            "target": link.target,
            "capacity": link.capacity,
            "bandwidth": found[link.source, link.target],
        }
        for link in net.links
    ]
    told = topology.parse({**topology.dump(net), "links": links})

    flows = [Flow("n1", "n0"), Flow("n3", "n2")]
    assert [answer.bandwidth for answer in flow_query(told, flows)] == [50.0, 33.0]


def test_what_fills_a_link_counts_before_what_pairs_show_of_it():
    net = network([100.0, 100.0, 100.0, 100.0], middle=90.0)
    pairs = [PairRate(a, b, rate) for (a, b), rate in rates_of(net).items()]

    alone = estimate.link_bandwidths(net, pairs)["s", "t"]
    filled = estimate.link_bandwidths(net, pairs, [Together("t", "s", 120.0, True), Together("s", "t", 110.0, True)])
    passed = estimate.link_bandwidths(net, pairs, [Together("s", "t", 40.0, False)])

    assert filled["s", "t"] == 110.0
    assert passed["s", "t"] == alone


@given(
    st.lists(st.floats(5.0, 100.0), min_size=4, max_size=8),
    st.floats(5.0, 155.0),
    st.integers(0, 3),
    st.integers(1000, 10**6),
)
def test_transfers_at_once_keep_to_the_room_of_every_link_and_end_together(access, middle, least, size):
    net = network(access, middle)
    ways, capacities = ways_of(net), capacities_of(net)
    room = {link: (least + number) % 4 for number, link in enumerate(sorted(capacities))}
    for one in joint.plan(ways, rates_of(net), capacities):
        fitting, sizes = joint.within(one, ways, room, size)
        if not sizes:
            continue
        assert len(sizes) > 1
        assert set(sizes) == set(fitting.pairs) <= set(one.pairs)
        taken = joint.spent(fitting, sizes, ways, size)
        for link, probes in taken.items():
            sent = sum(count for pair, count in sizes.items() if link in ways(*pair))
            assert sent <= probes * size
            assert probes <= room[link]
        lasts = [sizes[pair] / fitting.single_rates[pair] for pair in sizes]
        assert max(lasts) - min(lasts) <= 1 / min(fitting.single_rates.values())


def test_a_link_that_counts_as_idle_is_not_told_by_transfers_that_others_held():
    net = network([100.0, 100.0, 100.0, 100.0], middle=900.0, capacity=1000.0)
    ways, capacities = ways_of(net), capacities_of(net)
    middle = next(one for one in joint.planned(net, rates_of(net)) if one.link == ("s", "t"))

    told = middle.measured(answered(net, middle))
    assert (told.bandwidth, told.filled) == (200.0, False)
    assert not joint.speaks(told, middle, ways, capacities)

    slower = network([50.0, 50.0, 50.0, 50.0], middle=900.0, capacity=1000.0)
    middle = next(one for one in joint.planned(slower, rates_of(slower)) if one.link == ("s", "t"))
    told = middle.measured(answered(slower, middle))
    assert (told.bandwidth, told.filled) == (100.0, False)
    assert joint.speaks(told, middle, ways, capacities)
