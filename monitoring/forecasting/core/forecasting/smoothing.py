"""Predictors that remember one number: last value, running mean and median, exponential smoothing."""

from __future__ import annotations

import numpy as np

from monitoring.forecasting.core.forecasting.part import Array

GAINS = (0.05, 0.2, 0.5, 0.75, 0.9)
_SPREAD = 1


class Running:
    """The last value, the mean of all samples, and their median by stochastic approximation.

    The median takes a step of (mean distance from it) / n towards each sample: that is Tierney's recursive quantile
    (SIAM J. Sci. Stat. Comput. 4, 1983) with the density that a double exponential of this spread has at its middle.
    """

    names = ("last value", "running mean", "running median")
    kinds = ("last value", "mean", "median")
    fitted = (1, 1, 1)
    rows = 4

    def update(self, state: Array, x: Array, seen: Array) -> None:
        last, mean, median, spread = state
        away = x - median
        first = seen == 1
        spread += np.where(first, 0.0, (np.abs(away) - spread) / np.maximum(seen - _SPREAD, 1.0))
        median += np.where(first, away, np.sign(away) * np.minimum(spread / seen, np.abs(away)))
        mean += (x - mean) / seen
        last[:] = x

    def predict(self, state: Array, seen: Array, out: Array) -> None:
        out[:] = state[:3]


class Smoothing:
    """Exponential smoothing: each forecast moves by its gain times the newest error; it starts at the first sample."""

    names = tuple(f"smoothing {gain:g}" for gain in GAINS)
    kinds = ("smoothing",) * len(GAINS)
    fitted = (1,) * len(GAINS)
    rows = len(GAINS)

    def __init__(self) -> None:
        self._gains = np.array(GAINS)[:, None]

    def update(self, state: Array, x: Array, seen: Array) -> None:
        state += np.where(seen == 1, 1.0, self._gains) * (x - state)

    def predict(self, state: Array, seen: Array, out: Array) -> None:
        out[:] = state
