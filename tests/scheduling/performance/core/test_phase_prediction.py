"""Predictions as values: their course, their sums, their documents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from scheduling.performance.core.phase_prediction import MOST_POINTS, PhasePrediction, Prediction, averages

seconds = st.lists(st.floats(0, 1e4), min_size=1, max_size=300)


@given(seconds, st.integers(1, 80))
def test_averages_keep_the_sum(values: list[float], most: int) -> None:
    course = averages(values, most)
    assert len(course) <= most or course == tuple(values)
    assert sum(course) / len(course) * len(values) == pytest.approx(sum(values), rel=1e-9, abs=1e-9)


@given(seconds, st.floats(0, 1), st.floats(0, 1))
def test_what_is_done_grows_from_nothing_to_all(values: list[float], first: float, second: float) -> None:
    phase = PhasePrediction("step", len(values), averages(values))
    less, more = sorted((first, second))
    assert 0 <= phase.done(less) <= phase.done(more) * (1 + 1e-12) + 1e-12
    assert phase.done(0) == 0
    assert phase.done(1) == phase.total == pytest.approx(sum(values), abs=1e-9)


@given(seconds)
def test_single_reports_add_up_to_the_total(values: list[float]) -> None:
    """Exactly so where each report has a point of its own; else a point stands for several."""
    short = values[:MOST_POINTS]
    phase = PhasePrediction("step", len(short), tuple(short))
    each = [phase.at((at + 0.5) / len(short)) for at in range(len(short))]
    assert each == short


def test_documents_come_back() -> None:
    made = Prediction("fitted", (PhasePrediction("a", None, (1.0,)), PhasePrediction("b", 3, (2.0, 1.0))), 0.1)
    assert Prediction.read(made.document()) == made
    assert made.total is None
    with pytest.raises(InputError, match=r"prediction\.phase"):
        PhasePrediction.read({"count": 1})
