"""Reads that are simulated against times that can be told by hand."""

from __future__ import annotations

import pytest

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.network.topology import Topology, parse
from gridportal.runtime.srs.redistribution import Message
from scheduling.checkpoints.core.redistribution_time import (
    ArrayMove,
    array_move,
    bytes_between,
    reading_seconds,
    seconds,
)

MEGABYTE = 1_000_000


def star(**rates: float) -> Topology:
    """Nodes at one switch, each with a link of its own Mbit/s; 0: none."""
    nodes = [*({"id": name} for name in rates), {"id": "s", "kind": "network"}]
    links = [{"source": name, "target": "s", "capacity": rate * 1e6} for name, rate in rates.items() if rate]
    return parse({"nodes": nodes, "links": links})


def test_reads_that_are_over_leave_their_share_to_the_others() -> None:
    network = star(a=8, b=8, c=8)
    assert seconds(network, {("a", "b"): MEGABYTE, ("a", "c"): 3 * MEGABYTE}, {}) == pytest.approx(4)
    assert seconds(network, {("a", "b"): MEGABYTE, ("b", "a"): 3 * MEGABYTE}, {}) == pytest.approx(3)


def test_a_pair_of_nodes_with_more_readers_has_more_of_a_shared_link() -> None:
    moved = {("a", "c"): 3 * MEGABYTE, ("b", "c"): MEGABYTE}
    network = star(a=8, b=8, c=8)
    assert seconds(network, moved, {("a", "c"): 3}) == pytest.approx(4)
    assert seconds(network, {("a", "c"): MEGABYTE, ("b", "c"): MEGABYTE}, {("a", "c"): 3}) == pytest.approx(2)


def test_what_stays_on_its_node_takes_no_time() -> None:
    assert seconds(star(a=8, b=8), {("a", "a"): MEGABYTE, ("a", "b"): 0}, {}) == 0


def test_arrays_are_read_one_after_the_other_each_after_three_round_trips() -> None:
    links = [{"source": name, "target": "s", "capacity": 8e6, "latency": 0.05} for name in "ab"]
    network = parse({"nodes": [{"id": "a"}, {"id": "b"}, {"id": "s", "kind": "network"}], "links": links})
    one = ArrayMove({("a", "b"): MEGABYTE}, {})
    assert reading_seconds(network, [one], {}) == pytest.approx(1 + 3 * 0.2)
    assert reading_seconds(network, [one, one], {}) == pytest.approx(2 * (1 + 3 * 0.2))
    assert reading_seconds(network, [ArrayMove({("a", "a"): MEGABYTE}, {})], {}) == 0


def test_a_node_serves_no_faster_than_its_processors_do() -> None:
    move = ArrayMove({("a", "c"): MEGABYTE, ("b", "c"): MEGABYTE}, {})
    assert reading_seconds(star(a=8, b=8, c=80), [move], {}) == pytest.approx(1)
    assert reading_seconds(star(a=8, b=8, c=80), [move], {"a": 2e6}) == pytest.approx(4)
    assert reading_seconds(star(a=8, b=8, c=80), [move], {"a": 800e6}) == pytest.approx(1)


def test_the_ranks_that_read_between_two_nodes_are_counted() -> None:
    messages = [Message(0, 0, 5), Message(0, 1, 7), Message(1, 1, 9)]
    move = array_move(messages, ["a", "b"], ["c", "c"])
    assert move == ArrayMove({("a", "c"): 12, ("b", "c"): 9}, {("a", "c"): 2, ("b", "c"): 1})


def test_a_pair_without_a_path_is_named() -> None:
    with pytest.raises(ImpossibleError, match="from a to b"):
        seconds(star(a=8, b=0), {("a", "b"): MEGABYTE}, {})


def test_messages_add_up_by_nodes_and_each_rank_needs_one() -> None:
    messages = [Message(0, 0, 5), Message(1, 0, 7), Message(1, 1, 9)]
    assert bytes_between(messages, ["n1", "n1"], ["n2", "n1"]) == {("n1", "n2"): 12, ("n1", "n1"): 9}
    with pytest.raises(InputError, match="nodes-to is 'n2'; accepted is a node for each of the 2 ranks"):
        bytes_between(messages, ["n1", "n1"], ["n2"])
