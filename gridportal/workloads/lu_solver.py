"""LU's solver: symmetric successive over-relaxation, plane by plane in two pipelined waves.

Source: NAS Parallel Benchmarks, RNR-94-007 section 3.6; ssor, jacld, blts, jacu and buts of the MPI version.
"""

from __future__ import annotations

import numpy as np

from gridportal.workloads.cfd.exact import Floats
from gridportal.workloads.cfd.flow import residual
from gridportal.workloads.cfd.jacobians import jacobians
from gridportal.workloads.lu_exchange import Exchange
from gridportal.workloads.lu_mesh import Mesh
from gridportal.workloads.lu_wavefront import Wavefront

RELAXATION = 1.2

Place = tuple[slice, slice, int]


class Solver:
    """The field of one rank, and its steps. `error` and `change` are the values that NPB verifies."""

    def __init__(self, mesh: Mesh, exchange: Exchange, step: float) -> None:
        self.block = mesh.block
        self._exchange = exchange
        self._step = step
        self._exact = self.block.exact_field()
        self._forcing = residual(self.block, self._exact)
        self._field = self.block.first_field()
        rows, columns, self._planes = self.block.inner_shape
        self._wave = Wavefront(rows, columns)
        self._inverses = np.empty((self._planes, rows, columns, 5, 5))
        self.change = self._right_hand_side()

    @property
    def error(self) -> Floats:
        """Exact minus computed solution at this rank's inner points, (x, y, z, 5)."""
        inner = self.block.window()
        return self._exact[inner] - self._field[inner]

    def sweep_up(self) -> None:
        """The lower triangle: from north, west and below; leaves its solution in `change`."""
        self.change *= self._step
        below = np.zeros_like(self.change[:, :, 0])
        for plane in range(self._planes):
            matrices = self._lower(plane)
            below = self._solve_plane(plane, matrices, self._inverses[plane] @ self.change[:, :, plane, :, None], below)
            self.change[:, :, plane] = below
        self._exchange.finish()

    def sweep_down(self) -> None:
        """The upper triangle: from south, east and above."""
        above = np.zeros_like(self.change[:, :, 0])
        for plane in reversed(range(self._planes)):
            matrices = self._upper(plane)
            above = self._solve_plane(plane, matrices, self.change[:, :, plane, :, None], above, upwards=False)
            self.change[:, :, plane] = above
        self._exchange.finish()

    def update(self) -> None:
        """Add the change to the field, and compute the new right-hand side into `change`."""
        inner = self.block.window()
        self._field[inner] += self.change * (1.0 / (RELAXATION * (2.0 - RELAXATION)))
        self._exchange.halo(self._field)
        self.change = self._right_hand_side()

    def _right_hand_side(self) -> Floats:
        return residual(self.block, self._field) - self._forcing

    def _solve_plane(
        self, plane: int, matrices: Floats, right_side: Floats, neighbour: Floats, *, upwards: bool = True
    ) -> Floats:
        """One plane's wave; `matrices` (x, y, 5, 15) couple to x, y and the `neighbour` plane in z."""
        rows, columns = neighbour.shape[:2]
        right_side = (right_side - matrices[..., 10:] @ neighbour[..., None])[..., 0]
        x_edge, y_edge = np.zeros((columns, 5)), np.zeros((rows, 5))
        self._exchange.receive_edges(x_edge, y_edge, upwards=upwards)
        turn = slice(None, None, 1 if upwards else -1)
        turned = np.ascontiguousarray(matrices[turn, turn, :, :10])
        values = self._wave.solve(right_side[turn, turn], turned, x_edge[turn], y_edge[turn])[turn, turn]
        self._exchange.send_edges(values, upwards=upwards)
        return values

    def _lower(self, plane: int) -> Floats:
        """Inverse diagonal times the couplings to x-1, y-1 and z-1, (x, y, 5, 15); keeps the inverse."""
        diagonal = np.zeros((*self.change.shape[:2], 5, 5))
        diagonal[..., range(5), range(5)] = 1.0
        couplings = []
        for axis in range(3):
            convective, viscous = self._jacobians(plane, axis, -1)
            own, before = _own_and_neighbour(axis, -1)
            diagonal += 2.0 * viscous[own]
            couplings.append(-RELAXATION * (convective[before] + viscous[before]))
        self._inverses[plane] = np.linalg.inv(diagonal)
        scaled: Floats = self._inverses[plane] @ np.concatenate(couplings, axis=-1)
        return scaled

    def _upper(self, plane: int) -> Floats:
        """Inverse diagonal times the couplings to x+1, y+1 and z+1."""
        couplings = []
        for axis in range(3):
            convective, viscous = self._jacobians(plane, axis, 1)
            _, after = _own_and_neighbour(axis, 1)
            couplings.append(RELAXATION * (convective[after] - viscous[after]))
        scaled: Floats = self._inverses[plane] @ np.concatenate(couplings, axis=-1)
        return scaled

    def _jacobians(self, plane: int, axis: int, side: int) -> tuple[Floats, Floats]:
        """Those of the plane's points and, next to them along `axis`, of their neighbours on one side."""
        window = list(self.block.window())
        height = window[2].start + plane
        window[2] = slice(height, height + 1)
        low, high = (-1, 0) if side < 0 else (0, 1)
        window[axis] = slice(window[axis].start + low, window[axis].stop + high)
        return jacobians(self._field[tuple(window)], axis, self._step, self.block.size)


def _own_and_neighbour(axis: int, side: int) -> tuple[Place, Place]:
    """Where in `_jacobians`' arrays the plane's points and their neighbours are; drops z."""
    lower, upper = slice(None, -1), slice(1, None)
    own, other = (upper, lower) if side < 0 else (lower, upper)
    everything = slice(None)
    if axis == 0:
        return (own, everything, 0), (other, everything, 0)
    if axis == 1:
        return (everything, own, 0), (everything, other, 0)
    return (everything, everything, int(side < 0)), (everything, everything, int(side > 0))
