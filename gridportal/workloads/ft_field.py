"""FT's initial field, its decay among the frequencies, and the checksum of a field.

Source: NAS Parallel Benchmarks, MPI version of FT (compute_initial_conditions, compute_indexmap, checksum).
"""

from __future__ import annotations

import math

import numpy as np

from gridportal.workloads.ft_slabs import Complexes
from gridportal.workloads.randlc import Floats, Stream, jump

SEED = 314159265
ALPHA = 1e-6
SAMPLES = 1024

Shape = tuple[int, int, int]


def initial_field(shape: Shape, planes: range) -> Complexes:
    """The planes `planes` of the random field, shape (len(planes), ny, nx); x runs fastest in the stream."""
    _, ny, nx = shape
    stream = Stream(jump(SEED, 2 * nx * ny * planes.start))
    field = np.empty((len(planes), ny, nx), dtype=np.complex128)
    for plane in field:
        plane.view(np.float64)[...] = stream.draw(2 * nx * ny).reshape(ny, 2 * nx)
    return field


def decay(shape: Shape, rows: range) -> Floats:
    """exp(-4 alpha pi^2 |frequency|^2), by which one time step multiplies; shape (nz, len(rows), nx)."""
    nz, ny, nx = shape
    squares = (
        _square_frequencies(nz)[:, None, None]
        + _square_frequencies(ny)[rows.start : rows.stop][None, :, None]
        + _square_frequencies(nx)[None, None, :]
    )
    return np.exp(-4.0 * ALPHA * math.pi**2 * squares)


def _square_frequencies(length: int) -> Floats:
    return ((np.arange(length) + length // 2) % length - length // 2).astype(np.float64) ** 2


def checksum(field: Complexes, shape: Shape, planes: range) -> complex:
    """The part of the checksum that lies in `planes`: the field at 1,024 points spread over the whole."""
    nz, ny, nx = shape
    j = np.arange(1, SAMPLES + 1)
    x, y, z = j % nx, 3 * j % ny, 5 * j % nz
    own = (z >= planes.start) & (z < planes.stop)
    return complex(field[z[own] - planes.start, y[own], x[own]].sum())
