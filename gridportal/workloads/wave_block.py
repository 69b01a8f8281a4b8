"""A rank's planes of a scalar field that obeys the wave equation, with one plane of its neighbours at either end.

The field is 0 on the walls of the box. A step is the leapfrog with the seven-point stencil; for it an energy is known
that changes by exactly the work of the sources, whatever they do, so that rounding alone may be left between the two.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from mpi4py import MPI

from gridportal.runtime.phases import CommunicationClock
from gridportal.workloads.wave_sources import Push, pushes
from gridportal.workloads.wave_stencil import Floats, advance, chunk_of, energy

#: Seconds between two looks for a neighbour's plane: the first, and the longest.
_SHORTEST, _LONGEST = 5e-5, 5e-4


class WaveBlock:
    """The planes that `comm`'s rank has of a box of `shape` (z, y, x), dealt out as `planes` says for each rank."""

    def __init__(
        self, comm: MPI.Intracomm, shape: tuple[int, int, int], planes: Sequence[int], clock: CommunicationClock
    ) -> None:
        rank = comm.Get_rank()
        self._comm, self._clock, self._shape = comm, clock, shape
        self._first, self._own = sum(planes[:rank]), planes[rank]
        self._below = rank - 1 if rank else MPI.PROC_NULL
        self._above = rank + 1 if rank + 1 < comm.Get_size() else MPI.PROC_NULL
        # Filled, so that the system gives the memory now and not in the first steps.
        self._now, self._before = (np.full((self._own + 2, *shape[1:]), 0.0) for _ in range(2))
        self._buffer = np.empty((chunk_of(self._own, *shape[1:]), *shape[1:]))
        self._work = 0.0

    @property
    def fields(self) -> tuple[Floats, Floats]:
        """The field now and a step before, without the neighbours' planes (views); they change places in each step."""
        return self._now[1:-1], self._before[1:-1]

    def step(self, number: int) -> None:
        """Step `number`: the neighbours' planes, then every point, then what the sources add."""
        self._exchange(self._now)
        added = pushes(number, self._shape, self._first, self._own)
        earlier = [self._part(self._before, push).copy() for push in added]
        advance(self._now, self._before, self._buffer)
        self._now, self._before = self._before, self._now
        for push in added:
            self._part(self._now, push)[:] += push.values
        for push, values in zip(added, earlier, strict=True):
            self._work += float(np.sum(push.values * (self._part(self._now, push) - values))) / 2

    def _part(self, field: Floats, push: Push) -> Floats:
        starts = (push.start[0] - self._first + 1, *push.start[1:])
        return field[tuple(slice(at, at + size) for at, size in zip(starts, push.values.shape, strict=True))]

    def _exchange(self, field: Floats) -> None:
        with self._clock:
            requests = [
                self._comm.Irecv(field[0], source=self._below),
                self._comm.Irecv(field[-1], source=self._above),
                self._comm.Isend(field[1], dest=self._below),
                self._comm.Isend(field[-2], dest=self._above),
            ]
            _wait(requests)

    def energy(self) -> float:
        """Of the whole box, between the last two steps; on every rank. Collective."""
        self._exchange(self._before)
        return self._sum_of_all(energy(self._now, self._before, self._buffer))

    def work(self) -> float:
        """What the sources of the whole box have done since this block was made; on every rank. Collective."""
        return self._sum_of_all(self._work)

    def checksum(self) -> str:
        """The sum of all values' bits modulo 2^64: the same for any ranks and shares. Collective."""
        local = self._now[1:-1].view(np.uint64).sum(keepdims=True).ravel()
        total = np.empty(1, dtype=np.uint64)
        self._comm.Allreduce(local, total, op=MPI.SUM)
        return f"{int(total[0]):016x}"

    def _sum_of_all(self, mine: float) -> float:
        total = np.empty(1)
        self._comm.Allreduce(np.array([mine]), total, op=MPI.SUM)
        return float(total[0])


def _wait(requests: list[MPI.Request]) -> None:
    """Wait with the processor given away, as MPI over sockets once did: others on the node, a second rank of this
    program too, get it meanwhile, and a node that is held to a share keeps it for what it has to compute."""
    pause = _SHORTEST
    while not MPI.Request.Testall(requests):
        time.sleep(pause)
        pause = min(1.5 * pause, _LONGEST)
