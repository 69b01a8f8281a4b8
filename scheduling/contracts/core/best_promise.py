"""Which of several predictions is the promise: the one whose model has erred least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scheduling.performance.core.fitted import FITTED, PAST_RUNS
from scheduling.performance.core.phase_prediction import Prediction

#: The error that is assumed of a model of which none was measured: a model of the program itself is trusted more than
#: a single run, and that more than a line through few runs.
_ASSUMED: Mapping[str, float] = {PAST_RUNS: 0.3, FITTED: 0.5}
_ASSUMED_OF_MODELS = 0.25


def choose(
    predictions: Sequence[Prediction], errors: Mapping[str, float]
) -> tuple[Prediction | None, list[Prediction]]:
    """The promise, None without any, and the others. `errors`: measured ones of models, as shares, which then stand in
    their predictions.

    >>> made = [Prediction("qr", ()), Prediction("past-runs", (), 0.02)]
    >>> choose(made, {"qr": 0.2})[0].model, choose(made, {"qr": 0.01})[0].model
    ('past-runs', 'qr')
    """
    measured = [replace(each, error=errors.get(each.model, each.error)) for each in predictions]
    ordered = sorted(measured, key=_expected_error)
    return (ordered[0], ordered[1:]) if ordered else (None, [])


def _expected_error(prediction: Prediction) -> float:
    assumed = _ASSUMED.get(prediction.model, _ASSUMED_OF_MODELS)
    return assumed if prediction.error is None else prediction.error
