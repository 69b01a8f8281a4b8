"""A square field in slabs of rows, transposed over all ranks by one all-to-all exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from mpi4py import MPI

    from gridportal.runtime.phases import CommunicationClock

Complexes = npt.NDArray[np.complex128]


def rows_of(rank: int, ranks: int, size: int) -> range:
    """The rows of `rank`: nearly as many as any other's.

    >>> [rows_of(rank, 3, 8) for rank in range(3)]
    [range(0, 2), range(2, 5), range(5, 8)]
    """
    return range(size * rank // ranks, size * (rank + 1) // ranks)


class Transposition:
    """Turns this rank's rows of a `size` x `size` field into its rows of the transposed field. Collective."""

    def __init__(self, comm: MPI.Intracomm, clock: CommunicationClock, size: int) -> None:
        self._comm = comm
        self._clock = clock
        self._size = size
        self._everyone = [rows_of(rank, comm.Get_size(), size) for rank in range(comm.Get_size())]
        self.own = self._everyone[comm.Get_rank()]
        self._counts = np.array([len(self.own) * len(rows) for rows in self._everyone])
        self._outgoing = np.empty(len(self.own) * size, dtype=np.complex128)
        self._incoming = np.empty((size, len(self.own)), dtype=np.complex128)

    def __call__(self, rows: Complexes) -> None:
        """`rows`, shape (len(own), size), is overwritten with the rows of the transposed field."""
        for part, columns in zip(np.split(self._outgoing, np.cumsum(self._counts)[:-1]), self._everyone, strict=True):
            part.reshape(len(self.own), len(columns))[...] = rows[:, columns.start : columns.stop]
        # The blocks that arrive, in the order of the ranks, lie below each other: whole columns.
        with self._clock:
            self._comm.Alltoallv([self._outgoing, self._counts], [self._incoming, self._counts])
        rows[...] = self._incoming.T
