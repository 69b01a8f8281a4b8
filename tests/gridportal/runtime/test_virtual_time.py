"""What a run of a skeleton says of the application: time is multiplied with the segment that caused it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.runtime import virtual_time
from gridportal.runtime.virtual_time import Executions, steady, stretched, waiting

EXCHANGE = [[{"op": "sendrecv", "to": 1 - rank, "bytes": 8, "from": 1 - rank, "from_bytes": 8}] for rank in range(2)]
EVERYBODY = {"0": [0, 1, 2]}


def segment(*lines: list[dict[str, Any]]) -> dict[str, Any]:
    return {"ranks": list(lines)}


def played(costs: Sequence[Sequence[float]], lines: Sequence[Any], order: Sequence[int]) -> Executions:
    """What would be seen of segments in which each rank, once all are there, is busy for its cost: one after the other
    in `order`. `costs` by segment and rank."""
    ranks = len(costs[0])
    clock, arrived, ended = np.zeros(ranks), [], []
    for number in order:
        arrived.append(clock)
        met = np.full(ranks, clock.max()) if len(lines[number]["ranks"][0]) else clock
        clock = met + costs[number]
        ended.append(clock)
    nothing = np.zeros((ranks, len(order)))
    return Executions(np.array(arrived).T, np.array(ended).T, nothing, nothing)


def test_waiting_counts_as_often_as_what_it_waits_for_and_not_as_where_it_shows():
    slow, small = segment(*EXCHANGE), segment(*EXCHANGE)
    waits = [waiting(slow, {}), waiting(small, {})]
    costs = [[0.1, 0.3], [0.01, 0.01]]
    found = played(costs, [slow, small], [0, 1])

    seconds, working, _ = stretched([0, 1], [16.0, 28.0], waits, found)

    # 16 times the slow one, 28 times the small one; naively rank 0 would have waited 28 times for 0.2 s.
    assert seconds == pytest.approx([16 * 0.3 + 28 * 0.01] * 2)
    assert working.tolist() == [0.0, 0.0]


@given(
    st.lists(st.lists(st.floats(0.001, 1.0), min_size=3, max_size=3), min_size=1, max_size=4),
    st.lists(st.integers(0, 3), min_size=1, max_size=12),
    st.floats(0.5, 50.0),
)
def test_of_equal_weights_everything_takes_that_much_longer(costs, order, weight):
    order = [number % len(costs) for number in order]
    lines = [segment(*[[{"op": "allreduce", "comm": "0", "bytes": 8}]] * 3) for _ in costs]
    found = played(costs, lines, order)

    seconds, _, _ = stretched(order, [weight] * len(costs), [waiting(line, EVERYBODY) for line in lines], found)

    assert seconds == pytest.approx(weight * found.ended[:, -1])


def test_work_before_the_first_call_is_not_waiting():
    exchange = segment(*EXCHANGE)
    found = Executions(
        arrived=np.array([[1.0], [2.0]]),
        ended=np.array([[2.5], [2.5]]),
        first=np.array([[1.0], [2.0]]),
        worked=np.array([[1.0], [2.0]]),
    )

    seconds, working, _ = stretched([0], [10.0], [waiting(exchange, {})], found)

    assert seconds == pytest.approx([25.0, 25.0])
    assert working == pytest.approx([10.0, 20.0])


def test_a_root_that_is_through_before_others_come_did_not_wait_for_them():
    line = [{"op": "bcast", "comm": "0", "bytes": 8, "root": 0}]
    found = Executions(
        arrived=np.array([[0.0], [5.0], [0.1]]),
        ended=np.array([[0.1], [5.1], [0.2]]),
        first=np.zeros((3, 1)),
        worked=np.zeros((3, 1)),
    )

    who = waiting(segment(line, line, line), EVERYBODY)
    seconds, _, _ = stretched([0], [2.0], [who], found)

    assert (0, 1) not in list(zip(who.waiter, who.other, strict=True))
    assert seconds == pytest.approx([0.2, 0.2, 0.2])


def test_a_rank_that_has_no_part_in_a_segment_stands_still_in_it():
    one = segment([], [{"op": "send", "to": 2, "bytes": 8}], [{"op": "recv", "from": 1, "from_bytes": 8}])
    found = Executions(np.zeros((3, 1)), np.array([[0.2], [0.1], [0.3]]), np.zeros((3, 1)), np.zeros((3, 1)))

    seconds, _, _ = stretched([0], [3.0], [waiting(one, {})], found)

    assert seconds == pytest.approx([0.0, 0.3, 0.9])


def test_who_waits_for_whom():
    big = [{"op": "send", "to": 1, "bytes": 1 << 20}, {"op": "reduce", "comm": "0", "bytes": 8, "root": 2}]
    other = [{"op": "recv", "from": 0, "from_bytes": 1 << 20}, {"op": "reduce", "comm": "0", "bytes": 8, "root": 2}]
    third = [{"op": "reduce", "comm": "0", "bytes": 8, "root": 2}]

    who = waiting(segment(big, other, third), EVERYBODY)

    assert list(zip(who.waiter.tolist(), who.other.tolist(), strict=True)) == [(0, 1), (1, 0)]
    assert [(waiters.tolist(), members.tolist()) for waiters, members in who.groups] == [([2], [0, 1, 2])]


def test_the_last_rank_is_told_after_each_execution():
    line = segment(*[[{"op": "allreduce", "comm": "0", "bytes": 8}]] * 3)
    found = played([[0.1, 0.3, 0.2]], [line], [0, 0])

    _, _, latest = stretched([0, 0], [10.0], [waiting(line, EVERYBODY)], found)

    assert latest == pytest.approx([3.0, 6.0])


def test_a_rank_that_is_ahead_hides_no_rounds_of_the_last_one():
    """Rank 0 works for ten seconds before the loop, rank 1 half a second in each round, and they never talk."""
    rounds = 40
    work = np.zeros((2, 1 + rounds))
    work[0, 0], work[1, 1:] = 10.0, 0.5
    waits = [waiting(segment([{"op": "work"}], []), {}), waiting(segment([], [{"op": "work"}]), {})]
    done = work.cumsum(axis=1)

    seconds, _, last = stretched([0] + [1] * rounds, [1.0, 1.0], waits, Executions(done, done, work, work))

    assert seconds.tolist() == [10.0, 20.0]
    assert steady(last, [range(1, rounds + 2)]) == pytest.approx(1.0)


def test_a_moment_in_which_the_machine_stood_still_is_not_multiplied_where_a_loop_has_many_rounds():
    rounds = np.full(90, 0.001)
    rounds[40:42] = 0.015
    before = 0.5

    part = steady(before + np.cumsum(rounds), [range(1, 90)])

    assert part * (before + rounds.sum()) == pytest.approx(before + 90 * 0.001)


def test_slower_and_faster_moments_count_in_full():
    """As the application has them too, the median of them is not what it takes."""
    rounds = np.full(90, 0.001)
    rounds[60:] = 0.0014

    assert steady(np.cumsum(rounds), [range(91)]) == pytest.approx(1.0)


def test_what_every_block_meets_counts_in_full():
    rounds = np.full(90, 0.001)
    rounds[::10] = 0.05  # once in each of the nine blocks

    assert steady(np.cumsum(rounds), [range(91)]) == pytest.approx(1.0)


def test_a_loop_of_few_rounds_is_taken_as_it_was():
    assert steady(np.cumsum([1.0] * 30 + [100.0]), [range(32)]) == 1.0
    assert steady(np.array([]), []) == 1.0


def test_few_ranks_and_many_are_computed_in_two_ways_with_one_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    everybody = {"0": [0, 1, 2, 3], "1": [3, 1]}
    lines = [
        [[{"op": "allreduce", "comm": "0"}]] * 4,
        [[], [{"op": "recv", "from": 2}], [{"op": "send", "to": 1, "bytes": 100_000}], []],
        [[], [{"op": "bcast", "comm": "1", "root": 3}], [], [{"op": "bcast", "comm": "1", "root": 3}]],
        [[], [{"op": "reduce", "comm": "1", "root": 3}], [], [{"op": "reduce", "comm": "1", "root": 3}]],
    ]
    waits = [waiting({"ranks": each}, everybody) for each in lines]
    order = [int(number) for number in rng.integers(0, len(lines), 300)]
    arrived = np.sort(rng.random((4, 300)), axis=1)
    found = Executions(arrived, arrived + rng.random((4, 300)) / 10, *(rng.random((4, 300)) / 100 for _ in range(2)))
    few = stretched(order, [1.0, 2.0, 3.0, 4.0], waits, found)
    monkeypatch.setattr(virtual_time, "_MOST_DENSE", 0)
    many = stretched(order, [1.0, 2.0, 3.0, 4.0], waits, found)
    assert all(np.allclose(one, other) for one, other in zip(few, many, strict=True))
