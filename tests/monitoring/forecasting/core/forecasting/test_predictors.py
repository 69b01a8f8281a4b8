"""Each predictor against its definition in plain Python."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean, median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitoring.forecasting.core.forecasting import PREDICTORS, Mixture
from monitoring.forecasting.core.forecasting.lattice import MEMORIES, ORDERS, WAYS
from monitoring.forecasting.core.forecasting.smoothing import GAINS
from monitoring.forecasting.core.forecasting.windows import MEANS, SORTED, TRIMMED

series = st.lists(st.one_of(st.floats(-1e3, 1e3), st.integers(-3, 3).map(float)), min_size=1, max_size=90)


def trimmed(window: list[float]) -> float:
    cut = len(window) // 4
    return fmean(sorted(window)[cut : len(window) - cut])


def smoothed(values: list[float], gain: float) -> float:
    level = values[0]
    for value in values[1:]:
        level += gain * (value - level)
    return level


def running_median(values: list[float]) -> float:
    middle, spread = values[0], 0.0
    for number, value in enumerate(values[1:], 2):
        away = value - middle
        spread += (abs(away) - spread) / (number - 1)
        middle += max(-abs(away), min(abs(away), np.sign(away) * spread / number))
    return middle


DEFINITIONS = {
    "last value": lambda values: values[-1],
    "running mean": fmean,
    "running median": running_median,
    **{f"mean of {size}": lambda values, size=size: fmean(values[-size:]) for size in MEANS},
    **{f"median of {size}": lambda values, size=size: median(values[-size:]) for size in SORTED},
    **{f"trimmed mean of {size}": lambda values, size=size: trimmed(values[-size:]) for size in TRIMMED},
    **{f"smoothing {gain:g}": lambda values, gain=gain: smoothed(values, gain) for gain in GAINS},
}


def bounds(values: list[float]) -> tuple[float, float]:
    """No forecast is further out than one largest step, nor below 0 where nothing was."""
    step = max((abs(b - a) for a, b in pairwise(values)), default=0.0)
    low = min(values) - step
    return (max(0.0, low) if min(values) >= 0 else low), max(values) + step


def told(values: list[float]) -> dict[str, float]:
    mixture = Mixture(1)
    for value in values:
        mixture.update(np.array([value]))
    return dict(zip(PREDICTORS, mixture.predictions()[:, 0], strict=True))


def test_every_predictor_has_a_definition_here():
    autoregressive = {f"autoregressive {order}{way}" for order in ORDERS for way in WAYS}
    assert set(PREDICTORS) == set(DEFINITIONS) | autoregressive


@settings(deadline=None)
@given(series)
def test_simple_predictors_are_what_they_are_called(values):
    found = told(values)
    scale = max(map(abs, values)) + 1
    for name, define in DEFINITIONS.items():
        assert found[name] == pytest.approx(np.clip(define(values), *bounds(values)), abs=1e-9 * scale), name


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 80), st.sampled_from([0.0, 0.6, 0.95]))
def test_the_lattice_finds_what_least_squares_over_the_whole_past_finds(seed, samples, memory):
    rng = np.random.default_rng(seed)
    values = [float(value) for value in _coloured(rng, samples, memory)]
    found = told(values)
    steps = [0.0, *(b - a for a, b in pairwise(values))]
    for way, forget, series, base in zip(WAYS, MEMORIES, (values, steps), (0.0, values[-1]), strict=True):
        for order in ORDERS:
            expected = np.clip(base + _least_squares(series, order, forget), *bounds(values))
            assert found[f"autoregressive {order}{way}"] == pytest.approx(expected, rel=1e-6, abs=1e-6)


def _coloured(rng: np.random.Generator, samples: int, memory: float) -> list[float]:
    value, out = 0.0, []
    for noise in rng.normal(size=samples):
        value = memory * value + noise
        out.append(5 + value)
    return out


def _least_squares(values: list[float], order: int, forget: float) -> float:
    """Ridge regression of each distance from the mean so far on the `order` before it, weighted by age."""
    away, weight, mean = [], 0.0, 0.0
    for value in values:
        weight = forget * weight + 1
        mean += (value - mean) / weight
        away.append(value - mean)
    first = next((at for at, value in enumerate(away) if value), None)
    if first is None:
        return mean
    newest = len(away) - 1
    rows, targets = [], []
    for at in range(len(away)):
        scale = forget ** ((newest - at) / 2)
        rows.append([scale * (away[at - lag] if at >= lag else 0.0) for lag in range(1, order + 1)])
        targets.append(scale * away[at])
    for lag in range(1, order + 1):
        ridge = abs(away[first]) * forget ** ((newest - first + 1 - lag) / 2)
        rows.append([ridge if place == lag else 0.0 for place in range(1, order + 1)])
        targets.append(0.0)
    weights = np.linalg.lstsq(np.array(rows), np.array(targets), rcond=None)[0]
    newest_first = [away[newest - lag] if newest >= lag else 0.0 for lag in range(order)]
    return mean + float(weights @ newest_first)


def test_an_autoregressive_series_is_forecast_to_within_its_noise():
    rng = np.random.default_rng(1)
    values = [0.0, 0.0]
    for noise in rng.normal(scale=0.01, size=600):
        values.append(1.6 * values[-1] - 0.9 * values[-2] + float(noise))
    mixture, errors = Mixture(1), []
    for value in values:
        errors.append(mixture.forecast().value[0] - value)
        mixture.update(np.array([value]))
    assert np.abs(errors[300:]).mean() < 1.15 * 0.01 * np.sqrt(2 / np.pi)
    assert PREDICTORS[mixture.forecast().predictor[0]].startswith("autoregressive")
