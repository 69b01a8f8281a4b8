"""Samples that came in, as columns: in order, each moment of a series once, without what can be no measurement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monitoring.history.core.samples import Floats, Ints, Sample, Series

#: How far ahead of the portal's clock a sample may be, seconds; a clock that is more wrong says nothing of when.
MOST_IN_FUTURE = 3600.0
#: How far ahead of it the newest figure may be, seconds, before it gives way to one of now: it was set back since.
LIKELY_IN_FUTURE = 60.0


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Number of the series, milliseconds and value, (n,) each, by number and then by time."""

    numbers: Ints
    at: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.numbers)

    def only(self, which: NDArray[np.bool_]) -> Arrivals:
        """Those for which `which` (n,) holds."""
        return Arrivals(self.numbers[which], self.at[which], self.values[which])

    def by(self, size: int) -> Iterator[tuple[int, Arrivals]]:
        """In parts of `size` numbers each: the part's place and what belongs to it."""
        places = self.numbers // size
        for place in np.unique(places).tolist():
            first, last = np.searchsorted(places, [place, place + 1])
            part = slice(first, last)
            yield place, Arrivals(self.numbers[part], self.at[part], self.values[part])

    def joined(self, other: Arrivals) -> Arrivals:
        """Both in order; of duplicates the other's value counts."""
        return in_order(
            np.concatenate([self.numbers, other.numbers]),
            np.concatenate([self.at, other.at]),
            np.concatenate([self.values, other.values]),
        )

    def newest(self) -> Arrivals:
        """Of each series the last."""
        return self.only(np.append(self.numbers[1:] != self.numbers[:-1], True)[: len(self)])


def plausible(samples: Sequence[Sample], now: float) -> list[Sample]:
    """Without values that are no numbers, and without moments before 1970 or more than MOST_IN_FUTURE after `now`."""
    at = np.fromiter((sample.at for sample in samples), float, len(samples))
    value = np.fromiter((sample.value for sample in samples), float, len(samples))
    good = np.isfinite(value) & (at >= 0) & (at <= now + MOST_IN_FUTURE)
    return list(samples) if good.all() else [samples[place] for place in np.flatnonzero(good).tolist()]


def arrivals(samples: Sequence[Sample], numbers: Mapping[Series, int]) -> Arrivals:
    """The samples in order; of one moment of a series the last value counts."""
    size = len(samples)
    number = np.fromiter((numbers[(s.subject, s.metric)] for s in samples), np.int64, size)
    at = np.rint(np.fromiter((s.at for s in samples), float, size) * 1000).astype(np.int64)
    value = np.fromiter((s.value for s in samples), float, size)
    return in_order(number, at, value)


def in_order(numbers: Ints, at: Ints, values: Floats) -> Arrivals:
    """Sorted by number and time; of duplicates the last counts."""
    order = np.lexsort((at, numbers))
    numbers, at, values = numbers[order], at[order], values[order]
    last = np.append((numbers[1:] != numbers[:-1]) | (at[1:] != at[:-1]), True)[: len(numbers)]
    return Arrivals(numbers[last], at[last], values[last])
