"""How predictions of seconds came true. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

#: A prediction that is off by up to this share counts as close.
CLOSE = 0.1
#: A run that takes longer than its promise by up to this share has kept it: as much is noise.
KEPT = 0.1


@dataclass(frozen=True, slots=True)
class PredictionQuality:
    """Of so many predictions: the median of their errors, as shares of what was predicted; how many were close, and how
    many promised too little time. error: None of none."""

    count: int = 0
    error: float | None = None
    close: int = 0
    too_short: int = 0


def prediction_quality(pairs: Iterable[tuple[float, float]]) -> PredictionQuality:
    """Of pairs of predicted and actual seconds; what was predicted as nothing is left out.

    >>> prediction_quality([(100.0, 104.0), (100.0, 130.0), (50.0, 45.0), (0.0, 3.0)])
    PredictionQuality(count=3, error=0.1, close=2, too_short=2)
    """
    errors = [(actual - predicted) / predicted for predicted, actual in pairs if predicted > 0]
    if not errors:
        return PredictionQuality()
    sizes = [abs(error) for error in errors]
    close = sum(1 for size in sizes if size <= CLOSE)
    return PredictionQuality(len(errors), median(sizes), close, sum(1 for error in errors if error > 0))
