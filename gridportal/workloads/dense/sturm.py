"""Eigenvalues of a symmetric tridiagonal matrix by bisection, each rank some of them, as PDSTEBZ of ScaLAPACK.

How many eigenvalues are below a number follows from the signs of a recurrence (Sturm), so each of them can be enclosed
by itself, all of a rank's at once. Cost: 53 halvings, each of n steps over the eigenvalues of a rank.

Source: Barth, Martin and Wilkinson (1967).
"""

from __future__ import annotations

import numpy as np

from gridportal.workloads.dense.process_grid import Floats, Places

_HALVINGS = 60


def eigenvalues(diagonal: Floats, beside: Floats, first: int, last: int) -> Floats:
    """Numbers `first` to `last` (excluded) of the eigenvalues in rising order; `beside`: n - 1 elements or more.

    >>> eigenvalues(np.array([2.0, 2.0]), np.array([1.0]), 0, 2).round(12).tolist()
    [1.0, 3.0]
    """
    low, high = _bounds(diagonal, beside, last - first)
    wanted, width = np.arange(first, last), np.abs([low, high]).max(initial=0.0) * np.finfo(float).eps
    for _ in range(_HALVINGS):
        if first == last or (high - low).max() <= width:
            break
        middle = (low + high) / 2.0
        beyond = count_below(diagonal, beside, middle) > wanted
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return (low + high) / 2.0


def count_below(diagonal: Floats, beside: Floats, numbers: Floats) -> Places:
    """How many eigenvalues are below each of `numbers`."""
    squares = beside * beside
    least = np.finfo(float).tiny * max(1.0, float(squares.max(initial=0.0)))
    counts, pivots = np.zeros(len(numbers), dtype=np.int64), np.ones(len(numbers))
    for at, element in enumerate(diagonal):
        pivots = element - numbers - ((squares[at - 1] / pivots) if at else 0.0)
        pivots[np.abs(pivots) < least] = -least
        counts += pivots < 0
    return counts


def _bounds(diagonal: Floats, beside: Floats, count: int) -> tuple[Floats, Floats]:
    """What all eigenvalues lie between (Gershgorin), so many times."""
    sides = np.abs(beside[: len(diagonal) - 1])
    reach = np.concatenate([sides, [0.0]]) + np.concatenate([[0.0], sides])
    low, high = (diagonal - reach).min(), (diagonal + reach).max()
    margin = max(abs(low), abs(high)) * 1e-12
    return np.full(count, low - margin), np.full(count, high + margin)
