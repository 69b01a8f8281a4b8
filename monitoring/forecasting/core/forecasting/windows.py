"""Sliding windows: means of the newest samples, and medians and trimmed means from windows kept sorted."""

from __future__ import annotations

import numpy as np

from monitoring.forecasting.core.forecasting.part import Array

# Far apart on purpose: of two predictors that are nearly alike the mixture has to learn which is better, for nothing.
MEANS = (4, 16, 32)
SORTED = (5, 17, 31)
TRIMMED = (17, 31)
LONGEST = max(*MEANS, *SORTED)


class Windows:
    """The newest samples in order of time, newest first, and for each sorted window its samples in rising order.

    Where a window is not full yet, the samples there are make the forecast. A sorted window is kept by one sweep: the
    sample that leaves is closed over, the newest is put in its place, 4 operations per element instead of a sort.
    """

    names = (
        *(f"mean of {size}" for size in MEANS),
        *(f"median of {size}" for size in SORTED),
        *(f"trimmed mean of {size}" for size in TRIMMED),
    )
    kinds = ("mean",) * len(MEANS) + ("median",) * len(SORTED) + ("mean",) * len(TRIMMED)
    fitted = (1,) * len(kinds)
    rows = LONGEST + sum(SORTED)

    def __init__(self) -> None:
        ends = LONGEST + np.cumsum(SORTED)
        self._sorted = [slice(int(end) - size, int(end)) for size, end in zip(SORTED, ends, strict=True)]
        self._place = np.arange(LONGEST, dtype=float)[:, None]

    def update(self, state: Array, x: Array, seen: Array) -> None:
        newest = state[:LONGEST]
        for size, place in zip(SORTED, self._sorted, strict=True):
            window = state[place]
            window[:, seen == 1] = np.inf
            _exchange(window, np.where(seen > size, newest[size - 1], np.inf), x)
        newest[1:] = newest[:-1].copy()
        newest[0] = x

    def predict(self, state: Array, seen: Array, out: Array) -> None:
        self._means(state[:LONGEST], seen, out[: len(MEANS)])
        middle, trimmed = out[len(MEANS) : len(MEANS) + len(SORTED)], iter(out[len(MEANS) + len(SORTED) :])
        for row, (size, place) in enumerate(zip(SORTED, self._sorted, strict=True)):
            window, full = state[place], bool(np.all(seen >= size))
            middle[row] = window[size // 2] if full else _median(window, seen)
            if size in TRIMMED:
                next(trimmed)[:] = self._trimmed(window, seen, full)

    def _means(self, newest: Array, seen: Array, out: Array) -> None:
        """Sums of distances from the newest sample, so that equal samples give exactly themselves."""
        away = newest - newest[0]
        if not np.all(seen >= LONGEST):
            away[self._place >= seen] = 0.0
        total, begin = np.zeros_like(seen), 0
        for row, size in enumerate(MEANS):
            total = total + away[begin:size].sum(axis=0)
            out[row] = newest[0] + total / np.minimum(seen, size)
            begin = size

    def _trimmed(self, window: Array, seen: Array, full: bool) -> Array:
        """The mean without the lowest and the highest quarter."""
        size = len(window)
        if full:
            cut = size // 4
            middle: Array = window[size // 2]
            away: Array = window[cut : size - cut] - middle
            whole: Array = middle + away.mean(axis=0)
            return whole
        there = np.minimum(seen, size)
        edge = there // 4
        kept = (self._place[:size] >= edge) & (self._place[:size] < there - edge)
        lowest: Array = window[0]
        away = np.where(kept, window, lowest) - lowest
        some: Array = lowest + away.sum(axis=0) / (there - 2 * edge)
        return some


def _exchange(window: Array, leaves: Array, enters: Array) -> None:
    """Replace `leaves` by `enters` in each sorted column of `window`, in place."""
    kept = np.where(window[:-1] < leaves, window[:-1], window[1:])
    window[:-1] = np.minimum(kept, enters)
    window[-1] = enters
    np.maximum(window[1:-1], kept[:-1], out=window[1:-1])
    np.maximum(window[-1], kept[-1], out=window[-1])


def _median(window: Array, seen: Array) -> Array:
    there = np.minimum(seen, len(window)).astype(int)
    columns = np.arange(window.shape[1])
    low, high = window[(there - 1) // 2, columns], window[there // 2, columns]
    middle: Array = low + (high - low) / 2
    return middle
