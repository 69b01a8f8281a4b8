"""LU's messages: one small one per plane and direction in the sweeps, and the halo of the right-hand side.

Source: NAS Parallel Benchmarks, MPI version of LU (exchange_1 and exchange_3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gridportal.workloads.cfd.block import HALO
from gridportal.workloads.cfd.exact import Floats
from gridportal.workloads.lu_mesh import Mesh

if TYPE_CHECKING:
    from mpi4py import MPI

    from gridportal.runtime.phases import CommunicationClock


class Exchange:
    """All messages run between neighbours in the mesh, none is collective."""

    def __init__(self, comm: MPI.Intracomm, mesh: Mesh, clock: CommunicationClock) -> None:
        self._comm = comm
        self._mesh = mesh
        self._clock = clock
        self._sent: list[tuple[MPI.Request, Floats]] = []

    def halo(self, field: Floats) -> None:
        """Bring two layers of each neighbour's block into `field`, shape (x + 4, y + 4, z + 4, 5)."""
        mesh = self._mesh
        own = slice(HALO, -HALO)
        self._shift(field, (slice(HALO, 2 * HALO), own), mesh.north, (slice(-HALO, None), own), mesh.south)
        self._shift(field, (slice(-2 * HALO, -HALO), own), mesh.south, (slice(0, HALO), own), mesh.north)
        self._shift(field, (own, slice(HALO, 2 * HALO)), mesh.west, (own, slice(-HALO, None)), mesh.east)
        self._shift(field, (own, slice(-2 * HALO, -HALO)), mesh.east, (own, slice(0, HALO)), mesh.west)

    def _shift(
        self,
        field: Floats,
        give: tuple[slice, slice],
        to: int | None,
        take: tuple[slice, slice],
        source: int | None,
    ) -> None:
        """Layers `give` to one neighbour while layers `take` come from the opposite one."""
        with self._clock:
            request = None if to is None else self._comm.Isend(np.ascontiguousarray(field[give]), dest=to)
            if source is not None:
                layers = np.empty_like(field[take])
                self._comm.Recv(layers, source=source)
                field[take] = layers
            if request is not None:
                request.Wait()

    def receive_edges(self, x_edge: Floats, y_edge: Floats, *, upwards: bool) -> None:
        """One plane's edges from where the wave comes, into `x_edge` (y, 5) and `y_edge` (x, 5).

        Upwards in z the wave comes from north and west, downwards from south and east; an edge of the
        cube keeps what the arrays hold.
        """
        mesh = self._mesh
        sources = (mesh.north, mesh.west) if upwards else (mesh.south, mesh.east)
        for edge, source in zip((x_edge, y_edge), sources, strict=True):
            if source is not None:
                with self._clock:
                    self._comm.Recv(edge, source=source)

    def send_edges(self, plane: Floats, *, upwards: bool) -> None:
        """Pass this plane's last edges on, `plane` (x, y, 5); they are not waited for."""
        mesh = self._mesh
        targets = (mesh.south, mesh.east) if upwards else (mesh.north, mesh.west)
        last = -1 if upwards else 0
        for edge, target in zip((plane[last], plane[:, last]), targets, strict=True):
            if target is not None:
                copy = edge.copy()
                with self._clock:
                    self._sent.append((self._comm.Isend(copy, dest=target), copy))

    def finish(self) -> None:
        """Wait until all edges have left."""
        with self._clock:
            for request, _ in self._sent:
                request.Wait()
        self._sent.clear()
