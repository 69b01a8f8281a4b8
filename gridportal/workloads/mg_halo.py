"""MG's messages: halos between neighbours, and coarse results to ranks that come to life.

Source: NAS Parallel Benchmarks 3, MPI version of MG (comm3, give3, take3, comm3_ex).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gridportal.workloads.mg_levels import Level
from gridportal.workloads.randlc import Floats

if TYPE_CHECKING:
    from mpi4py import MPI

    from gridportal.runtime.phases import CommunicationClock

X_Y_Z = (2, 1, 0)
UPWARD, DOWNWARD = 1, 2  # tags: with two ranks along an axis, both messages come from the same one
INNER, ALL = slice(1, -1), slice(None)

Face = tuple[slice | int, ...]
Message = tuple[Floats, int, int]  # what, the other rank, tag


class Halo:
    """Fills the halos of fields, shape `level.shape`, that lie on all ranks of `comm`."""

    def __init__(self, comm: MPI.Intracomm, clock: CommunicationClock) -> None:
        self._comm = comm
        self._clock = clock
        self._rank = comm.Get_rank()

    def fill(self, field: Floats, level: Level) -> None:
        """Give `field` the faces of its neighbours, around the corners as well; on ranks alive on `level` only."""
        for axis in X_Y_Z:
            place = level.axes[axis]
            bottom, top = (_face(axis, index, done=ALL, to_do=INNER) for index in (1, -2))
            below, above = (_face(axis, index, done=ALL, to_do=INNER) for index in (0, -1))
            if place.above == self._rank:
                field[below], field[above] = field[top], field[bottom]
                continue
            from_below, from_above = np.empty_like(field[below]), np.empty_like(field[above])
            self._swap(
                [(field[top], place.above, UPWARD), (field[bottom], place.below, DOWNWARD)],
                [(from_below, place.below, UPWARD), (from_above, place.above, DOWNWARD)],
            )
            field[below], field[above] = from_below, from_above

    def expand(self, field: Floats, level: Level) -> None:
        """Spread `field`, halo and all, from ranks alive on the next coarser level to those that come to life."""
        for axis in X_Y_Z:
            place = level.axes[axis]
            last_two, first = (_face(axis, index) for index in (slice(-2, None), 1))
            if place.gives:
                self._swap([(field[last_two], place.above, UPWARD), (field[first], place.below, DOWNWARD)], [])
            if place.takes:
                lower, upper = (_face(axis, index) for index in (slice(0, 2), -1))
                from_below, from_above = np.empty(field[lower].shape), np.empty(field[upper].shape)
                self._swap([], [(from_below, place.below, UPWARD), (from_above, place.above, DOWNWARD)])
                field[lower], field[upper] = from_below, from_above

    def _swap(self, outgoing: list[Message], incoming: list[Message]) -> None:
        packed = [(np.ascontiguousarray(what), whom, tag) for what, whom, tag in outgoing]
        with self._clock:
            requests = [self._comm.Irecv(what, source=whom, tag=tag) for what, whom, tag in incoming]
            for what, whom, tag in packed:
                self._comm.Send(what, dest=whom, tag=tag)
            for request in requests:
                request.Wait()


def _face(axis: int, index: slice | int, *, done: slice = ALL, to_do: slice = ALL) -> Face:
    """The plane(s) `index` along `axis`; x comes first, so the axes after `axis` have their halos already."""
    return tuple(index if other == axis else done if other > axis else to_do for other in range(3))
