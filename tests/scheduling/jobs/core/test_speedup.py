"""The knee is where efficiency is largest in proportion to time, and each step says what its ranks buy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.jobs.core import speedup
from scheduling.messages import scaling_messages

TIMES = st.dictionaries(st.integers(1, 256), st.floats(0.01, 1e4), min_size=2, max_size=8)


@given(TIMES)
def test_the_knee_beats_every_other_number(seconds):
    points = speedup.curve(seconds)
    assert [point.ranks for point in points] == sorted(seconds)
    (knee,) = (point for point in points if point.is_knee)
    assert all(knee.efficiency / knee.seconds >= point.efficiency / point.seconds for point in points)
    assert scaling_messages.finding(points).startswith("The knee is at ")


@given(TIMES)
def test_what_the_steps_save_together_is_what_the_last_saves_over_the_first(seconds):
    points = speedup.curve(seconds)
    steps = zip(points[1:], points, strict=False)
    saved = sum(point.saved * (point.ranks - before.ranks) for point, before in steps)
    assert saved == pytest.approx(points[0].seconds - points[-1].seconds, abs=1e-6)


@pytest.mark.parametrize(
    ("seconds", "knee"),
    [({1: 8.0, 2: 4.0, 4: 2.0, 8: 1.0}, 8), ({1: 8.0, 2: 8.0, 4: 8.0}, 1), ({1: 8.0, 2: 4.1, 4: 3.9, 8: 4.5}, 2)],
)
def test_a_perfect_program_goes_on_and_one_that_does_not_get_faster_stops(seconds, knee):
    assert next(point.ranks for point in speedup.curve(seconds) if point.is_knee) == knee


def test_one_number_of_ranks_is_no_curve():
    assert speedup.curve({4: 2.0}) == speedup.curve({}) == speedup.curve({1: 0.0, 2: 1.0}) == ()
