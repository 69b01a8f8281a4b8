"""The polynomial that LU and BT converge to, and the field they start from.

Source: NAS Parallel Benchmarks, RNR-94-007 section 3 and its tables; exact_solution and initialize of the
MPI versions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Per unknown: the constant, then for each power from 1 to 4 the coefficients of xi, eta and zeta.
COEFFICIENTS = np.array(
    [
        [2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3],
        [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5],
        [2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4],
        [2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3],
        [5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2],
    ]
)

Places = tuple[Floats, Floats, Floats]


def exact(places: Places) -> Floats:
    """The five unknowns at xi, eta, zeta in [0, 1]; their lengths give the shape (x, y, z, 5)."""
    total: Floats = COEFFICIENTS[:, 0]
    for axis, along in enumerate(places):
        powers = np.stack([along, along**2, along**3, along**4], axis=-1)
        part = powers @ COEFFICIENTS[:, 1 + axis :: 3].T
        total = total + part.reshape(*(-1 if a == axis else 1 for a in range(3)), 5)
    return total


def blend(places: Places) -> Floats:
    """Interpolation between the exact values on the cube's six faces, shape (x, y, z, 5)."""
    x, y, z = (_between_faces(places, axis) for axis in range(3))
    return x + y + z - x * y - y * z - z * x + x * y * z


def _between_faces(places: Places, axis: int) -> Floats:
    first, last = (
        exact(tuple(np.array([face]) if a == axis else places[a] for a in range(3)))  # type: ignore[arg-type]
        for face in (0.0, 1.0)
    )
    share = places[axis].reshape(tuple(-1 if a == axis else 1 for a in range(4)))
    return (1.0 - share) * first + share * last
