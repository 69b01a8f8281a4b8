"""A block of LU's or BT's cube of points: which points it holds, its halo, its norms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gridportal.workloads.cfd.exact import Floats, Places, blend, exact

HALO = 2

Slices = tuple[slice, slice, slice]


@dataclass(frozen=True)
class Block:
    """The points start .. start + shape - 1 along each axis of a cube of `size` points a side.

    A field over the block has a halo of two layers all around: shape + 4, and 5 unknowns last.
    """

    size: int
    start: tuple[int, int, int]
    shape: tuple[int, int, int]

    @property
    def inner(self) -> Slices:
        """The points that are not on the cube's surface, counted from the block's first."""
        return tuple(
            slice(max(1 - start, 0), min(length, self.size - 1 - start))
            for start, length in zip(self.start, self.shape, strict=True)
        )  # type: ignore[return-value]

    @property
    def inner_shape(self) -> tuple[int, int, int]:
        return tuple(part.stop - part.start for part in self.inner)

    def window(self, shift: tuple[int, int, int] = (0, 0, 0)) -> Slices:
        """The inner points in a field with halo, moved by `shift` points."""
        return tuple(
            slice(part.start + HALO + by, part.stop + HALO + by) for part, by in zip(self.inner, shift, strict=True)
        )  # type: ignore[return-value]

    def places(self) -> Places:
        """Coordinates in [0, 1] along each axis, halo included; outside the cube those of its surface."""
        return tuple(
            np.clip(np.arange(start - HALO, start + length + HALO) / (self.size - 1), 0.0, 1.0)
            for start, length in zip(self.start, self.shape, strict=True)
        )  # type: ignore[return-value]

    def exact_field(self) -> Floats:
        return exact(self.places())

    def first_field(self) -> Floats:
        """What the solvers start from: blended inside, exact on the cube's surface."""
        places = self.places()
        off_surface = np.ix_(*((along > 0.0) & (along < 1.0) for along in places))
        field = exact(places)
        field[off_surface] = blend(places)[off_surface]
        return field


def squares(values: Floats) -> Floats:
    """Sums of squares of the five unknowns, shape (5,)."""
    flat = values.reshape(-1, 5)
    sums: Floats = np.einsum("pm,pm->m", flat, flat)
    return sums
