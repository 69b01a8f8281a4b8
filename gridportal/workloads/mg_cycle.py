"""MG's V-cycle over the levels of one rank. Source: NAS Parallel Benchmarks 3, MPI version of MG (mg3P)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gridportal.workloads.mg_halo import Halo
from gridportal.workloads.mg_levels import Level
from gridportal.workloads.mg_stencils import Coefficients, Strips, interpolate, residual, restrict, smooth
from gridportal.workloads.randlc import Floats

if TYPE_CHECKING:
    from mpi4py import MPI

    from gridportal.runtime.phases import CommunicationClock


class Multigrid:
    """Solves A u = v on `levels`, coarsest first, with smoother coefficients `c`. Every method is collective.

    `v` has the shape of the finest level; its halo needs not be right.
    """

    def __init__(
        self, comm: MPI.Intracomm, clock: CommunicationClock, levels: list[Level], v: Floats, c: Coefficients
    ) -> None:
        self._comm = comm
        self._clock = clock
        self._halo = Halo(comm, clock)
        self._levels = levels
        self._c = c
        self._v = v
        self._u = [np.zeros(level.shape) for level in levels]
        self._r = [np.zeros(level.shape) for level in levels]
        self._strips = [Strips(level.shape) for level in levels]

    def restart(self) -> None:
        """Forget the solution."""
        self._u[-1].fill(0.0)

    def cycle(self) -> None:
        """One V-cycle from the residual of the last `find_residual`; improves the solution."""
        top = len(self._levels) - 1
        for k in range(top, 0, -1):
            self._restrict(k)
        self._u[0].fill(0.0)
        self._smooth(0)
        for k in range(1, top):
            self._u[k].fill(0.0)
            self._interpolate(k)
            self._residual(k, self._r[k])
            self._smooth(k)
        self._interpolate(top)
        self._residual(top, self._v)
        self._smooth(top)

    def find_residual(self) -> None:
        """r = v - A u on the finest level."""
        self._residual(len(self._levels) - 1, self._v)

    def norm(self) -> float:
        """The root of the residual's mean square over all points of the finest level."""
        inner = self._r[-1][1:-1, 1:-1, 1:-1]
        own = np.array([sum(float(np.square(plane).sum()) for plane in inner)])
        total = np.empty(1)
        with self._clock:
            self._comm.Allreduce(own, total)
        return math.sqrt(float(total[0]) / self._levels[-1].points ** 3)

    def _restrict(self, k: int) -> None:
        if self._levels[k - 1].alive:
            restrict(self._r[k], self._r[k - 1])
            self._halo.fill(self._r[k - 1], self._levels[k - 1])

    def _interpolate(self, k: int) -> None:
        if self._levels[k - 1].alive:
            interpolate(self._u[k - 1], self._u[k])
        if self._levels[k].alive:
            self._halo.expand(self._u[k], self._levels[k])

    def _residual(self, k: int, v: Floats) -> None:
        if self._levels[k].alive:
            residual(self._strips[k], self._u[k], v, self._r[k])
            self._halo.fill(self._r[k], self._levels[k])

    def _smooth(self, k: int) -> None:
        if self._levels[k].alive:
            smooth(self._strips[k], self._r[k], self._u[k], self._c)
            self._halo.fill(self._u[k], self._levels[k])
