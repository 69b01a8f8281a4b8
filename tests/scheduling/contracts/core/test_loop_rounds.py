"""Reports of rounds of loops: one for each unit of rounds, whenever marks come."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.contracts.core.loop_rounds import Mark, RoundsPosition, reports, units_of

BEGAN = 1_800_000_000.0


def test_slow_rounds_are_reported_one_by_one() -> None:
    position = RoundsPosition()
    made = reports([Mark(0, 0, BEGAN), *(Mark(2, at, 0.5 * at) for at in range(2, 12))], position)
    assert [(each.name, each.seconds) for each in made] == [("loop-2", 0.5)] * 8
    assert made[-1].at == BEGAN + 5.5


def test_short_rounds_are_reported_by_hundreds() -> None:
    made = reports([Mark(1, 117 * at, 0.117 * at) for at in range(1, 20)], RoundsPosition())
    assert {each.name for each in made} == {"loop-1x100"}
    assert [each.seconds for each in made] == pytest.approx([0.1] * 20)


@given(st.lists(st.tuples(st.integers(1, 50), st.floats(0.01, 2.0)), min_size=3, max_size=40), st.integers(1, 39))
def test_marks_say_the_same_in_whatever_pieces_they_are_read(steps: list[tuple[int, float]], cut: int) -> None:
    rounds, seconds, marks = 0, 0.0, [Mark(0, 0, BEGAN)]
    for more, took in steps:
        rounds, seconds = rounds + more, seconds + took
        marks.append(Mark(1, rounds, seconds))
    whole, pieces = RoundsPosition(), RoundsPosition()
    expected = reports(marks, whole)
    first = reports(marks[:cut], pieces)
    pieces = RoundsPosition.read(pieces.document())
    assert first + reports(marks[cut:], pieces) == expected
    unit = whole.units[1]
    assert len(expected) == max(0, rounds // unit - marks[1].rounds // unit - 1)


def test_a_second_run_is_reported_by_as_many_rounds_as_the_first() -> None:
    """Ten times slower, but by the same phase."""
    position = RoundsPosition(units=units_of(["loop-1x100"]))
    made = reports([Mark(1, 100 * at, 1.0 * at) for at in range(1, 5)], position)
    assert [(each.name, each.seconds) for each in made] == [("loop-1x100", pytest.approx(1.0))] * 2


def test_another_loop_begins_anew_and_the_first_one_goes_on() -> None:
    marks = [Mark(1, 5, 1.0), Mark(1, 6, 2.0), Mark(1, 7, 3.0), Mark(2, 9, 8.0), Mark(1, 8, 9.0), Mark(1, 10, 11.0)]
    made = reports(marks, RoundsPosition())
    assert [each.seconds for each in made] == [pytest.approx(1.0), pytest.approx(1.0)]


def test_a_program_that_becomes_endlessly_fast_gives_a_bounded_number_of_reports() -> None:
    marks = [Mark(1, 1, 1.0), Mark(1, 2, 2.0), Mark(1, 2_000_000_000, 3.0)]
    assert len(reports(marks, RoundsPosition())) == 1000
