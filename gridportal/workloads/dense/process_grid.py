"""The ranks of a program as a two-dimensional grid, numbered row by row as BLACS and SRS do."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from gridportal.runtime.phases import CommunicationClock
from gridportal.workloads.dense.grid_shapes import grid_shape

Floats = NDArray[np.floating[Any]]
Places = NDArray[np.int64]


class ProcessGrid:
    """The place of this rank of `comm`, and its messages along its row, along its column and among all.

    Collective: the constructor, and each message among those who take part. What messages take goes to `clock`.
    """

    def __init__(self, comm: MPI.Intracomm, clock: CommunicationClock) -> None:
        self.comm, self._clock = comm, clock
        self.rows, self.columns = grid_shape(comm.Get_size())
        self.row, self.column = divmod(comm.Get_rank(), self.columns)
        self._along_row = comm.Split(self.row, self.column)
        self._along_column = comm.Split(self.column, self.row)

    def sum_in_row(self, values: Floats) -> Floats:
        """The sums over the ranks of this row of the grid, on each of them."""
        return self._summed(self._along_row, values)

    def sum_in_column(self, values: Floats) -> Floats:
        """The sums over the ranks of this column of the grid, on each of them."""
        return self._summed(self._along_column, values)

    def sum_of_all(self, values: Floats) -> Floats:
        """The sums over all ranks, on each of them."""
        return self._summed(self.comm, values)

    def largest_of_all(self, values: Floats) -> Floats:
        """The largest of all ranks, on each of them; what is not a number counts as infinite."""
        largest = np.empty_like(values)
        with self._clock:
            self.comm.Allreduce(np.where(np.isnan(values), np.inf, values), largest, op=MPI.MAX)
        return largest

    def send_along_row(self, values: Floats, column: int) -> Floats:
        """What the rank in grid column `column` has, on all ranks of the row; the others give an array to fill."""
        with self._clock:
            self._along_row.Bcast(values, root=column)
        return values

    def send_along_column(self, values: Floats, row: int) -> Floats:
        """What the rank in grid row `row` has, on all ranks of the column; the others give an array to fill."""
        with self._clock:
            self._along_column.Bcast(values, root=row)
        return values

    def gather_in_column(self, values: Floats) -> Floats:
        """What each rank of this column of the grid gives, a row for each, on each of them."""
        every = np.empty((self.rows, *values.shape))
        with self._clock:
            self._along_column.Allgather(values, every)
        return every

    def exchange_in_column(self, rows: Floats, to: Places, sources: Places) -> Floats:
        """Send rows[i] to grid row to[i], and take a row from each of `sources`; both in rising order."""
        width = rows.shape[1]
        received = np.empty((len(sources), width))
        counts = [np.bincount(ends, minlength=self.rows) * width for ends in (to, sources)]
        with self._clock:
            self._along_column.Alltoallv((rows, counts[0]), (received, counts[1]))
        return received

    def _summed(self, comm: MPI.Comm, values: Floats) -> Floats:
        total = np.empty_like(values)
        with self._clock:
            comm.Allreduce(values, total, op=MPI.SUM)
        return total
