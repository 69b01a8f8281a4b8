"""Block-tridiagonal systems along the lines of one cell, all lines of a plane at once.

Thomas' algorithm with 5 x 5 blocks: elimination forwards, substitution backwards; what crosses a cell's
end is passed on. Source: NAS Parallel Benchmarks, MPI version of BT (x_solve_cell, x_backsubstitute).
"""

from __future__ import annotations

import numpy as np

from gridportal.workloads.cfd.block import Block
from gridportal.workloads.cfd.exact import Floats
from gridportal.workloads.cfd.jacobians import jacobians

IDENTITY = np.eye(5)


class Lines:
    """The lines of one cell along `axis`, through a field with valid halo."""

    def __init__(self, block: Block, field: Floats, axis: int, step: float) -> None:
        window = list(block.window())
        window[axis] = slice(window[axis].start - 1, window[axis].stop + 1)
        self._field = np.moveaxis(field[tuple(window)], axis, 0)
        self._block = block
        self._axis = axis
        self._step = step
        self.length = self._field.shape[0] - 2
        self.across = self._field.shape[1:3]
        self._couplings = np.empty((self.length, *self.across, 5, 5))

    def eliminate(self, right: Floats, before: Floats) -> Floats:
        """Forwards: `right` (length, across, 5) becomes that of the upper triangle.

        `before` and what is returned, (across, 5, 6): a plane's coupling to the next, and its right side.
        """
        planes = (jacobians(plane, self._axis, self._step, self._block.size) for plane in self._field)
        earlier, own = next(planes), next(planes)
        system = np.empty((*self.across, 5, 6))
        for i in range(self.length):
            later = next(planes)
            lower = earlier[0] + earlier[1]  # the matrix itself has the other sign
            system[..., :5] = later[0] - later[1]
            system[..., 5] = right[i]
            carried = lower @ before
            system[..., 5] += carried[..., 5]
            diagonal = IDENTITY + 2.0 * own[1] + carried[..., :5]
            before = np.linalg.solve(diagonal, system).astype(np.float64, copy=False)
            self._couplings[i] = before[..., :5]
            right[i] = before[..., 5]
            earlier, own = own, later
        return before

    def substitute(self, right: Floats, after: Floats) -> Floats:
        """Backwards: `right` becomes the solution; `after` and what is returned are planes (across, 5)."""
        for i in reversed(range(self.length)):
            right[i] -= (self._couplings[i] @ after[..., None])[..., 0]
            after = right[i]
        return after
