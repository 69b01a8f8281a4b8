"""MG's three-dimensional process grid, and each rank's place on every level of the grids.

Arithmetic only. Source: NAS Parallel Benchmarks 3, MPI version of MG (setup). Axes count as numpy's do for
fields of shape (z, y, x), levels from the coarsest, with 2 points a side, to the finest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gridportal.workloads.rank_counts import power_of_two

Triple = tuple[int, int, int]
MOST_RANKS = 64


@dataclass(frozen=True)
class AxisPlace:
    """A rank's place along one axis of one level.

    Where a level has fewer points than the axis has ranks, each `stride`-th rank holds one and the others
    are not `alive`. On the way up from the next coarser level, a rank that is alive there `gives` what it
    interpolated to the ones that come to life and `take` it.
    """

    length: int
    alive: bool
    below: int
    above: int
    gives: bool
    takes: bool


@dataclass(frozen=True)
class Level:
    """A rank's place on one level of `points` a side; one AxisPlace for each of z, y, x."""

    points: int
    axes: tuple[AxisPlace, AxisPlace, AxisPlace]

    @property
    def alive(self) -> bool:
        return all(axis.alive for axis in self.axes)

    @property
    def shape(self) -> Triple:
        """Of a field with its halo: one point more on each side."""
        z, y, x = (axis.length + 2 for axis in self.axes)
        return z, y, x

    @property
    def partners(self) -> frozenset[int]:
        """The ranks that this one exchanges halos with."""
        return frozenset(other for axis in self.axes for other in (axis.below, axis.above))


def process_grid(ranks: int) -> Triple:
    """How many ranks stand along z, y and x: powers of two, the most along z.

    Raises InputError unless `ranks` is a power of two up to MOST_RANKS.

    >>> process_grid(2), process_grid(8), process_grid(16)
    ((2, 1, 1), (2, 2, 2), (4, 2, 2))
    """
    exponent = power_of_two(ranks, MOST_RANKS)
    x = exponent // 3
    y = (exponent - x) // 2
    return 1 << (exponent - x - y), 1 << y, 1 << x


def position(rank: int, grid: Triple) -> Triple:
    """Where `rank` stands along z, y and x; x runs fastest."""
    _, ny, nx = grid
    return rank // (nx * ny), rank // nx % ny, rank % nx


def make_levels(rank: int, ranks: int, points: int) -> list[Level]:
    """The place of `rank` on all levels, coarsest first; the finest has `points` a side, a power of two."""
    return [make_level(rank, ranks, 1 << exponent) for exponent in range(1, points.bit_length())]


def make_level(rank: int, ranks: int, points: int) -> Level:
    """The place of `rank` on the level of `points` a side."""
    grid = process_grid(ranks)
    z, y, x = (_axis_place(rank, grid, axis, points) for axis in range(3))
    return Level(points, (z, y, x))


def _axis_place(rank: int, grid: Triple, axis: int, points: int) -> AxisPlace:
    parts, at = grid[axis], position(rank, grid)[axis]
    stride, coarser_stride = (max(1, parts // fine) for fine in (points, points // 2))
    alive, alive_before = ((at + 1) % step == 0 for step in (stride, coarser_stride))
    expands = coarser_stride > stride
    ranks_to_next = math.prod(grid[axis + 1 :])
    below, above = (rank + ((at + step) % parts - at) * ranks_to_next for step in (-stride, stride))
    return AxisPlace(
        length=max(1, points // parts),
        alive=alive,
        below=below,
        above=above,
        gives=expands and alive_before,
        takes=expands and alive and not alive_before,
    )
