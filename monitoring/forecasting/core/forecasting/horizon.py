"""A whole series at once, and forecasts of more than the next sample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from gridportal.base.errors import InputError
from monitoring.forecasting.core.forecasting.mixture import Forecasts, Mixture
from monitoring.forecasting.core.forecasting.part import Array

MOST_BLOCKS = 512
FEWEST_BLOCKS = 8


def forecast_series(values: ArrayLike) -> Forecasts:
    """What was forecast of each of `values` (T,) from those before it: arrays of T + 1, the last of what comes next.

    NaN is a missing sample and leaves the forecast as it was.

    >>> forecast_series([3.0, 3.0, 3.0]).value.tolist()
    [nan, 3.0, 3.0, 3.0]
    """
    series = np.asarray(values, dtype=float)
    if series.ndim != 1:
        raise InputError("values", f"an array of {series.ndim} dimensions", "one series")
    mixture = Mixture(1)
    each = [mixture.forecast()]
    for value in series:
        mixture.update(np.array([value]))
        each.append(mixture.forecast())
    return Forecasts(
        np.concatenate([one.value for one in each]),
        np.concatenate([one.error for one in each]),
        np.concatenate([one.predictor for one in each]),
    )


def forecast_over(at: ArrayLike, values: ArrayLike, seconds: float, now: float) -> Forecasts:
    """The mean of each series over the `seconds` after `now`, with the error that such forecasts had.

    The rule: the past is cut backwards from the newest sample into spans of `seconds`, so that the newest is not one
    that has only begun; each span becomes the mean of its samples, and the next span is forecast as the next sample of
    these means. So the error is that of means over such a time, not of single samples. With fewer than 8 spans that
    hold a sample the forecast of the next single sample stands in.

    `at` (T,) Unix seconds in rising order, `values` (T,) or (T, S); NaN is missing. At most 512 spans are looked at.
    Raises InputError for a time that is not above 0.
    """
    times, table = np.asarray(at, dtype=float), np.asarray(values, dtype=float)
    if not (np.isfinite(seconds) and seconds > 0):
        raise InputError("seconds", seconds, "a time above 0")
    if table.ndim == 1:
        table = table[:, None]
    if times.shape != table.shape[:1]:
        raise InputError("at", f"{len(times)} times", f"one for each of the {len(table)} rows of values")
    past = times <= now
    times, table = times[past], table[past]
    return _of_spans_or_samples(_spans(times, table, seconds), table[-MOST_BLOCKS:])


def forecast_each_over(series: Sequence[tuple[ArrayLike, ArrayLike]], seconds: float, now: float) -> Forecasts:
    """`forecast_over` of series that were not sampled together: of each its times (T,), rising, and values (T,).

    Raises InputError for a time that is not above 0.
    """
    if not (np.isfinite(seconds) and seconds > 0):
        raise InputError("seconds", seconds, "a time above 0")
    means, samples = [], []
    for at, values in series:
        times, column = np.asarray(at, dtype=float), np.asarray(values, dtype=float)
        kept = (times <= now) & np.isfinite(column)
        means.append(_spans(times[kept], column[kept, None], seconds)[:, 0])
        samples.append(column[kept][-MOST_BLOCKS:])
    return _of_spans_or_samples(_ending_together(means), _ending_together(samples))


def _ending_together(columns: Sequence[Array]) -> Array:
    """One table (longest, S), NaN before the shorter ones."""
    table = np.full((max(map(len, columns), default=0), len(columns)), np.nan)
    for number, column in enumerate(columns):
        table[len(table) - len(column) :, number] = column
    return table


def _of_spans_or_samples(means: Array, samples: Array) -> Forecasts:
    """The next of `means` (spans, S), or of `samples` (T, S) where there are too few."""
    enough = np.isfinite(means).sum(axis=0) >= FEWEST_BLOCKS
    forecasts = _last(means)
    if not enough.all():
        other = _last(samples[:, ~enough])
        forecasts.value[~enough], forecasts.error[~enough], forecasts.predictor[~enough] = (
            other.value,
            other.error,
            other.predictor,
        )
    return forecasts


def _spans(times: Array, table: Array, seconds: float) -> Array:
    """Means (spans, S), oldest first; NaN where a span holds no sample."""
    age = np.floor((times.max(initial=-np.inf) - times) / seconds)
    kept = age < MOST_BLOCKS
    spans = int(age[kept].max()) + 1 if kept.any() else 0
    row = spans - 1 - age[kept].astype(int)
    total, many = np.zeros((spans, table.shape[1])), np.zeros((spans, table.shape[1]))
    there = np.isfinite(table[kept])
    np.add.at(total, row, np.where(there, table[kept], 0.0))
    np.add.at(many, row, there)
    return np.divide(total, many, out=np.full_like(total, np.nan), where=many > 0)


def _last(table: Array) -> Forecasts:
    mixture = Mixture(table.shape[1])
    for row in table:
        mixture.update(row)
    return mixture.forecast()
