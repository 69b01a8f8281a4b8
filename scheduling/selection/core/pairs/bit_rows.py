"""Sets of vertices as rows of bits, 64 to a word."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scheduling.selection.core.trees.usable_network import Bools

BitRows = NDArray[np.uint64]


def bit_rows(rows: Bools) -> BitRows:
    """Each row of a boolean matrix as words, column 0 the lowest bit of the first.

    >>> bit_rows(np.array([[True, False, True]])).tolist()
    [[5]]
    """
    packed = np.packbits(rows, axis=1, bitorder="little")
    whole = np.zeros((len(rows), -(-rows.shape[1] // 64) * 8), dtype=np.uint8)
    whole[:, : packed.shape[1]] = packed
    return whole.view(np.uint64)
