"""How each predictor would have done on one series, and the mixture of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gridportal.base.errors import InputError
from monitoring.forecasting.core.forecasting import PREDICTORS, Forecasts, Mixture
from monitoring.history.core.samples import Floats


@dataclass(frozen=True, slots=True)
class Entry:
    """One predictor: mean absolute error over all samples that it had to forecast, and what it says of the next."""

    predictor: str
    error: float
    forecast: float


@dataclass(frozen=True, slots=True)
class Contest:
    """`entries`: predictors, best first; `error`: the same of the mixture; `forecasts`: the mixture's, one for each of
    the T samples made from those before it, and one of what comes next (T + 1 each)."""

    entries: tuple[Entry, ...]
    error: float
    forecasts: Forecasts


def contest(values: ArrayLike) -> Contest:
    """Let all predictors forecast each of `values` (T,), oldest first, from those before it. Raises InputError unless
    it is one series of finite numbers. O(T * predictors). Source: Network Weather Service, named in Selection 1999.

    >>> found = contest([3.0, 3.0, 3.0, 3.0])
    >>> found.error, found.entries[0].forecast
    (0.0, 3.0)
    """
    series = np.asarray(values, dtype=float)
    if series.ndim != 1 or not np.isfinite(series).all():
        raise InputError("values", f"an array of {series.ndim} dimensions", "one series of finite numbers")
    mixture = Mixture(1)
    predictions, mixed = [mixture.predictions()[:, 0]], [mixture.forecast()]
    for value in series:
        mixture.update(np.array([value]))
        predictions.append(mixture.predictions()[:, 0])
        mixed.append(mixture.forecast())
    forecasts = Forecasts(*(np.concatenate([getattr(one, name) for one in mixed]) for name in Forecasts.__slots__))
    table = np.stack(predictions)
    errors = _mean_errors(table[:-1], series[:, None])
    order = np.argsort(np.where(np.isnan(errors), np.inf, errors), kind="stable")
    entries = tuple(Entry(PREDICTORS[place], float(errors[place]), float(table[-1, place])) for place in order)
    return Contest(entries, float(_mean_errors(forecasts.value[:-1, None], series[:, None])[0]), forecasts)


def _mean_errors(predictions: Floats, observed: Floats) -> Floats:
    """Of each column the mean distance to what came, where something was told; NaN where nothing ever was."""
    made = np.isfinite(predictions)
    distance = np.where(made, np.abs(np.where(made, predictions, 0.0) - observed), 0.0).sum(axis=0)
    counted = made.sum(axis=0)
    means: Floats = np.divide(distance, counted, out=np.full(predictions.shape[1], np.nan), where=counted > 0)
    return means
