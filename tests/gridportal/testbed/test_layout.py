"""The plan of a Grid, and the text that `ip` and `tc` get: checked word by word on small networks."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from gridportal.network.topology import parse
from gridportal.testbed import hops, network, shaping
from gridportal.testbed.layout import Layout, plan
from tests.gridportal.testbed.networks import chain, crossbar


@pytest.fixture
def chained() -> Layout:
    return plan(parse(chain()))


def test_a_path_goes_through_switches_and_routers_in_order(chained: Layout) -> None:
    assert hops.path(chained, "a", "b") == [("a", "sw"), ("sw", "r"), ("r", "b")]


def test_a_switch_is_a_bridge_and_a_router_a_namespace(chained: Layout) -> None:
    assert chained.switches == ("sw",)
    assert chained.spaces == ("a", "b", "c", "r")


def test_the_fabric_gets_a_bridge_and_both_ends_of_every_wire(chained: Layout) -> None:
    assert network.fabric_lines(chained, {"a": 11, "b": 12, "c": 13, "r": 14}) == [
        "link set lo up",
        "link add br0 mtu 9000 type bridge stp_state 0",
        "link set br0 up",
        "link add name eth0 netns 11 mtu 9000 address 02:77:00:00:00:00"
        " type veth peer name p1 mtu 9000 address 02:77:00:00:00:01",
        "link set p1 master br0 up",
        "link add name eth0 netns 13 mtu 9000 address 02:77:00:00:00:02"
        " type veth peer name p3 mtu 9000 address 02:77:00:00:00:03",
        "link set p3 master br0 up",
        "link add name p4 mtu 9000 address 02:77:00:00:00:04"
        " type veth peer name eth0 netns 14 mtu 9000 address 02:77:00:00:00:05",
        "link set p4 master br0 up",
        "link add name eth1 netns 14 mtu 9000 address 02:77:00:00:00:06"
        " type veth peer name eth0 netns 12 mtu 9000 address 02:77:00:00:00:07",
    ]


def test_a_node_sends_to_the_router_what_is_beyond_it_and_to_neighbours_directly(chained: Layout) -> None:
    assert network.space_lines(chained, "a", hops.hops(chained)["a"]) == [
        "link set lo up",
        "link set eth0 up",
        "addr add 10.77.0.1/32 dev eth0",
        "neigh replace 10.77.0.2 lladdr 02:77:00:00:00:05 dev eth0 nud permanent",
        "route replace 10.77.0.2/32 dev eth0 src 10.77.0.1",
        "neigh replace 10.77.0.3 lladdr 02:77:00:00:00:02 dev eth0 nud permanent",
        "route replace 10.77.0.3/32 dev eth0 src 10.77.0.1",
    ]


def test_both_ends_of_a_wire_have_a_token_bucket_with_room_for_headers(chained: Layout) -> None:
    assert shaping.node_lines(chained, "b") == [
        "qdisc add dev eth0 root handle 1: tbf rate 20147519bit burst 9114 limit 576896"
    ]
    assert shaping.fabric_lines(chained)[2] == (
        "qdisc add dev p4 root handle 1: tbf rate 100737595bit burst 12592 limit 1259220"
    )


def test_a_crossbar_node_has_one_class_per_destination() -> None:
    layout = plan(parse(crossbar({("a", "b"): 100, ("b", "a"): 10, ("a", "c"): 50})))
    assert shaping.node_lines(layout, "a") == [
        "qdisc add dev eth0 root handle 1: htb default 0",
        "class add dev eth0 parent 1: classid 1:2 htb rate 100737595bit ceil 100737595bit"
        " burst 12592 cburst 12592 quantum 9014",
        "qdisc add dev eth0 parent 1:2 handle 3: pfifo limit 200",
        "filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dst 10.77.0.2/32 flowid 1:2",
        "class add dev eth0 parent 1: classid 1:3 htb rate 50368797bit ceil 50368797bit"
        " burst 6296 cburst 6296 quantum 9014",
        "qdisc add dev eth0 parent 1:3 handle 4: pfifo limit 200",
        "filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dst 10.77.0.3/32 flowid 1:3",
    ]


def test_a_crossbar_without_a_pair_has_no_way_between_them() -> None:
    layout = plan(parse(crossbar({("a", "b"): 100, ("b", "a"): 10, ("a", "c"): 50})))
    assert hops.path(layout, "b", "c") == []
    assert [hop.destination for hop in hops.hops(layout)["c"]] == []


def test_a_change_of_rates_reaches_the_sender_of_each_direction(chained: Layout) -> None:
    changed = shaping.change_lines(chained, {("r", "b"): 10e6, ("sw", "r"): 50e6})
    assert changed == {
        "r": ["qdisc change dev eth1 root handle 1: tbf rate 10073759bit burst 9114 limit 576896"],
        "sw": ["qdisc change dev p4 root handle 1: tbf rate 50368797bit burst 9114 limit 629610"],
    }


def test_network_nodes_in_a_loop_become_routers() -> None:
    names = ["x", "y", "z"]
    document = {
        "nodes": [*({"id": n, "kind": "network"} for n in names), {"id": "a"}, {"id": "b"}],
        "links": [
            {"source": s, "target": t, "capacity": 1e8}
            for s, t in (("x", "y"), ("y", "z"), ("z", "x"), ("a", "x"), ("b", "z"))
        ],
    }
    layout = plan(parse(document))
    assert layout.routers == ("x", "y", "z")
    assert hops.path(layout, "a", "b") == [("a", "x"), ("x", "z"), ("z", "b")]


def test_a_loop_of_switches_is_refused() -> None:
    document = {
        "nodes": [{"id": n, "kind": "network", "role": "switch"} for n in "xyz"] + [{"id": "a"}],
        "links": [{"source": s, "target": t, "capacity": 1e8} for s, t in ("xy", "yz", "zx", "ax")],
    }
    with pytest.raises(InputError, match="loop of switches"):
        plan(parse(document))


@pytest.mark.parametrize("name", ["a b", "a;reboot", "a/../b", "$(x)"])
def test_a_node_name_that_is_no_host_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"node id|nodes\[0\]\.id"):
        plan(parse({"nodes": [{"id": name}], "links": []}))


def test_paths_do_not_pass_through_other_compute_nodes() -> None:
    links = [{"source": "a", "target": "b", "capacity": 1e8}, {"source": "b", "target": "c", "capacity": 1e8}]
    layout = plan(parse({"nodes": [{"id": n} for n in "abc"], "links": links}))
    assert hops.path(layout, "a", "b") == [("a", "b")]
    assert hops.path(layout, "a", "c") == []


@given(st.integers(2, 9), st.randoms(use_true_random=False))
def test_on_a_tree_every_node_reaches_every_other_and_paths_back_are_mirrored(size: int, rng: object) -> None:
    switches = [f"s{i}" for i in range(size)]
    parents = [(f"s{i}", f"s{rng.randrange(i)}") for i in range(1, size)]  # type: ignore[attr-defined]
    hosts = [(f"h{i}", f"s{i}") for i in range(size)]
    document = {
        "nodes": [{"id": s, "kind": "network"} for s in switches] + [{"id": h} for h, _ in hosts],
        "links": [{"source": a, "target": b, "capacity": 1e8} for a, b in parents + hosts],
    }
    layout = plan(parse(document))
    for a, b in permutations(layout.addresses, 2):
        there = hops.path(layout, a, b)
        assert there[0][0] == a
        assert there[-1][1] == b
        assert [(t, s) for s, t in reversed(there)] == hops.path(layout, b, a)


def test_a_compute_node_with_several_links_gets_a_door_that_nobody_else_passes() -> None:
    links = [{"source": a, "target": b, "capacity": 1e8} for a, b in ("ab", "bc")]
    layout = plan(parse({"nodes": [{"id": n} for n in "abc"], "links": links}))
    assert layout.routers == ("b@door",)
    assert [hop.destination for hop in hops.hops(layout)["a"]] == ["b"]
    assert shaping.change_lines(layout, {("b", "c"): 10e6}) == {
        "b@door": ["qdisc change dev eth2 root handle 1: tbf rate 10073759bit burst 9114 limit 576896"]
    }


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("capacity", 1e308, r"links\[0\]\.capacity is 1e\+308; accepted is 10 kbit/s to 100 Gbit/s"),
        ("capacity", 9_999.0, r"links\[0\]\.capacity is 9999\.0; accepted is 10 kbit/s"),
        ("bandwidth", 2e11, r"links\[0\]\.bandwidth is 2.*; accepted is at most the capacity, 1e\+08"),
    ],
)
def test_what_cannot_be_shaped_is_named(field: str, value: float, said: str) -> None:
    link = {"source": "a", "target": "b", "capacity": 1e8, field: value}
    with pytest.raises(InputError, match=said):
        plan(parse({"nodes": [{"id": "a"}, {"id": "b"}], "links": [link]}))


def test_a_speed_that_no_share_of_a_processor_can_be_is_named() -> None:
    with pytest.raises(InputError, match=r"nodes\[1\]\.speed is 1e\+308; accepted is 0\.001 to 1000"):
        plan(parse({"nodes": [{"id": "a"}, {"id": "b", "speed": 1e308}], "links": []}))
