"""Backfill: the oldest job that waits for nodes never starts later because a younger one went before it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scheduling.placing.core.backfill import Reservation, may_overtake, reserve

ENDS = st.lists(st.one_of(st.none(), st.integers(1, 20).map(float)), min_size=1, max_size=8)


def first_moment(needed: int, free: int, ends: list[float | None]) -> float | None:
    """When so many nodes are free, by going through all moments."""
    for moment in range(21):
        if free + sum(end is not None and end <= moment for end in ends) >= needed:
            return float(moment)
    return None


@given(ends=ENDS, free=st.integers(0, 8), data=st.data())
def test_the_reservation_is_the_first_moment_with_enough_nodes(
    ends: list[float | None], free: int, data: st.DataObject
) -> None:
    needed = data.draw(st.integers(free + 1, free + len(ends)))
    found = reserve(needed, free, ends)
    assert found.at == first_moment(needed, free, ends)
    if found.at is not None:
        assert found.spare == free + sum(end is not None and end <= found.at for end in ends) - needed


@given(ends=ENDS, free=st.integers(1, 8), limit=st.one_of(st.none(), st.integers(1, 25).map(float)), data=st.data())
def test_who_may_overtake_delays_nobody_and_who_may_not_would(
    ends: list[float | None], free: int, limit: float | None, data: st.DataObject
) -> None:
    needed = data.draw(st.integers(free + 1, free + len(ends)))
    nodes = data.draw(st.integers(1, free))
    kept = reserve(needed, free, ends)
    after = first_moment(needed, free - nodes, [*ends, *[limit] * nodes])
    if kept.at is None:
        assert not may_overtake(kept, nodes, limit)
    else:
        assert may_overtake(kept, nodes, limit) == (after is not None and after <= kept.at)


def test_without_time_limits_nothing_is_known() -> None:
    assert reserve(4, 1, [None, None, None]) == Reservation(None, 0)
