"""Progressive filling against the definition of max-min fairness, tried out."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gridportal.network.max_min import Claim, fill
from tests.examples import examples

GRAIN = 6  # with up to three claims and whole numbers, fair rates are multiples of a sixth


def lexicographic(room: list[float], claims: list[Claim]) -> tuple[float, ...]:
    """The feasible allocation whose sorted rates are lexicographically largest, by trying every one."""
    most = [min([claim.cap, *(room[c] for c in claim.over)]) for claim in claims]
    steps = [[k / GRAIN for k in range(round(m * GRAIN) + 1)] for m in most]
    feasible = (
        rates
        for rates in itertools.product(*steps)
        if all(
            sum(r for r, claim in zip(rates, claims, strict=True) if c in claim.over) <= room[c] + 1e-9
            for c in range(len(room))
        )
    )
    return max(feasible, key=sorted)


@pytest.mark.parametrize("seed", range(40))
def test_rates_are_the_lexicographically_largest_of_all_that_fit(seed: int) -> None:
    rng = random.Random(seed)
    room = [float(rng.randint(1, 4)) for _ in range(3)]
    claims = [
        Claim(tuple(sorted(rng.sample(range(3), rng.randint(1, 3)))), cap=rng.choice([math.inf, 1.0, 2.0]))
        for _ in range(3)
    ]
    assert fill(room, claims).rates == pytest.approx(lexicographic(room, claims))


problems = st.integers(1, 8).flatmap(
    lambda count: st.tuples(
        st.lists(st.floats(0.0, 1e9), min_size=count, max_size=count),
        st.lists(
            st.builds(
                Claim,
                st.sets(st.integers(0, count - 1), min_size=1).map(lambda over: tuple(sorted(over))),
                st.floats(0.1, 10),
                st.one_of(st.just(math.inf), st.floats(1.0, 1e9)),
            ),
            min_size=1,
            max_size=12,
        ),
    )
)


@given(problems)
@example(([0.0, 0.0, 133010611.34375], [Claim((2,), 0.65, 133010611.34375)]))  # the share was rounded up
@settings(max_examples=examples(60, fuzz=300), deadline=None)
def test_everyone_is_held_by_a_full_constraint_where_nobody_has_more_or_by_the_own_cap(
    problem: tuple[list[float], list[Claim]],
) -> None:
    """Bertsekas and Gallager: an allocation is max-min fair exactly when it fits and every claim has a bottleneck."""
    room, claims = problem
    found = fill(room, claims)
    used = [0.0] * len(room)
    for rate, claim in zip(found.rates, claims, strict=True):
        assert 0 <= rate <= claim.cap
        for c in claim.over:
            used[c] += rate
    slack = 1e-9 * (max(room) + 1)
    assert all(u <= r + slack for u, r in zip(used, room, strict=True))
    for rate, claim, binding in zip(found.rates, claims, found.binding, strict=True):
        if binding < 0:
            assert rate == claim.cap
            continue
        assert binding in claim.over
        assert used[binding] >= room[binding] - slack
        beside = [(r, c) for r, c in zip(found.rates, claims, strict=True) if binding in c.over]
        assert all(r / c.weight <= rate / claim.weight * (1 + 1e-9) + slack for r, c in beside)


def test_a_weight_of_two_gets_what_two_claims_get() -> None:
    one = fill([9.0], [Claim((0,), 2.0), Claim((0,))]).rates
    two = fill([9.0], [Claim((0,)), Claim((0,)), Claim((0,))]).rates
    assert one == (two[0] + two[1], two[2])


def test_a_claim_over_nothing_gets_its_cap() -> None:
    assert fill([], [Claim((), cap=3.0)]).rates == (3.0,)


def test_a_constraint_without_room_gives_nothing() -> None:
    assert fill([0.0, 5.0], [Claim((0, 1)), Claim((1,))]).rates == (0.0, 5.0)


def test_a_weight_that_rounding_loses_beside_another_still_gets_its_share() -> None:
    mean, modest = Claim((0,), weight=1e-6), Claim((0,), weight=1e18, cap=4.0)
    found = fill([10.0], [mean, modest])
    assert found.rates == pytest.approx((6.0, 4.0))
    assert found.binding == (0, -1)
