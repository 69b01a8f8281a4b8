"""The end of a linear system: its upper triangle solved from below, and how well the result solves the whole."""

from __future__ import annotations

import numpy as np

from gridportal.workloads.dense.block_matrix import BlockMatrix
from gridportal.workloads.dense.matrix_entries import RIGHT_HAND_SIDE, entries
from gridportal.workloads.dense.process_grid import Floats

#: Rows that are made again at a time, to be compared with.
_ROWS = 64


def solve_upper(matrix: BlockMatrix, right: BlockMatrix) -> Floats:
    """The solution of U x = right, on every rank; U: the upper triangle of `matrix`. Collective.

    Block after block from the last on: one sum over a row of the grid, and one over all ranks. A matrix that has no
    inverse gives what is not a number.
    """
    x = np.zeros(matrix.shape[0])
    end = matrix.shape[0]
    while end > 0:
        begin = (end - 1) // matrix.block * matrix.block
        x[begin:end] = _solve_block(matrix, right, x, begin, end)
        end = begin
    return x


def _solve_block(matrix: BlockMatrix, right: BlockMatrix, x: Floats, begin: int, end: int) -> Floats:
    grid = matrix.grid
    part: Floats = np.zeros(end - begin)
    if grid.row == matrix.grid_row(begin):
        rows = slice(matrix.row_from(begin), matrix.row_from(end))
        behind = matrix.column_from(end)
        part -= matrix.local[rows, behind:] @ x[matrix.own_columns[behind:]]
        part += right.local[rows].sum(axis=1)  # one column at most, and only in the first column of the grid
        part = grid.sum_in_row(part)
        if grid.column == matrix.grid_column(begin):
            first = matrix.column_from(begin)
            block = np.triu(matrix.local[rows, first : first + end - begin])
            return grid.sum_of_all(_solved(block, part))
    return grid.sum_of_all(np.zeros(end - begin))


def _solved(block: Floats, right: Floats) -> Floats:
    try:
        return np.linalg.solve(block, right)
    except np.linalg.LinAlgError:
        return np.full(len(right), np.nan)


def scaled_residual(matrix: BlockMatrix, x: Floats) -> float:
    """||A x - b|| / (||A|| ||x|| n eps) in maximum norms, the same on every rank; A and b are made again. Collective.

    Source: the check of HPL and of ScaLAPACK's own tests, which take what is below about 16 for right.
    """
    grid, size = matrix.grid, matrix.shape[0]
    products: Floats = np.zeros(size)
    sizes: Floats = np.zeros(size)
    for at in range(0, len(matrix.own_rows), _ROWS):
        rows = matrix.own_rows[at : at + _ROWS]
        held = entries(rows, matrix.own_columns)
        products[rows], sizes[rows] = held @ x[matrix.own_columns], np.abs(held).sum(axis=1)
    products, sizes = grid.sum_of_all(products), grid.sum_of_all(sizes)
    wanted = entries(np.arange(size), np.zeros(1, dtype=np.int64), RIGHT_HAND_SIDE)[:, 0]
    scale = sizes.max() * np.abs(x).max() * size * np.finfo(float).eps
    residual = float(np.abs(products - wanted).max() / scale)
    return residual if np.isfinite(residual) else float("inf")
