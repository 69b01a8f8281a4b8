"""Whose turn it is when nodes become free, and what past moves teach."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.rescheduling.core.learnt_threshold import HIGHEST, LOWEST, MoveOutcome, threshold
from scheduling.rescheduling.core.move_cost import worst_case
from scheduling.rescheduling.core.opportunities import Opportunity, in_order, in_turn, one_at_a_time, touched
from scheduling.rescheduling.core.weighing import MoveFigures, MoveHistory, MoveMode, MoveRules, weigh


def opportunity(job: int, ret_new: float, nodes: str, lost: float = 0.0, ret_current: float = 1000.0) -> Opportunity:
    figures = MoveFigures(ret_current, ret_new, tuple(nodes.split()))
    now = datetime(2026, 11, 23)
    weighing = weigh(figures, worst_case(0.01), MoveRules(), MoveHistory(), now, MoveMode.OPPORTUNISTIC)
    return Opportunity(job, weighing, lost)


def test_least_work_is_lost_first_and_then_the_most_is_gained() -> None:
    jobs = [
        opportunity(1, 100.0, "a", lost=200.0),
        opportunity(2, 400.0, "a", lost=10.0),
        opportunity(3, 300.0, "a", lost=20.0),
        opportunity(4, 990.0, "a"),
    ]
    assert [each.job for each in in_order(jobs)] == [3, 2, 1], "job 4 would not gain"


def test_nodes_are_given_away_once() -> None:
    jobs = [opportunity(1, 100.0, "a b"), opportunity(2, 200.0, "b c"), opportunity(3, 300.0, "c d")]
    assert [each.job for each in one_at_a_time(jobs)] == [1, 3]


def test_only_jobs_that_would_take_a_freed_node_are_touched() -> None:
    job = opportunity(1, 100.0, "a b").weighing
    assert touched(["b", "x"], job)
    assert not touched(["x"], job)


def test_of_many_jobs_all_come_to_their_turn_and_slow_ones_each_time() -> None:
    runs = [(run, "violated" if run == 9 else "kept") for run in range(10)]
    weighed = [in_turn(runs, turn, most=3) for turn in range(10)]
    assert {run for each in weighed for run in each} == set(range(10))
    assert {(len(each), each[0]) for each in weighed} == {(3, 9)}
    assert in_turn([], 7, most=3) == []


outcomes = st.lists(st.builds(MoveOutcome, st.floats(0.1, 0.9), st.floats(-1e3, 1e3)), max_size=40)


@given(outcomes)
def test_what_is_learnt_would_have_saved_the_most(moves: list[MoveOutcome]) -> None:
    """Against brute force over all thresholds, within the bounds of what may be learnt."""
    learnt = threshold(moves)
    assert LOWEST <= learnt <= HIGHEST
    if len(moves) < 10:
        assert learnt == 0.3
    elif learnt < HIGHEST and learnt != 0.3:
        saved = [
            sum(m.saved for m in moves if m.predicted_gain > at) for at in [0.0, *(m.predicted_gain for m in moves)]
        ]
        assert sum(m.saved for m in moves if m.predicted_gain > learnt) >= max(saved) - 1e-6


@pytest.mark.parametrize("in_force", [0.0, 0.3, 0.8])
def test_moves_that_all_came_true_leave_the_threshold_as_it_was_given(in_force: float) -> None:
    assert threshold([MoveOutcome(0.9, 60.0)] * 12, otherwise=in_force) == in_force
