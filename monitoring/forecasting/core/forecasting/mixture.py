"""Forecasts of many series at once: all predictors side by side, and the mixture that their errors so far suggest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gridportal.base.errors import InputError
from monitoring.forecasting.core.forecasting import family, weights
from monitoring.forecasting.core.forecasting.part import Array

#: Series that are worked on together: as many as keep the arrays of one step near the processor.
_BLOCK = 1024
_MEMORY = 0.98  # of the mixture's own error
_LARGEST = 1e100  # so that squares of distances are numbers
_OWN = 2  # rows: the mixture's forecast, the weighted sum of its errors
_PREDICTED = _OWN + len(family.PREDICTORS)
ROWS = _PREDICTED + weights.ROWS + family.ROWS
_MAGIC = b"GPF2"


@dataclass(frozen=True, slots=True)
class Forecasts:
    """Of the next sample of S series. `value` (S,) in the unit of the series; `error` (S,): mean absolute error of the
    mixture over about the last fifty forecasts, so value +- error is the interval; `predictor` (S,): which of
    PREDICTORS has the most weight. NaN and -1 before the first sample; the error is NaN before the second."""

    value: Array
    error: Array
    predictor: NDArray[np.int16]


class Mixture:
    """The state of `series` series, forecast together; 3.2 kB each, whatever their age.

    A series without a new sample stays as it is. Scale does not matter: a series times a number above 0 has its
    forecasts times that number. Promises no more than the past shows: after a change it follows as fast as the best
    predictor of such a past. Source: Selection 1999 names NWS (Wolski 1997), whose rule is the heaviest predictor.

    >>> mixture = Mixture(2)
    >>> for step in range(5):
    ...     mixture.update(np.array([5.0, 2.0 * step]))
    >>> mixture.forecast().value.round(1).tolist()
    [5.0, 9.3]
    """

    def __init__(self, series: int) -> None:
        if series < 0:
            raise InputError("series", series, "0 or more")
        self._series = 0
        self._blocks: list[Array] = []
        self.grow(series)

    @property
    def series(self) -> int:
        return self._series

    def grow(self, series: int) -> None:
        """Have `series` series from now on; those there are stay as they are. Raises InputError for fewer than now."""
        if series < self._series:
            raise InputError("series", series, f"at least the {self._series} there are")
        if self._blocks and self._blocks[-1].shape[1] < _BLOCK:
            last = self._blocks[-1]
            more = min(_BLOCK, series - (len(self._blocks) - 1) * _BLOCK) - last.shape[1]
            self._blocks[-1] = np.concatenate([last, _fresh(more)], axis=1)
        for begin in range(len(self._blocks) * _BLOCK, series, _BLOCK):
            self._blocks.append(_fresh(min(_BLOCK, series - begin)))
        self._series = series

    def update(self, values: ArrayLike, present: ArrayLike | None = None) -> None:
        """Take the newest samples (S,). Where `present` (S,) is false nothing changes, nor where the value is not
        finite or beyond 1e100.

        Raises InputError where there are not as many values as series.
        """
        fresh = np.asarray(values, dtype=float)
        self._check("values", fresh)
        there = np.abs(fresh) <= _LARGEST  # not so for NaN
        if present is not None:
            mask = np.asarray(present, dtype=bool)
            self._check("present", mask)
            there &= mask
        for span, block in self._each():
            _take(block, fresh[span], there[span])

    def forecast(self) -> Forecasts:
        """The next sample of each series."""
        value, error = np.full(self._series, np.nan), np.full(self._series, np.nan)
        predictor = np.full(self._series, -1, dtype=np.int16)
        for span, block in self._each():
            seen = block[_PREDICTED + weights.ROWS]
            made = np.maximum(seen - 1.0, 0.0)
            value[span] = np.where(seen > 0, block[0], np.nan)
            many = weights.counted(made, _MEMORY)
            error[span] = np.where(seen > 1, block[1] / np.maximum(many, 1.0), np.nan)
            heavy = weights.heaviest(weights.weigh(block[_PREDICTED : _PREDICTED + weights.ROWS], made))
            predictor[span] = np.where(seen > 0, heavy, -1)
        return Forecasts(value, error, predictor)

    def predictions(self) -> Array:
        """What each predictor says of the next samples, (predictors, S); NaN before the first sample."""
        if not self._blocks:
            return np.empty((len(family.PREDICTORS), 0))
        predicted = np.concatenate([block[_OWN:_PREDICTED] for block in self._blocks], axis=1)
        predicted[:, np.concatenate([block[_PREDICTED + weights.ROWS] for block in self._blocks]) == 0] = np.nan
        return predicted

    def dumps(self) -> bytes:
        """The whole state; `loads` gives the mixture back exactly."""
        size = np.array([ROWS, self._series], dtype="<i8").tobytes()
        return _MAGIC + size + b"".join(block.astype("<f8").tobytes() for block in self._blocks)

    @classmethod
    def loads(cls, state: bytes) -> Mixture:
        """Raises InputError for bytes that this version did not write."""
        begin = len(_MAGIC) + 16
        rows, series = np.frombuffer(state[len(_MAGIC) : begin], "<i8") if len(state) >= begin else (0, 0)
        if state[: len(_MAGIC)] != _MAGIC or rows != ROWS or len(state) != begin + 8 * ROWS * series:
            raise InputError("state", f"{len(state)} bytes", "what dumps of this version wrote")
        made = cls(int(series))
        for block in made._blocks:
            block[:] = np.frombuffer(state, "<f8", block.size, begin).reshape(block.shape)
            begin += 8 * block.size
        return made

    def _check(self, name: str, given: NDArray[np.generic]) -> None:
        if given.shape != (self._series,):
            raise InputError(name, f"an array of shape {given.shape}", f"one for each of the {self._series} series")

    def _each(self) -> Iterator[tuple[slice, Array]]:
        for number, block in enumerate(self._blocks):
            yield slice(number * _BLOCK, number * _BLOCK + block.shape[1]), block


def _fresh(series: int) -> Array:
    return np.zeros((ROWS, series))


def _take(block: Array, x: Array, there: NDArray[np.bool_]) -> None:
    if there.all():
        _step(block, x)
    elif 2 * there.sum() > len(there):
        after = block.copy()
        _step(after, np.where(there, x, 0.0))
        np.copyto(block, after, where=there)
    elif there.any():
        columns = np.flatnonzero(there)
        some = block.take(columns, axis=1)
        _step(some, x[columns])
        block[:, columns] = some


def _step(state: Array, x: Array) -> None:
    """Learn from the errors of the last forecasts, take the samples, forecast again."""
    own, predicted, learnt = state[:_OWN], state[_OWN:_PREDICTED], state[_PREDICTED : _PREDICTED + weights.ROWS]
    known = state[_PREDICTED + weights.ROWS :]
    before = known[0] > 0
    weights.learn(learnt, predicted, x, before)
    own[1] = _MEMORY * own[1] + np.where(before, np.abs(own[0] - x), 0.0)
    family.update(known, x)
    predicted[:] = family.predict(known)
    made = known[0] - 1.0
    own[0] = weights.mix(learnt, predicted, made, own[1] / np.maximum(weights.counted(made, _MEMORY), 1.0))
