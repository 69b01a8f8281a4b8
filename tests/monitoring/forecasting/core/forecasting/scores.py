"""How far the mixture and each predictor are from what came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from monitoring.forecasting.core.forecasting import PREDICTORS, Mixture
from monitoring.forecasting.core.forecasting.part import Array


@dataclass(frozen=True)
class Score:
    """Mean errors over one series, absolute and squared (then the root), of the mixture and of each predictor."""

    mixture: float
    each: Array
    mixture_square: float
    each_square: Array

    @property
    def to_best(self) -> float:
        """The mixture's error against that of the predictor that was best in hindsight."""
        return _ratio(self.mixture, self.each.min())

    @property
    def to_last(self) -> float:
        return _ratio(self.mixture, self.each[0])

    @property
    def square_to_best(self) -> float:
        return _ratio(self.mixture_square, self.each_square.min())

    @property
    def square_to_last(self) -> float:
        return _ratio(self.mixture_square, self.each_square[0])

    @property
    def best(self) -> str:
        return PREDICTORS[int(self.each.argmin())]


def score(values: Array) -> Score:
    """Of every sample but the first, which nobody can forecast."""
    return scores({"": values})[""]


def scores(series: Mapping[str, Array]) -> dict[str, Score]:
    """The same of several series, followed by one mixture; shorter ones end earlier."""
    longest = max(map(len, series.values()))
    table = np.full((longest, len(series)), np.nan)
    for column, values in enumerate(series.values()):
        table[: len(values), column] = values
    mixture, mixed, each = Mixture(len(series)), [], []
    for number, row in enumerate(table):
        if number:
            mixed.append(np.abs(mixture.forecast().value - row))
            each.append(np.abs(mixture.predictions() - row))
        mixture.update(row)
    return {name: _score(np.array(mixed)[:, at], np.array(each)[:, :, at]) for at, name in enumerate(series)}


def _score(mixed: Array, each: Array) -> Score:
    there = np.isfinite(mixed)
    mixed, each = mixed[there], each[there]
    root, roots = np.sqrt((mixed**2).mean()), np.sqrt((each**2).mean(axis=0))
    return Score(float(mixed.mean()), each.mean(axis=0), float(root), roots)


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else 1.0 if not part else float("inf")
