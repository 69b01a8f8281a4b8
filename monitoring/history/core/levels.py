"""Floats as integers in the same order: the nearest of so many levels in each decade, so that a relative change is a
small difference, whatever the unit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from monitoring.history.core.samples import Floats, Ints

#: Four significant digits; and 256 levels a decade, at equal ratios as far as four digits can say them, none further
#: than half a per cent from any value. Three digits are only read: blocks had them until 2026-11.
FINE, COARSE, _THREE = 4, 2, 3
_A_DECADE = 256
_LOWEST, _HIGHEST = -30, 40
_DIGITS = 3  # behind the first
_LEVELS = {
    FINE: np.arange(1000, 10000),
    _THREE: np.arange(1000, 10000, 10),
    COARSE: np.rint(1000 * 10 ** (np.arange(_A_DECADE) / _A_DECADE)).astype(np.int64),
}
_BETWEEN = {kind: (each[1:] + each[:-1]) / 2 for kind, each in _LEVELS.items()}
_BETWEEN = {kind: np.append(each, (_LEVELS[kind][-1] + 10000) / 2) for kind, each in _BETWEEN.items()}


def rounded(values: Floats, kind: int = FINE) -> Floats:
    """The nearest levels; below 1e-30 zero, above 1e40 as much.

    >>> rounded(np.array([48.2649e6, -0.0123456, 0.0, 7.0])).tolist()
    [48260000.0, -0.01235, 0.0, 7.0]
    >>> rounded(np.array([48.2649e6, 1.0]), COARSE).tolist()
    [48260000.0, 1.0]
    """
    return valued(coded(values, kind), kind)


def coded(values: Floats, kind: int) -> Ints:
    """The numbers of the nearest levels, 0 for zero, those of negative values below it."""
    size = np.abs(values)
    there = size >= 10.0**_LOWEST
    size = np.where(there, np.minimum(size, 9.99 * 10.0 ** (_HIGHEST - 1)), 1.0)
    decade = np.floor(np.log10(size)).astype(np.int64)
    digits = _times_ten_to(size, _DIGITS - decade)
    first = np.rint(digits).astype(np.int64) - 1000 if kind == FINE else np.searchsorted(_BETWEEN[kind], digits)
    code = (decade - _LOWEST) * len(_LEVELS[kind]) + first + 1
    found: Ints = np.where(there, np.where(values < 0, -code, code), 0)
    return found


def valued(codes: Ints, kind: int) -> Floats:
    """The levels that have these numbers."""
    decade, first = np.divmod(np.abs(codes) - 1, len(_LEVELS[kind]))
    size = _times_ten_to(_LEVELS[kind][first].astype(np.float64), decade + _LOWEST - _DIGITS)
    found: Floats = np.where(codes == 0, 0.0, np.where(codes < 0, -size, size))
    return found


def middle(lows: Ints, highs: Ints, kind: int) -> Ints:
    """The number of the level in the middle of two."""
    return coded((valued(lows, kind) + valued(highs, kind)) / 2, kind)


def _times_ten_to(values: Floats, powers: NDArray[np.int64]) -> Floats:
    """Multiplied or divided by a power of ten that is itself exact, so that 4826 and 4 give what 4.826e7 is."""
    up, down = 10.0 ** np.maximum(powers, 0), 10.0 ** np.maximum(-powers, 0)
    found: Floats = values * up / down
    return found
