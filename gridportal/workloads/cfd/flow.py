"""The steady-state residual of LU and BT: the compressible Navier-Stokes equations on a cube.

Both benchmarks discretise alike: central differences, and fourth-order dissipation against wiggles.
Source: NAS Parallel Benchmarks, RNR-94-007 section 3; rhs and compute_rhs of the MPI versions.
"""

from __future__ import annotations

import numpy as np

from gridportal.workloads.cfd.block import Block
from gridportal.workloads.cfd.exact import Floats

HEAT_RATIO = 1.4  # c1
PRESSURE = 0.4  # c2
VISCOSITY = 0.1  # c3 c4
CONDUCTION = 1.96  # c1 c5
DIFFUSION = (0.75, 0.75, 1.0)  # second-order dissipation along x, y and z
DISSIPATION = 0.25  # fourth-order; a quarter of the largest second-order one


def residual(block: Block, field: Floats) -> Floats:
    """The equations' left side at the block's inner points, from a field with valid halo; (x, y, z, 5)."""
    total = np.zeros((*block.inner_shape, 5))
    for axis in range(3):
        along = np.moveaxis(total, axis, 0)
        along += _flux_differences(block, field, axis)
        along -= DISSIPATION * _fourth_difference(block, field, axis)
    return total


def _lines(block: Block, field: Floats, axis: int, margin: int) -> Floats:
    """The inner points with `margin` more on both sides along `axis`, which comes first."""
    window = list(block.window())
    window[axis] = slice(window[axis].start - margin, window[axis].stop + margin)
    return np.moveaxis(field[tuple(window)], axis, 0)


def _second(values: Floats) -> Floats:
    return values[:-2] - 2.0 * values[1:-1] + values[2:]


def _flux_differences(block: Block, field: Floats, axis: int) -> Floats:
    """Second-order differences of the convective and the viscous fluxes along `axis`."""
    spacings = float(block.size - 1)
    u = np.ascontiguousarray(_lines(block, field, axis, 1))
    inverse = 1.0 / u[..., :1]
    velocity = u[..., 1:4] * inverse
    across = velocity[..., axis : axis + 1]
    kinetic = 0.5 * (velocity * velocity).sum(axis=-1, keepdims=True)
    pressure = PRESSURE * (u[..., 4:] - u[..., :1] * kinetic)

    carried = u * across
    carried[..., 1 + axis : 2 + axis] += pressure
    carried[..., 4:] += pressure * across

    spread = DIFFUSION[axis] * u
    spread[..., 1:4] += VISCOSITY * velocity
    spread[..., 1 + axis : 2 + axis] += (VISCOSITY / 3.0) * across
    heat = CONDUCTION * u[..., 4:] * inverse + (1.0 - CONDUCTION) * kinetic + across * across / 6.0
    spread[..., 4:] += VISCOSITY * heat

    difference = spacings**2 * _second(spread)
    difference -= 0.5 * spacings * (carried[2:] - carried[:-2])
    return difference


def _fourth_difference(block: Block, field: Floats, axis: int) -> Floats:
    """The fourth difference along `axis`, with the benchmarks' one-sided forms next to the surface.

    Those are what the central form becomes when the field is 0 on the surface and odd beyond it: there
    the values and the second differences both vanish.
    """
    u = _lines(block, field, axis, 2)
    second = _second(u)
    first = block.start[axis] + block.inner[axis].start - 2  # the cube's number of the point u[0]
    for surface, inwards in ((0, 1), (block.size - 1, -1)):
        place = surface - first
        if 0 <= place - 1 < len(second):
            second[place - 1] = 0.0
        if 0 <= place < len(u) and 0 <= place + inwards - 1 < len(second):
            second[place + inwards - 1] -= u[place]
    return _second(second)
