"""Airshed's two layouts of one field, and the all-to-all exchanges between them.

By planes: a rank has some of the (layer, species) planes, whole. By columns: it has some of the points,
with all layers and species of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from gridportal.base.errors import InputError
from gridportal.workloads.airshed_input import PLANES, Floats

if TYPE_CHECKING:
    from gridportal.runtime.phases import CommunicationClock


def share(total: int, part: int, parts: int) -> range:
    """The `part`-th of `parts` nearly equal pieces of range(total)."""
    return range(total * part // parts, total * (part + 1) // parts)


def check_ranks(ranks: int) -> None:
    """Raises InputError with more ranks than planes."""
    if ranks > PLANES:
        raise InputError("ranks", ranks, f"1 to {PLANES}, the number of planes")


class Layout:
    """Who has which planes and which of `points` points."""

    def __init__(self, comm: MPI.Intracomm, points: int, clock: CommunicationClock) -> None:
        ranks = comm.Get_size()
        self._comm = comm
        self._clock = clock
        self._all_planes = [share(PLANES, rank, ranks) for rank in range(ranks)]
        self._all_points = [share(points, rank, ranks) for rank in range(ranks)]
        self.planes = self._all_planes[comm.Get_rank()]
        self.points = self._all_points[comm.Get_rank()]

    def to_columns(self, by_planes: Floats) -> Floats:
        """(own planes, all points) to (all planes, own points)."""
        leaving = [by_planes[:, points.start : points.stop] for points in self._all_points]
        arriving = [len(planes) * len(self.points) for planes in self._all_planes]
        # Ranks hold planes in order, so what arrives already stands plane by plane.
        return self._exchange(leaving, arriving).reshape(PLANES, len(self.points))

    def to_planes(self, by_columns: Floats) -> Floats:
        """(all planes, own points) to (own planes, all points)."""
        leaving = [by_columns[planes.start : planes.stop] for planes in self._all_planes]
        arriving = [len(self.planes) * len(points) for points in self._all_points]
        parts = np.split(self._exchange(leaving, arriving), np.cumsum(arriving)[:-1])
        return np.concatenate([part.reshape(len(self.planes), -1) for part in parts], axis=1)

    def gather(self, by_planes: Floats) -> Floats | None:
        """The whole field (all planes, all points) on rank 0; None elsewhere."""
        points = by_planes.shape[1]
        whole = np.empty((PLANES, points)) if self._comm.Get_rank() == 0 else None
        counts = [len(planes) * points for planes in self._all_planes]
        with self._clock:
            self._comm.Gatherv(by_planes, None if whole is None else [whole, counts, MPI.DOUBLE], root=0)
        return whole

    def _exchange(self, leaving: list[Floats], arriving: list[int]) -> Floats:
        sizes = [part.size for part in leaving]
        outgoing = np.concatenate([part.ravel() for part in leaving])
        incoming = np.empty(sum(arriving))
        with self._clock:
            self._comm.Alltoallv([outgoing, sizes, MPI.DOUBLE], [incoming, arriving, MPI.DOUBLE])
        return incoming
