"""The LU factorization, with partial pivoting, of a panel: a few columns that one grid column holds.

Columns are halved until few are left, as for QR (`reflectors`). For each column every rank of the grid column shows its
largest element with its row; the largest of all is the pivot, of equal ones that of the first row.

Source: PDGETF2 of ScaLAPACK for a column; Gustavson (1997) for the halving.
"""

from __future__ import annotations

import numpy as np

from gridportal.workloads.dense.block_matrix import subtract_product
from gridportal.workloads.dense.process_grid import Floats, Places, ProcessGrid

#: Columns that are eliminated one by one.
_FEW = 8
_NO_ROW = 2.0**53


class PivotedPanel:
    """This rank's rows of a panel whose first column is number `begin` of the matrix.

    `held`: those rows, changed in place; `own_rows`: their places in the matrix, from `begin` on; `owner`: the grid row
    that has the diagonal.
    """

    def __init__(self, grid: ProcessGrid, held: Floats, own_rows: Places, begin: int, owner: int) -> None:
        self._grid, self._held, self._own_rows, self._begin, self._owner = grid, held, own_rows, begin, owner
        self._pivots = np.zeros(held.shape[1])

    def eliminate(self) -> Floats:
        """Leave L below the diagonal and U on and above it; the row with which each row of the panel was exchanged."""
        self._halve(0, self._held.shape[1])
        return self._pivots

    def _halve(self, first: int, last: int) -> None:
        if last - first <= _FEW:
            for column in range(first, last):
                self._eliminate(column, last)
            return
        middle = (first + last) // 2
        self._halve(first, middle)
        self._update(first, middle, last)
        self._halve(middle, last)

    def _update(self, first: int, middle: int, last: int) -> None:
        """Let columns `middle` to `last` know of those before them."""
        top: Floats = np.empty((middle - first, last - first))
        if self._grid.row == self._owner:
            top[:] = self._held[first:middle, first:last]
        self._grid.send_along_column(top, self._owner)
        upper = solve_unit_lower(top[:, : middle - first], top[:, middle - first :])
        if self._grid.row == self._owner:
            self._held[first:middle, middle:last] = upper
        below = self._from(middle)
        subtract_product(self._held[below:, middle:last], self._held[below:, first:middle], upper)

    def _eliminate(self, column: int, last: int) -> None:
        pivot_row = self._exchange(column)
        below = self._from(column + 1)
        multipliers, rest = self._held[below:, column], self._held[below:, column + 1 : last]
        multipliers /= pivot_row[column] or 1.0
        rest -= np.multiply.outer(multipliers, pivot_row[column + 1 : last])

    def _exchange(self, column: int) -> Floats:
        """Find the pivot of a column, and exchange its row with that of the diagonal; the pivot's row."""
        begin, width = self._from(column), self._held.shape[1]
        shown = np.full(2 + 2 * width, -1.0)  # largest element, its row, that row, and the row of the diagonal
        shown[1] = _NO_ROW
        if begin < len(self._held):
            largest = begin + int(np.argmax(np.abs(self._held[begin:, column])))
            shown[:2] = abs(self._held[largest, column]), self._own_rows[largest]
            shown[2 : 2 + width] = self._held[largest]
            shown[2 + width :] = self._held[begin]
        every = self._grid.gather_in_column(shown)
        best = int(np.lexsort((every[:, 1], -every[:, 0]))[0])
        pivot_row, pivot = every[best, 2 : 2 + width], every[best, 1]
        if self._grid.row == best:
            self._held[np.searchsorted(self._own_rows, pivot)] = every[self._owner, 2 + width :]
        if self._grid.row == self._owner:
            self._held[begin] = pivot_row
        self._pivots[column] = pivot
        return pivot_row

    def _from(self, column: int) -> int:
        """The first of the own rows that is at the diagonal of `column`, or below."""
        return int(np.searchsorted(self._own_rows, self._begin + column))


def solve_unit_lower(factors: Floats, right: Floats) -> Floats:
    """X with L X = right; L: what is below the diagonal of `factors`, and ones on it."""
    lower: Floats = np.tril(factors, -1) + np.eye(len(factors))
    return np.linalg.solve(lower, right)
