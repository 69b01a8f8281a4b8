"""The 5 x 5 matrices that couple a point of LU's and BT's implicit step to its neighbours along one axis.

Source: NAS Parallel Benchmarks, MPI versions: lhsx, lhsy and lhsz of BT; jacld and jacu of LU.
"""

from __future__ import annotations

import numpy as np

from gridportal.workloads.cfd.exact import Floats
from gridportal.workloads.cfd.flow import CONDUCTION, DIFFUSION, HEAT_RATIO, PRESSURE, VISCOSITY


def jacobians(u: Floats, axis: int, step: float, size: int) -> tuple[Floats, Floats]:
    """Convective P and viscous Q of the points `u` (..., 5), scaled by the time step; (..., 5, 5) each.

    A point's equation has -(P + Q) of its predecessor along `axis`, 2 Q of its own and P - Q of its
    successor.
    """
    spacings = float(size - 1)
    inverse = 1.0 / u[..., 0]
    velocity = [u[..., 1 + i] * inverse for i in range(3)]
    kinetic = 0.5 * (velocity[0] ** 2 + velocity[1] ** 2 + velocity[2] ** 2)
    energy = u[..., 4] * inverse
    convective = _convective(velocity, kinetic, energy, axis)
    convective *= 0.5 * spacings * step
    viscous = _viscous(velocity, energy, inverse, axis)
    viscous *= spacings**2 * step
    return convective, viscous


def _convective(velocity: list[Floats], kinetic: Floats, energy: Floats, axis: int) -> Floats:
    across = velocity[axis]
    matrix = np.zeros((*across.shape, 5, 5))
    matrix[..., 0, 1 + axis] = 1.0
    for i, component in enumerate(velocity):
        matrix[..., 1 + i, 0] = -component * across
        matrix[..., 1 + i, 1 + i] = across
        matrix[..., 4, 1 + i] = -PRESSURE * component * across
    for i, component in enumerate(velocity):
        matrix[..., 1 + i, 1 + axis] += component
        matrix[..., 1 + axis, 1 + i] -= PRESSURE * component
    matrix[..., 1 + axis, 0] += PRESSURE * kinetic
    matrix[..., 1 + axis, 4] = PRESSURE
    matrix[..., 4, 0] = (2.0 * PRESSURE * kinetic - HEAT_RATIO * energy) * across
    matrix[..., 4, 1 + axis] += HEAT_RATIO * energy - PRESSURE * kinetic
    matrix[..., 4, 4] = HEAT_RATIO * across
    return matrix


def _viscous(velocity: list[Floats], energy: Floats, inverse: Floats, axis: int) -> Floats:
    conduction = VISCOSITY * CONDUCTION
    matrix = np.zeros((*inverse.shape, 5, 5))
    matrix[..., 0, 0] = DIFFUSION[axis]
    heat = -conduction * energy
    for i, component in enumerate(velocity):
        friction = VISCOSITY * (4.0 / 3.0 if i == axis else 1.0)
        slowed = component * inverse
        matrix[..., 1 + i, 0] = -friction * slowed
        matrix[..., 1 + i, 1 + i] = friction * inverse + DIFFUSION[axis]
        matrix[..., 4, 1 + i] = (friction - conduction) * slowed
        heat -= (friction - conduction) * component**2
    matrix[..., 4, 0] = heat * inverse
    matrix[..., 4, 4] = conduction * inverse + DIFFUSION[axis]
    return matrix
