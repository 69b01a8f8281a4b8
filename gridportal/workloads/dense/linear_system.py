"""A x = b, where a factorization of A is what is done panel by panel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from gridportal.workloads.dense.block_matrix import BlockMatrix
from gridportal.workloads.dense.matrix_entries import RIGHT_HAND_SIDE, entries
from gridportal.workloads.dense.panel_program import Registered
from gridportal.workloads.dense.process_grid import Floats, ProcessGrid
from gridportal.workloads.dense.upper_solve import scaled_residual, solve_upper

#: From matrix, right-hand side and the column where a panel begins to where the next one begins.
Step = Callable[[BlockMatrix, BlockMatrix, int], int]


class LinearSystem:
    """A and b of this rank; `step` does to b what it does to A, and leaves an upper triangle."""

    def __init__(self, grid: ProcessGrid, size: int, block: int, *, step: Step) -> None:
        self.matrix = BlockMatrix(grid, size, size, block)
        self.right = BlockMatrix(grid, size, 1, block)
        self._step = step

    def arrays(self) -> Iterable[Registered]:
        """Matrix and right-hand side, as in Migration 2003, section 8."""
        for name, each in (("matrix", self.matrix), ("right_hand_side", self.right)):
            yield name, each.local, each.shape, each.layout

    def fill(self) -> None:
        """A random system."""
        self.matrix.fill(entries)
        self.right.fill(partial(entries, stream=RIGHT_HAND_SIDE))

    def step(self, begin: int) -> int:
        """Factorize a panel."""
        return self._step(self.matrix, self.right, begin)

    def solve(self) -> Floats:
        """x, from the triangle."""
        return solve_upper(self.matrix, self.right)

    def scaled_error(self, solution: Floats) -> float:
        """The residual of the system as it was at the beginning."""
        return scaled_residual(self.matrix, solution)
