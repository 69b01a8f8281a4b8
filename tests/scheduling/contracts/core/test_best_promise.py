"""Whose prediction becomes the promise."""

from __future__ import annotations

from scheduling.contracts.core.best_promise import choose
from scheduling.performance.core.phase_prediction import Prediction


def test_without_a_prediction_there_is_no_promise() -> None:
    assert choose([], {"qr": 0.1}) == (None, [])


def test_a_measured_error_replaces_what_the_model_says_of_itself() -> None:
    promised, others = choose([Prediction("fitted", (), 0.01), Prediction("qr", ())], {"fitted": 0.4})
    assert promised == Prediction("qr", ())
    assert others == [Prediction("fitted", (), 0.4)]
