"""How the time of a trial is shared, and what may be said of it afterwards."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scheduling.skeletons.core import trial_budget, trial_rounds
from scheduling.skeletons.core.trial_budget import Account, Attempt, account

#: A fourth, so that sums are exact.
QUARTERS = st.integers(0, 60).map(lambda count: count / 4)
PAIRS = st.sets(st.sampled_from(list(itertools.combinations(range(5), 2))))


def play(takes: list[float], fails: set[int], not_at_once: set[tuple[int, int]], budget: float) -> dict[int, Attempt]:
    """A trial in which groups take so long with start and end, by the rules and nothing else."""
    planned, running, over, clock = list(range(len(takes))), {}, {}, 0.0
    while planned or running:
        chosen = trial_rounds.startable(planned, running, not_at_once) if clock < budget else []
        begun = len(running) + sum(not one.failed for one in over.values()) + len(chosen)
        allowed = trial_budget.allowance(budget - clock, begun, len(planned) - len(chosen))
        for group in chosen:
            planned.remove(group)
            running[group] = (clock, clock + min(takes[group], allowed), takes[group] <= allowed)
        if not running:
            break
        group = min(running, key=lambda one: running[one][1])
        began, clock, ended = running.pop(group)
        over[group] = Attempt(clock - began, ended and group not in fails, ended and group in fails)
    assert clock <= budget
    return over


@given(
    takes=st.lists(QUARTERS.filter(bool), min_size=2, max_size=5),
    fails=st.sets(st.integers(0, 4)),
    pairs=PAIRS,
    budget=QUARTERS.filter(bool),
)
def test_the_budget_is_kept_and_two_groups_are_run(
    takes: list[float], fails: set[int], pairs: set[tuple[int, int]], budget: float
) -> None:
    over = play(takes, fails, pairs, budget)
    if not fails:
        assert len(over) > 1
        assert all(one.ran > 0 for one in over.values())


@given(takes=st.lists(QUARTERS.filter(bool), min_size=2, max_size=5), pairs=PAIRS, budget=QUARTERS.filter(bool))
def test_where_two_turns_fit_into_the_budget_two_groups_are_compared(
    takes: list[float], pairs: set[tuple[int, int]], budget: float
) -> None:
    over = play(takes, set(), pairs, budget)
    if all(one <= budget / 2 for one in takes):
        assert account(list(over.values()), budget, budget).compared > 1


@given(runs=st.lists(QUARTERS, min_size=2, max_size=5), pairs=PAIRS, budget=QUARTERS, slower=st.floats(0, 3))
@example(runs=[1.0, 1.0, 1.0], pairs={(0, 1), (0, 2), (1, 2)}, budget=4.34, slower=2.0)  # once 5.93 s for one group
def test_no_claim_is_made_of_one_group(
    runs: list[float], pairs: set[tuple[int, int]], budget: float, slower: float
) -> None:
    """Whatever runs take in the end."""
    if trial_budget.needed(runs, pairs) > budget:
        return
    takes = [one * (1 + slower) + trial_budget.STARTING for one in runs]
    over = play(takes, set(), pairs, budget)
    assert len(over) > 1
    found = account(list(over.values()), budget, budget)
    assert found.compared != 1
    assert found.compared <= len(over)


@given(
    st.lists(st.builds(Attempt, QUARTERS, st.booleans(), st.booleans()).filter(lambda x: not x.ended or not x.failed))
)
def test_what_was_compared_ended_or_ran_longer_than_what_did(attempts: list[Attempt]) -> None:
    found = account(attempts, 1.0, 2.0)
    assert found.compared == 0 or 2 <= found.compared <= len(attempts)
    ended = [one.ran for one in attempts if one.ended]
    assert found.ended == len(ended)
    if found.compared:
        cut = [one for one in attempts if not one.ended and not one.failed and one.ran > min(ended)]
        assert found.compared == len(ended) + len(cut)


@pytest.mark.parametrize(
    ("runs", "apart", "seconds"),
    [
        ([2.0], [], math.inf),
        ([], [], math.inf),
        ([2.0, 2.0], [], 3.0),
        ([2.0, 2.0], [(0, 1)], 6.0),
        ([2.0, 2.0, 2.0], [(0, 1), (0, 2)], 6.0),
        ([2.0, 2.0, 5.0], [(1, 0)], 6.0),
        ([2.0, 9.0, 3.0], [(0, 1)], 4.0),
    ],
)
def test_two_groups_need_one_turn_where_they_may_run_at_once_and_else_two(
    runs: list[float], apart: list[tuple[int, int]], seconds: float
) -> None:
    assert trial_budget.needed(runs, apart) == seconds


def test_slow_groups_are_known_to_take_longer_before_they_are_tried() -> None:
    assert trial_budget.run_seconds(2.0, 40.0, [0.0, 40.0, 80.0]) == [2.0, 2.0, 4.0]


@pytest.mark.parametrize("wall", [0.5, 5.0, 20.0, 100.0, 1000.0, 1e5])
def test_skeletons_are_a_twentieth_at_most_and_three_fit_where_a_second_is_not_too_long(wall: float) -> None:
    budget = trial_budget.budget(wall, 60.0, 0.1)
    target = trial_budget.target(wall, 0.05, budget)
    assert target <= 0.05 * wall
    assert budget <= 0.1 * wall
    assert target <= 1.0 or 3 * (target + trial_budget.STARTING) <= budget * (1 + 1e-9)


def test_an_account_tells_what_was_over_the_budget() -> None:
    assert Account(3, 2, 1, 0, 5.93, 4.34).overrun == pytest.approx(1.59)
    assert Account(3, 2, 1, 0, 4.0, 4.34).overrun == 0


@pytest.mark.parametrize("slower", [0.0, 0.5, 0.85])
def test_a_skeleton_of_under_three_seconds_is_compared_on_two_groups_within_twelve(slower: float) -> None:
    """Once it ran on one of three groups there, which was said to confirm the choice."""
    apart = {(0, 1), (0, 2), (1, 2)}
    assert trial_budget.needed([2.7] * 3, apart) <= 12.0
    takes = [2.7 * (1 + slower) + trial_budget.STARTING] * 3
    over = play(takes, set(), apart, 12.0)
    assert account(list(over.values()), 12.0, 12.0).compared >= 2


def test_no_trial_begins_where_only_one_group_can_be_run() -> None:
    assert trial_budget.needed([6.0] * 3, {(0, 1), (0, 2), (1, 2)}) > 12.0
