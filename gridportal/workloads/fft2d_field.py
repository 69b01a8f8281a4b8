"""A field whose two-dimensional Fourier transform is known exactly, and what repeated transforms make of it.

The field is a^row b^column. The transform of a geometric sequence is a geometric sum, so every value of the
spectrum is known. Scaled to keep the norm, the transform applied twice reverses the field, and applied four
times gives it back; leaving the result transposed each time changes rows and columns and nothing else.
"""

from __future__ import annotations

import cmath
import math

import numpy as np

from gridportal.workloads.fft2d_slabs import Complexes

# Along rows and columns, per field: how the logarithm grows. Two different ones, so that a wrong transpose shows.
GROWTH = (-2.0 + 1.3j, -1.0 - 7.7j)


def exact_rows(own: range, size: int, transforms: int) -> Complexes:
    """The rows `own` of the field after `transforms` transforms, each with its transpose; (len(own), size)."""
    along_rows, along_columns = (_sequence(growth, size, transforms) for growth in GROWTH)
    if transforms % 2:
        along_rows, along_columns = along_columns, along_rows
    return along_rows[own.start : own.stop, None] * along_columns


def _sequence(growth: complex, size: int, transforms: int) -> Complexes:
    index = np.arange(size)
    if transforms % 4 >= 2:
        index = -index % size
    step = growth / size
    powers: Complexes = np.exp(step * index)
    if transforms % 2 == 0:
        return powers
    waves: Complexes = np.exp(step - 2j * math.pi * index / size)
    sums: Complexes = (1.0 - cmath.exp(growth)) / (1.0 - waves) / math.sqrt(size)
    return sums
