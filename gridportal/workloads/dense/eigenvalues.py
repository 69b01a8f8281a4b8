"""All eigenvalues of a dense symmetric matrix: reduced to a tridiagonal one, and these found by bisection.

    mpiexec -n 4 python -m gridportal.workloads.dense.eigenvalues --size 2000

It can be stopped after any panel, and goes on with another number of ranks. The matrix is H D H with D diagonal and H a
reflector, so that its eigenvalues are known.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from gridportal.workloads.commandline import launch
from gridportal.workloads.dense.block_matrix import BlockMatrix
from gridportal.workloads.dense.matrix_entries import entries
from gridportal.workloads.dense.panel_program import PanelProgram, Registered, build_parser, run
from gridportal.workloads.dense.process_grid import Floats, Places, ProcessGrid
from gridportal.workloads.dense.sturm import eigenvalues
from gridportal.workloads.dense.tridiagonal import Tridiagonalization


class Eigenvalues:
    """This rank's part of the matrix, and the tridiagonal one that becomes of it."""

    def __init__(self, grid: ProcessGrid, size: int, block: int) -> None:
        self.matrix = BlockMatrix(grid, size, size, block)
        self._reduction = Tridiagonalization(self.matrix)

    def arrays(self) -> Iterable[Registered]:
        """What is left of the matrix, and the tridiagonal one so far, which all ranks have."""
        yield "matrix", self.matrix.local, self.matrix.shape, self.matrix.layout
        yield "diagonal", self._reduction.diagonal, None, None
        yield "beside", self._reduction.beside, None, None

    def fill(self) -> None:
        """A matrix whose eigenvalues are known."""
        self.matrix.fill(partial(symmetric, self.matrix.shape[0]))

    def step(self, begin: int) -> int:
        """Reduce a panel."""
        return self._reduction.step(begin)

    def solve(self) -> Floats:
        """The eigenvalues in rising order: each rank finds a share of them."""
        size, grid = self.matrix.shape[0], self.matrix.grid
        rank, ranks = grid.comm.Get_rank(), grid.comm.Get_size()
        first, last = (size * part // ranks for part in (rank, rank + 1))
        share: Floats = np.zeros(size)
        share[first:last] = eigenvalues(self._reduction.diagonal, self._reduction.beside, first, last)
        return grid.sum_of_all(share)

    def scaled_error(self, solution: Floats) -> float:
        """The largest error, in units of n eps; the largest eigenvalue is about 1."""
        size = self.matrix.shape[0]
        error = float(np.abs(solution - spectrum(size)).max() / (size * np.finfo(float).eps))
        return error if np.isfinite(error) else float("inf")


def spectrum(size: int) -> Floats:
    """The eigenvalues, in rising order: evenly from -1 to 1."""
    return (2.0 * np.arange(size) + 1.0) / size - 1.0


def symmetric(size: int, rows: Places, columns: Places) -> Floats:
    """Rows and columns of H D H: D has the spectrum on its diagonal, H = I - 2 u u' / u'u with a random u."""
    u, d = entries(np.arange(size), np.zeros(1, dtype=np.int64))[:, 0], spectrum(size)
    factor = 2.0 / float(u @ u)
    middle = factor * factor * float(u @ (d * u))
    held: Floats = np.multiply.outer(u[rows], u[columns])
    held *= middle - factor * np.add.outer(d[rows], d[columns])
    held[rows[:, None] == columns] += d[np.intersect1d(rows, columns)]
    return held


EIGENVALUES = PanelProgram(
    "dense-eigenvalues",
    "Eigenvalues of a dense symmetric matrix",
    Eigenvalues,
    solving="bisection",
    error="error",
    operations=lambda size: 4.0 / 3.0 * float(size) ** 3,
)

if __name__ == "__main__":
    launch(
        build_parser("eigenvalues", "All eigenvalues of a dense symmetric matrix."), partial(run, program=EIGENVALUES)
    )
