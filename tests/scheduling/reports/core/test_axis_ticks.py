"""Ticks of a chart: round, equally far from each other, within the axis, and neither one nor dozens."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as some

from scheduling.reports.core.axis_ticks import every, ticks


@given(most=some.floats(1e-6, 1e12))
def test_ticks_cover_the_axis(most: float) -> None:
    found = ticks(most)
    assert found[0] == 0.0
    assert found[-1] <= most * (1 + 1e-6)
    assert 2 <= len(found) <= 6
    steps = [later - earlier for earlier, later in itertools.pairwise(found)]
    assert steps == pytest.approx([steps[0]] * len(steps), rel=1e-3)
    assert most - found[-1] < steps[0] * (1 + 1e-6)


@given(count=some.integers(1, 500), most=some.integers(1, 20))
def test_of_many_labels_few_stay(count: int, most: int) -> None:
    assert 1 <= len(range(0, count, every(count, most))) <= most
