"""A symmetric matrix reduced to a tridiagonal one with the same eigenvalues, in panels, as PDSYTRD of ScaLAPACK does.

Each column needs the product of all that is left of the matrix with its reflector: half of the work, two sums of a
vector over all ranks. The reflectors of a panel change the rest of the matrix at once, by one product of matrices.
Unlike PDSYTRD both triangles are kept, which spares the exchange between a rank and its mirror image.

Source: Dongarra, Hammarling and Sorensen (1989), whose V and W these are: A - V W' - W V'.
"""

from __future__ import annotations

import math

import numpy as np

from gridportal.workloads.dense.block_matrix import BlockMatrix, subtract_product
from gridportal.workloads.dense.process_grid import Floats


class Tridiagonalization:
    """`matrix`: what is left from the first column on that is not reduced. `diagonal` and `beside`: the tridiagonal
    matrix so far, the same on every rank; the last element of `beside` stays 0."""

    def __init__(self, matrix: BlockMatrix) -> None:
        self.matrix, size = matrix, matrix.shape[0]
        self.diagonal: Floats = np.zeros(size)
        self.beside: Floats = np.zeros(size)

    def step(self, begin: int) -> int:
        """Reduce the columns of a panel; returns where the next one begins. Collective."""
        size, end = self.matrix.shape[0], self.matrix.panel_end(begin)
        reflectors, products = np.zeros((2, size, end - begin))
        for number, column in enumerate(range(begin, end)):
            current = self._column(column, reflectors[column:, :number], products[column:, :number])
            self.diagonal[column] = current[0]
            if column == size - 1:
                break
            below = slice(column + 1, size)
            v, tau, self.beside[column] = reflector(current[1:])
            product = self._product(column + 1, v, reflectors[below, :number], products[below, :number]) * tau
            reflectors[below, number] = v
            products[below, number] = product - (tau / 2.0 * (product @ v)) * v
        self._apply(end, np.hstack([reflectors, products]), np.hstack([products, reflectors]))
        return end

    def _column(self, column: int, reflectors: Floats, products: Floats) -> Floats:
        """A column from the diagonal down, after the reflectors of this panel so far; on every rank."""
        matrix = self.matrix
        held: Floats = np.zeros(matrix.shape[0] - column)
        if matrix.grid.column == matrix.grid_column(column):
            top = matrix.row_from(column)
            held[matrix.own_rows[top:] - column] = matrix.local[top:, matrix.column_from(column)]
        current: Floats = matrix.grid.sum_of_all(held) - reflectors @ products[0] - products @ reflectors[0]
        return current

    def _product(self, first: int, v: Floats, reflectors: Floats, products: Floats) -> Floats:
        """What is left of the matrix from row and column `first` on times v; on every rank."""
        matrix = self.matrix
        top, left = matrix.row_from(first), matrix.column_from(first)
        held: Floats = np.zeros(matrix.shape[0] - first)
        held[matrix.own_rows[top:] - first] = matrix.local[top:, left:] @ v[matrix.own_columns[left:] - first]
        return matrix.grid.sum_of_all(held) - reflectors @ (products.T @ v) - products @ (reflectors.T @ v)

    def _apply(self, end: int, left: Floats, right: Floats) -> None:
        """Let the matrix from row and column `end` on know of a whole panel."""
        matrix = self.matrix
        top, begin = matrix.row_from(end), matrix.column_from(end)
        subtract_product(matrix.local[top:, begin:], left[matrix.own_rows[top:]], right[matrix.own_columns[begin:]].T)


def reflector(x: Floats) -> tuple[Floats, float, float]:
    """v with v[0] = 1, tau and beta, so that (I - tau v v') x = beta e_1.

    >>> reflector(np.array([3.0, 4.0]))
    (array([1. , 0.5]), 1.6, -5.0)
    """
    alpha = float(x[0])
    beta = -math.copysign(float(np.linalg.norm(x)), alpha)
    v = x / ((alpha - beta) or 1.0)
    v[0] = 1.0
    return v, (beta - alpha) / beta if beta else 2.0, beta
