"""A rule fires after its time beyond the level, ends behind the other one, and does nothing in between."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scheduling.alerts.core.hysteresis import LONGEST_GAP, MOST_FIRING, Levels, judge

VALUES = st.one_of(st.none(), st.floats(0, 1, allow_nan=False))
STEP = 10.0


def played(levels: Levels, values: list[float | None], step: float = STEP) -> list[bool]:
    """Whether the one subject fires after each value."""
    pending: dict[str, float] = {}
    firing: set[str] = set()
    seen, now, states = None, 0.0, []
    for value in values:
        found = judge(levels, {"a": value}, pending, firing, now=now, seen=seen)
        pending, firing = dict(found.pending), (firing | set(found.fired)) - found.ended
        states.append("a" in firing)
        seen, now = now, now + step
    return states


def plainly(levels: Levels, values: list[float | None]) -> list[bool]:
    """The same, told for each moment from all values before it."""
    states, fires = [], False
    for place, value in enumerate(values):
        if fires:
            fires = value is None or not levels.is_clear(value)
        else:
            first = place - int(-(-levels.hold // STEP))
            fires = first >= 0 and all(one is not None and levels.is_beyond(one) for one in values[first : place + 1])
        states.append(fires)
    return states


@given(st.lists(VALUES, max_size=40), st.sampled_from([0, 10, 25, 40]), st.booleans())
def test_it_is_what_the_definition_says(values: list[float | None], hold: float, above: bool) -> None:
    levels = Levels(0.8, 0.6, hold) if above else Levels(0.2, 0.4, hold, above=False)
    assert played(levels, values) == plainly(levels, values)


@given(st.lists(st.floats(0.61, 0.8), min_size=1, max_size=40), st.booleans())
def test_between_the_levels_nothing_flaps(values: list[float], fires: bool) -> None:
    before: list[float | None] = [0.95 if fires else 0.1]
    assert set(played(Levels(0.8, 0.6, 0), [*before, *values])) == {fires}


@given(st.lists(VALUES, max_size=30))
def test_below_is_the_mirror_of_above(values: list[float | None]) -> None:
    mirrored = [None if value is None else -value for value in values]
    assert played(Levels(0.8, 0.6, 20), values) == played(Levels(-0.8, -0.6, 20, above=False), mirrored)


def test_what_is_not_known_neither_fires_nor_ends() -> None:
    levels = Levels(0.8, 0.6, 10)
    assert played(levels, [0.9, None, 0.9]) == [False, False, False]
    assert played(levels, [0.9, 0.9, None, None, 0.5]) == [False, True, True, True, False]


def test_after_a_long_pause_the_time_counts_anew() -> None:
    levels = Levels(0.8, 0.6, 30)
    assert played(levels, [0.9, 0.9, 0.9], step=LONGEST_GAP + 1) == [False, False, False]
    assert played(levels, [0.9, 0.9], step=LONGEST_GAP) == [False, True]


def test_a_subject_that_is_gone_ends_and_the_worst_fire_first() -> None:
    levels = Levels(0.0, 0.0, 0)
    values: dict[str, float | None] = {f"n{number}": float(number) for number in range(1, 2 * MOST_FIRING)}
    found = judge(levels, values, {}, {"gone"}, now=0, seen=None)
    assert found.ended == {"gone"}
    assert len(found.fired) == MOST_FIRING
    assert f"n{2 * MOST_FIRING - 1}" in found.fired
    assert "n1" not in found.fired
