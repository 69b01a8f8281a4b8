"""CG's solver and its messages. Source: NAS Parallel Benchmarks 3, MPI version of CG (conj_grad)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gridportal.workloads.cg_grid import Grid
from gridportal.workloads.cg_matrix import Block, Floats

if TYPE_CHECKING:
    from mpi4py import MPI

    from gridportal.runtime.phases import CommunicationClock

CG_STEPS = 25


class Exchange:
    """CG's messages: all of them between a rank and its partners in the grid, none collective."""

    def __init__(self, comm: MPI.Intracomm, grid: Grid, clock: CommunicationClock) -> None:
        self._comm = comm
        self._grid = grid
        self._clock = clock
        self._received = np.empty(len(grid.own_rows))

    def sum_scalars(self, values: Floats) -> Floats:
        """Sums over the grid row, the same on each of its ranks; shape as given."""
        other = np.empty_like(values)
        for partner in self._grid.sums:
            self._swap(values, other, partner)
            values = values + other
        return values

    def transposed_sum(self, partial: Floats, out: Floats) -> None:
        """Sum `partial` (len(own_rows),) over the grid row; the piece own_columns of it into `out`."""
        self._sum_rows(partial)
        mine = partial[self._grid.send]
        if self._grid.transpose == self._grid.rank:
            out[:] = mine
        else:
            self._swap(mine, out, self._grid.transpose)

    def _sum_rows(self, partial: Floats) -> None:
        mine = partial[self._grid.send]
        received = self._received[: len(mine)]
        for step, partner in enumerate(reversed(self._grid.sums)):
            halves = step == 0 and not self._grid.square
            self._swap(partial[self._grid.give] if halves else mine, received, partner)
            mine += received

    def spread_first_row(self, x: Floats) -> None:
        """Give the pieces of x that the first row of the grid has to those below, in place."""
        rows, columns = self._grid.rows, self._grid.columns
        row, column = divmod(self._grid.rank, columns)
        with self._clock:
            if row > 0:
                self._comm.Recv(x, source=column)
            for below in range(1, rows) if row == 0 else ():
                self._comm.Send(x, dest=below * columns + column)

    def _swap(self, outgoing: Floats, incoming: Floats, partner: int) -> None:
        with self._clock:
            self._comm.Sendrecv(outgoing, dest=partner, recvbuf=incoming, source=partner)


def conj_grad(block: Block, exchange: Exchange, x: Floats) -> tuple[Floats, float]:
    """25 steps of conjugate gradients for A z = x; returns this rank's piece of z, and ||x - A z||."""
    z, q = np.zeros_like(x), np.empty_like(x)
    r, p = x.copy(), x.copy()
    w = np.empty(block.rows)
    rho = _dot(exchange, r, r)
    for _ in range(CG_STEPS):
        exchange.transposed_sum(block.times(p, w), q)
        alpha = rho / _dot(exchange, p, q)
        z += alpha * p
        r -= alpha * q
        rho, previous = _dot(exchange, r, r), rho
        p *= rho / previous
        p += r
    exchange.transposed_sum(block.times(z, w), r)
    return z, math.sqrt(_dot(exchange, x - r, x - r))


def _dot(exchange: Exchange, a: Floats, b: Floats) -> float:
    return float(exchange.sum_scalars(np.array([a @ b]))[0])


def power_step(block: Block, exchange: Exchange, x: Floats, shift: float) -> tuple[Floats, float, float]:
    """One step of the inverse power method: the next x, zeta and the residual of its solve."""
    z, residual = conj_grad(block, exchange, x)
    x_z, z_z = exchange.sum_scalars(np.array([x @ z, z @ z]))
    return z / math.sqrt(z_z), float(shift + 1.0 / x_z), residual
