"""The recurrence in one plane of LU's sweeps, solved along its diagonals.

value(i, j) = known(i, j) - M(i, j) [value(i-1, j), value(i, j-1)]: all points of a diagonal i + j are
independent, so that each diagonal is one batched product. In an array skewed to (i + j, i) the two
neighbours of a point lie side by side in the row of the previous diagonal.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided

from gridportal.workloads.cfd.exact import Floats


class Wavefront:
    """Working arrays for planes of `rows` x `columns` points."""

    def __init__(self, rows: int, columns: int) -> None:
        self._shape = (rows, columns)
        i, j = np.indices((rows, columns))
        self._places = (i + j + 1, i + 1)
        self._before_rows = (np.arange(columns), np.zeros(columns, dtype=np.intp))
        self._before_columns = (np.arange(rows), np.arange(1, rows + 1))
        self._skewed = np.zeros((rows + columns, rows + 1, 5))
        wide, tall, deep = self._skewed.strides
        # (diagonal, i, 10, 1): value(i-1, j) and value(i, j-1) of each point, without a copy.
        self._neighbours = as_strided(self._skewed, (rows + columns, rows, 10, 1), (wide, tall, deep, deep))

    def solve(self, right_side: Floats, matrices: Floats, before_row: Floats, before_column: Floats) -> Floats:
        """The plane's values (rows, columns, 5), in a wave from its corner (0, 0).

        `matrices` (rows, columns, 5, 10); `before_row` (columns, 5) are the values at i = -1,
        `before_column` (rows, 5) those at j = -1.
        """
        rows, columns = self._shape
        skewed = self._skewed
        skewed[self._before_rows] = before_row
        skewed[self._before_columns] = before_column
        skewed[self._places] = right_side
        flat = matrices.reshape(rows * columns, 5, 10)
        step = max(columns - 1, 1)
        for diagonal in range(rows + columns - 1):
            low, high = max(0, diagonal - columns + 1), min(diagonal, rows - 1) + 1
            first = diagonal + low * (columns - 1)
            on_diagonal = flat[first : first + (high - low - 1) * step + 1 : step]
            product = np.matmul(on_diagonal, self._neighbours[diagonal, low:high])
            skewed[diagonal + 1, low + 1 : high + 1] -= product[..., 0]
        solved: Floats = skewed[self._places]
        return solved
