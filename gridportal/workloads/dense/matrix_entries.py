"""Entries of random matrices that follow from their places alone, so that any rank of any grid makes the same ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridportal.workloads.dense.process_grid import Floats, Places

#: What sets the right-hand side apart from the matrix.
RIGHT_HAND_SIDE = 1


def entries(rows: Places, columns: Places, stream: int = 0) -> Floats:
    """The entries at these rows and columns of a matrix without end, uniform in [-0.5, 0.5).

    Source: the mixing steps of SplitMix64 (Steele, Lea and Flood 2014), with the place of the entry as the seed.

    >>> entries(np.arange(9), np.arange(9))[4:6, 7].tolist() == entries(np.array([4, 5]), np.array([7]))[:, 0].tolist()
    True
    """
    seeds = np.multiply.outer(rows.astype(np.uint64) + np.uint64(stream << 40), np.uint64(0x9E3779B97F4A7C15))
    mixed = _mixed(_mixed(seeds)[:, None] + columns.astype(np.uint64)[None, :])
    return (mixed >> np.uint64(11)) * 2.0**-53 - 0.5


def _mixed(bits: NDArray[np.uint64]) -> NDArray[Any]:
    """Each bit of the result depends on all bits given."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
