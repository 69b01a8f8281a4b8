"""BT's messages: the faces of all cells at once, and the hand-over from cell to cell in the line solves.

Source: NAS Parallel Benchmarks, MPI version of BT (copy_faces; x_send_solve_info and its kin).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gridportal.workloads.bt_cells import Partition
from gridportal.workloads.cfd.block import HALO
from gridportal.workloads.cfd.exact import Floats

if TYPE_CHECKING:
    from mpi4py import MPI

    from gridportal.runtime.phases import CommunicationClock

UP, DOWN = 0, 3  # tags: one per direction, since on four ranks one partner serves several


class Exchange:
    """All messages run between a rank and its successors and predecessors, none is collective."""

    def __init__(self, comm: MPI.Intracomm, partition: Partition, clock: CommunicationClock) -> None:
        self._comm = comm
        self._partition = partition
        self._clock = clock
        self._sent: list[tuple[MPI.Request, Floats]] = []

    def faces(self, fields: list[Floats]) -> None:
        """Fill the halo of every cell's field, in one message per axis and direction."""
        if self._partition.side == 1:
            return
        for axis in range(3):
            self._shift(fields, axis, up=True)
            self._shift(fields, axis, up=False)

    def _shift(self, fields: list[Floats], axis: int, *, up: bool) -> None:
        part = self._partition
        to, source = part.successors[axis], part.predecessors[axis]
        last, first = part.side - 1, 0
        if not up:
            to, source, last, first = source, to, first, last
        give, take = _layers(axis, up=up)
        leaving = [fields[c][give].ravel() for c in self._in_order(axis) if part.coordinates[c][axis] != last]
        halos = [fields[c][take] for c in self._in_order(axis) if part.coordinates[c][axis] != first]
        arriving = np.empty(sum(halo.size for halo in halos))
        with self._clock:
            self._comm.Sendrecv(np.concatenate(leaving), dest=to, recvbuf=arriving, source=source)
        for halo, values in zip(halos, np.split(arriving, np.cumsum([h.size for h in halos])[:-1]), strict=True):
            halo[...] = values.reshape(halo.shape)

    def _in_order(self, axis: int) -> list[int]:
        """Cells by their place along `axis`: neighbours then list theirs in the same order."""
        return sorted(range(self._partition.side), key=lambda c: self._partition.coordinates[c][axis])

    def receive(self, values: Floats, axis: int, *, up: bool) -> None:
        """What the line solve along `axis` left in the cell before (`up`) or after."""
        partners = self._partition.predecessors if up else self._partition.successors
        with self._clock:
            self._comm.Recv(values, source=partners[axis], tag=axis + (UP if up else DOWN))

    def send(self, values: Floats, axis: int, *, up: bool) -> None:
        """Pass the line solve on; not waited for until `finish`."""
        partners = self._partition.successors if up else self._partition.predecessors
        copy = np.ascontiguousarray(values)
        with self._clock:
            request = self._comm.Isend(copy, dest=partners[axis], tag=axis + (UP if up else DOWN))
        self._sent.append((request, copy))

    def finish(self) -> None:
        """Wait until all that was sent has left."""
        with self._clock:
            for request, _ in self._sent:
                request.Wait()
        self._sent.clear()


def _layers(axis: int, *, up: bool) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Where in a field with halo the layers lie that leave, and those that arrive."""
    own = [slice(HALO, -HALO)] * 3
    give, take = list(own), list(own)
    give[axis] = slice(-2 * HALO, -HALO) if up else slice(HALO, 2 * HALO)
    take[axis] = slice(0, HALO) if up else slice(-HALO, None)
    return tuple(give), tuple(take)
