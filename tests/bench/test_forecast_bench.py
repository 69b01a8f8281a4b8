"""How good the forecasts are, against the best single predictor in hindsight and the last value, and what they cost."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping

import numpy as np
import pytest

from monitoring.forecasting.core.forecasting import PREDICTORS, Mixture
from tests.monitoring.forecasting.core.forecasting.scores import Score, scores
from tests.monitoring.forecasting.core.forecasting.traces import by_kind, generated, recorded

pytestmark = pytest.mark.bench
_SERIES = 100_000
_TIE = 0.99


def tell(capsys: pytest.CaptureFixture[str], text: str) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\n  {text}")


def line(name: str, found: Mapping[str, Score]) -> str:
    """Of a kind of trace: ratios of mean absolute errors, then of roots of mean squares. Within 1 % is a tie: where the
    last value is itself the best single predictor, as good as it is as good as can be."""
    words = f"{name}: {len(found)} traces"
    for what, to_best, to_last in (
        ("absolute", [one.to_best for one in found.values()], [one.to_last for one in found.values()]),
        ("squared ", [one.square_to_best for one in found.values()], [one.square_to_last for one in found.values()]),
    ):
        best, last = np.array(to_best), np.array(to_last)
        ties = np.count_nonzero((last >= _TIE) & (last <= 1 / _TIE))
        words += (
            f"\n    {what} | to the best {best.mean():.3f}, worst {best.max():.3f}, within 5 %:"
            f" {np.count_nonzero(best <= 1.05)} | to the last value {last.mean():.3f}, worst {last.max():.3f}, better:"
            f" {np.count_nonzero(last < _TIE)}, tied: {ties}, worse: {np.count_nonzero(last > 1 / _TIE)}"
        )
    cold = sum(one.best == "last value" for one in found.values())
    over = ", ".join(f"{key.partition('/')[2]} {one.to_best:.3f}" for key, one in found.items() if one.to_best > 1.05)
    return words + f" | best is the last value: {cold}" + (f"\n    over 5 %: {over}" if over else "")


def test_forecasts_on_recorded_and_generated_traces(capsys):
    tell(capsys, "errors of the mixture, as ratios to those of single predictors of the same trace")
    for kind, series in by_kind({**recorded(), **generated()}).items():
        found = scores(series)
        tell(capsys, line(kind, found))
        wins = sorted(
            {one.best for one in found.values()}, key=lambda name: -sum(o.best == name for o in found.values())
        )
        counts = [f"{name} {sum(one.best == name for one in found.values())}" for name in wins]
        tell(capsys, f"    best in hindsight: {', '.join(counts)}")
        assert np.mean([one.to_best for one in found.values()]) <= 1.05


def test_updating_a_hundred_thousand_series(capsys):
    mixture, rng = Mixture(_SERIES), np.random.default_rng(0)
    for _ in range(40):
        mixture.update(rng.random(_SERIES))
    values = rng.random(_SERIES)
    took = []
    for present in (None, rng.random(_SERIES) < 0.9, rng.random(_SERIES) < 0.01):
        begun = time.process_time()
        mixture.update(values, present)
        took.append(time.process_time() - begun)
    begun = time.process_time()
    np.sort(rng.random((31, _SERIES)), axis=0)
    one_sort = time.process_time() - begun
    size = len(mixture.dumps()) / _SERIES
    tell(
        capsys,
        f"{_SERIES:,} series, {len(PREDICTORS)} predictors each: {took[0]:.2f} s of one core for all, "
        f"{took[1]:.2f} s nine of ten, {took[2]:.2f} s one of a hundred; "
        f"{took[0] / one_sort:.1f} times one sort of windows of 31; {size:.0f} bytes a series",
    )
    assert np.isfinite(mixture.forecast().value).all()
