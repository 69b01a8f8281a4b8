"""Means with the intervals that the trials themselves allow."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import correlation, fmean
from typing import Any, TypeVar

T = TypeVar("T")
_DRAWS = 2000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `n` trials and its 95 % interval."""

    mean: float
    low: float
    high: float
    n: int

    def document(self) -> dict[str, Any]:
        return {"mean": self.mean, "low": self.low, "high": self.high, "n": self.n}


def estimate(values: Sequence[float], rng: random.Random) -> Estimate:
    """Mean and percentile bootstrap interval; with one value the interval is that value.

    >>> estimate([2.0, 2.0], random.Random(1)).mean
    2.0
    """
    return resampled(values, fmean, rng)


def resampled(items: Sequence[T], figure: Callable[[Sequence[T]], float], rng: random.Random) -> Estimate:
    """`figure` of all items, and its 95 % interval over items drawn again with replacement (percentile bootstrap).

    Drawing whole rounds keeps together what met the same traffic.
    """
    draws = sorted(figure(rng.choices(items, k=len(items))) for _ in range(_DRAWS if len(items) > 1 else 1))
    cut = int(0.025 * len(draws))
    return Estimate(figure(items), draws[cut], draws[len(draws) - 1 - cut], len(items))


def spread(estimated: Mapping[str, float]) -> tuple[float, float] | None:
    """The ends of the interval of an Estimate's document; None where there is none, as from one value alone.

    >>> spread({"mean": 0.5, "low": 0.4, "high": 0.6, "n": 3})
    (0.4, 0.6)
    >>> spread({"mean": 0.5, "low": 0.5, "high": 0.5, "n": 1})
    """
    return (estimated["low"], estimated["high"]) if estimated.get("n", 0) > 1 else None


def spearman(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """The rank correlation of two rows of the same length, equal values sharing their mean rank; None where one of
    them has no two different values.

    >>> spearman([1.0, 2.0, 3.0], [10.0, 30.0, 20.0])
    0.5
    """
    if len(set(xs)) < 2 or len(set(ys)) < 2:
        return None
    return correlation(_ranks(xs), _ranks(ys))


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    first = {value: place for place, value in reversed(list(enumerate(ordered)))}
    return [first[value] + (ordered.count(value) - 1) / 2 for value in values]
