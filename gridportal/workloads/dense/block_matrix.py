"""A matrix in square blocks dealt out to a process grid, as ScaLAPACK and the layouts of SRS have it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gridportal.runtime.srs import layouts
from gridportal.workloads.dense.process_grid import Floats, Places, ProcessGrid

#: Elements of a product at a time: 2 MB, which caches hold.
_STRIP = 2**18


class BlockMatrix:
    """This rank's part of a matrix of `rows` x `columns`, in C order.

    `own_rows` and `own_columns`: the places in the whole matrix of the rows and columns of `local`.
    """

    def __init__(self, grid: ProcessGrid, rows: int, columns: int, block: int) -> None:
        self.grid, self.block, self.shape = grid, block, (rows, columns)
        self.layout = layouts.block_cyclic((block, block), (grid.rows, grid.columns))
        self.own_rows = dealt(rows, block, grid.row, grid.rows)
        self.own_columns = dealt(columns, block, grid.column, grid.columns)
        self.local: Floats = np.zeros((len(self.own_rows), len(self.own_columns)))

    def fill(self, make: Callable[[Places, Places], Floats]) -> None:
        """Let each element be what `make` says of its row and column; a few rows at a time, for it needs room too."""
        step = max(1, _STRIP // max(1, self.local.shape[1]))
        for at in range(0, len(self.local), step):
            self.local[at : at + step] = make(self.own_rows[at : at + step], self.own_columns)

    def row_from(self, row: int) -> int:
        """The first own row that is `row` or behind it."""
        return int(np.searchsorted(self.own_rows, row))

    def column_from(self, column: int) -> int:
        """The first own column that is `column` or behind it."""
        return int(np.searchsorted(self.own_columns, column))

    def grid_row(self, row: int) -> int:
        """The row of the grid that has row `row`."""
        return row // self.block % self.grid.rows

    def grid_column(self, column: int) -> int:
        """The column of the grid that has column `column`."""
        return column // self.block % self.grid.columns

    def panel_end(self, begin: int) -> int:
        """Where the block that holds row and column `begin` ends: the panel from there on has one owner each way."""
        return min(self.shape[0], (begin // self.block + 1) * self.block)

    def panels(self) -> int:
        """How many panels there are."""
        return -(-self.shape[0] // self.block)


def dealt(length: int, block: int, part: int, parts: int) -> Places:
    """The places, of `length`, in the blocks of one part.

    >>> dealt(10, 2, 1, 3).tolist()
    [2, 3, 8, 9]
    """
    places = np.arange(length)
    return np.flatnonzero(places // block % parts == part)


def subtract_product(target: Floats, left: Floats, right: Floats) -> None:
    """target -= left @ right, in strips of rows, so that no second array of the size of the target comes into being."""
    step = max(1, _STRIP // max(1, target.shape[1]))
    product: Floats = np.empty((min(step, len(target)), target.shape[1]))
    for at in range(0, len(target), step):
        rows = left[at : at + step]
        np.matmul(rows, right, out=product[: len(rows)])
        target[at : at + step] -= product[: len(rows)]
