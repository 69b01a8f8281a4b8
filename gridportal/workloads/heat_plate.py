"""A rank's block of the heated plate, with one layer of halo: exchange it, step, compare."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from gridportal.runtime.phases import CommunicationClock
from gridportal.workloads.heat_grid import piece
from gridportal.workloads.heat_stencil import RATIO, sweep

Floats = npt.NDArray[np.float64]


def decay(rows: int, columns: int) -> float:
    """What one step multiplies the slowest sine mode by (the stencil's largest eigenvalue), in (0, 1)."""
    down = math.sin(math.pi / (2 * (rows + 1))) ** 2
    across = math.sin(math.pi / (2 * (columns + 1))) ** 2
    return 1.0 - 4.0 * RATIO * (down + across)


def mode(points: int) -> Floats:
    """sin(pi i / (points + 1)) for i = 1 .. points."""
    return np.sin(np.arange(1, points + 1, dtype=np.float64) * np.float64(math.pi / (points + 1)))


class Plate:
    """`initial` is this rank's block, shape (own rows, own columns); the edges of the plate stay at 0."""

    def __init__(self, cart: MPI.Cartcomm, initial: Floats, clock: CommunicationClock) -> None:
        self._cart = cart
        self._clock = clock
        self._initial = initial
        self._now = np.pad(initial, 1)
        self._sum = np.empty_like(initial)
        self.saved = initial.copy()
        self._up, self._down = cart.Shift(0, 1)
        self._left, self._right = cart.Shift(1, 1)
        self._column = np.zeros(initial.shape[0])

    @property
    def values(self) -> Floats:
        """This rank's block without its halo (a view)."""
        return self._now[1:-1, 1:-1]

    def save(self) -> None:
        """Copy the block to `saved`, where it lies in one piece."""
        self.saved[:] = self.values

    def restore(self) -> None:
        """Take the block from `saved`."""
        self.values[:] = self.saved

    def step(self) -> None:
        """One time step: halo, then every point from its four neighbours."""
        with self._clock:
            self._exchange_rows()
            self._exchange_columns()
        sweep(self._now, self._sum)

    def _exchange_rows(self) -> None:
        now = self._now
        # Halo corners are never read, so the inner part of each row is enough; it is contiguous.
        self._cart.Sendrecv(now[1, 1:-1], dest=self._up, recvbuf=now[-1, 1:-1], source=self._down)
        self._cart.Sendrecv(now[-2, 1:-1], dest=self._down, recvbuf=now[0, 1:-1], source=self._up)

    def _exchange_columns(self) -> None:
        now, received = self._now, self._column
        for own, dest, halo, source in (
            (1, self._left, -1, self._right),
            (-2, self._right, 0, self._left),
        ):
            received.fill(0.0)  # nothing arrives over the plate's edge, which is cold
            self._cart.Sendrecv(now[1:-1, own].copy(), dest=dest, recvbuf=received, source=source)
            now[1:-1, halo] = received

    def relative_error(self, amplitude: float) -> float:
        """The largest |value - amplitude * initial| / amplitude over the whole plate, on every rank."""
        local = np.abs(self.values / amplitude - self._initial).max()
        largest = np.empty(1)
        self._cart.Allreduce(np.array([local]), largest, op=MPI.MAX)
        return float(largest[0])

    def checksum(self) -> str:
        """The sum of all values' bits modulo 2^64: the same for any number of ranks."""
        local = np.ascontiguousarray(self.values).view(np.uint64).sum(keepdims=True).ravel()
        total = np.empty(1, dtype=np.uint64)
        self._cart.Allreduce(local, total, op=MPI.SUM)
        return f"{int(total[0]):016x}"


def make_plate(cart: MPI.Cartcomm, rows: int, columns: int, clock: CommunicationClock) -> Plate:
    """This rank's block of a plate of rows x columns points, in the slowest sine mode."""
    (grid_rows, grid_columns), (row, column) = cart.dims, cart.coords
    # Each rank takes the sines of the whole plate and cuts, so that they are the same for any cut.
    down = mode(rows)[piece(rows, row, grid_rows)]
    across = mode(columns)[piece(columns, column, grid_columns)]
    return Plate(cart, np.outer(down, across), clock)
