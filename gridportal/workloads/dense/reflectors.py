"""The QR factorization of a panel: Householder reflectors of a few columns that one grid column holds.

Columns are halved until few are left, the left half is reduced, its reflectors are applied to the right half at once,
and so on. The few are reduced one by one, each with one sum over the grid column: the column's inner products with all
that follow, and its diagonal element.

Source: PDGEQR2 of ScaLAPACK for a column; Elmroth and Gustavson (2000) for the halving. The reflectors of a block as
one product: Puglisi (1992), I - V T V' with the inverse of T = the upper triangle of V'V, its diagonal halved.
"""

from __future__ import annotations

import math

import numpy as np

from gridportal.workloads.dense.block_matrix import subtract_product
from gridportal.workloads.dense.process_grid import Floats, Places, ProcessGrid

#: Columns that are reduced one by one.
_FEW = 8


class Panel:
    """This rank's rows of a panel whose first column is number `begin` of the matrix.

    `held`: those rows, changed in place; `own_rows`: their places in the matrix, from `begin` on.
    """

    def __init__(self, grid: ProcessGrid, held: Floats, own_rows: Places, begin: int) -> None:
        self._grid, self._held, self._own_rows, self._begin = grid, held, own_rows, begin

    def reduce(self) -> Floats:
        """Leave R above the diagonal and the reflectors, without their leading ones, below; return these whole."""
        self._reduce(0, self._held.shape[1])
        return self._reflectors(0, self._held.shape[1])

    def _reduce(self, first: int, last: int) -> None:
        if last - first <= _FEW:
            for column in range(first, last):
                self._reflect(column, last)
            return
        middle = (first + last) // 2
        self._reduce(first, middle)
        apply_reflectors(self._grid, self._reflectors(first, middle), [self._held[:, middle:last]])
        self._reduce(middle, last)

    def _reflect(self, column: int, last: int) -> None:
        """Reduce one column, and apply its reflector to those before `last`."""
        below = int(np.searchsorted(self._own_rows, self._begin + column + 1))
        has_diagonal = below > 0 and self._own_rows[below - 1] == self._begin + column
        x, rest = self._held[below:, column], self._held[below:, column + 1 : last]
        diagonal_row = self._held[below - 1, column:last] if has_diagonal else np.zeros(last - column)
        sums = self._grid.sum_in_column(np.concatenate([x @ self._held[below:, column:last], diagonal_row]))
        products, row = sums[: last - column], sums[last - column :]
        beta = -math.copysign(math.hypot(row[0], math.sqrt(products[0])), row[0])
        x /= (row[0] - beta) or 1.0
        factors = _tau(row[0], beta) * (row[1:] + products[1:] / ((row[0] - beta) or 1.0))
        rest -= np.multiply.outer(x, factors)
        if has_diagonal:
            self._held[below - 1, column] = beta
            self._held[below - 1, column + 1 : last] -= factors

    def _reflectors(self, first: int, last: int) -> Floats:
        """Columns `first` to `last` as reflectors: ones on the diagonal, nothing above."""
        columns = self._begin + np.arange(first, last)
        whole = self._held[:, first:last].copy(order="C")
        top = int(np.searchsorted(self._own_rows, self._begin + last))  # below these rows nothing is to be changed
        behind = self._own_rows[:top, None] - columns
        whole[:top][behind < 0] = 0.0
        whole[:top][behind == 0] = 1.0
        return whole


def _tau(alpha: float, beta: float) -> float:
    """The factor of a reflector, 2 / v'v; of a column of zeros that of the reflector of the diagonal alone."""
    return (beta - alpha) / beta if beta else 2.0


def apply_reflectors(grid: ProcessGrid, reflectors: Floats, targets: list[Floats]) -> None:
    """Apply all reflectors, the first one first, to columns that lie in the same rows. One sum over the grid column."""
    width = reflectors.shape[1]
    sums = grid.sum_in_column(np.hstack([reflectors.T @ columns for columns in (reflectors, *targets)]))
    inner = np.tril(sums[:, :width])
    inner[np.diag_indices(width)] /= 2.0
    factors = np.linalg.solve(inner, sums[:, width:])
    at = 0
    for target in targets:
        subtract_product(target, reflectors, factors[:, at : at + target.shape[1]])
        at += target.shape[1]
