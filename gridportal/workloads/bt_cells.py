"""BT's multipartition: each of p^2 ranks owns p cells of the cube, one in every slice in every direction.

So all ranks work at every stage of a line solve, whichever way it runs.
Source: NAS Parallel Benchmarks, MPI version of BT (make_set). Arithmetic only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gridportal.base.errors import InputError
from gridportal.workloads.cfd.block import HALO, Block


@dataclass(frozen=True)
class Partition:
    """One rank's cells; `cells[c]` lies at `coordinates[c]` in the grid of `side`^3 cells.

    The cell after any of a rank's along an axis belongs to the one rank `successors[axis]`, the cell
    before it to `predecessors[axis]`.
    """

    side: int
    cells: tuple[Block, ...]
    coordinates: tuple[tuple[int, int, int], ...]
    successors: tuple[int, int, int]
    predecessors: tuple[int, int, int]

    def at_stage(self, axis: int, stage: int) -> int:
        """The number of this rank's one cell in slice `stage` along `axis`."""
        return next(c for c, place in enumerate(self.coordinates) if place[axis] == stage)


def make_partition(rank: int, ranks: int, size: int) -> Partition:
    """The cells of `rank` among `ranks` in a cube of `size` points a side.

    Raises InputError unless `ranks` is a square that leaves each cell enough points.

    >>> make_partition(1, 4, 12).coordinates
    ((1, 0, 0), (0, 1, 1))
    """
    side = math.isqrt(ranks)
    if side * side != ranks:
        raise InputError("ranks", ranks, "a square number such as 1, 4, 9 or 16")
    if side * HALO > size:
        raise InputError("ranks", ranks, f"fewer ranks: {size} points do not give {side} cells {HALO} points each")
    j, i = divmod(rank, side)
    places = tuple(((i + c) % side, (j - c) % side, c) for c in range(side))
    return Partition(
        side=side,
        cells=tuple(_cell(place, side, size) for place in places),
        coordinates=places,
        successors=(_rank(i + 1, j, side), _rank(i, j + 1, side), _rank(i - 1, j + 1, side)),
        predecessors=(_rank(i - 1, j, side), _rank(i, j - 1, side), _rank(i + 1, j - 1, side)),
    )


def _rank(i: int, j: int, side: int) -> int:
    return i % side + side * (j % side)


def _cell(place: tuple[int, int, int], side: int, size: int) -> Block:
    starts = [size * part // side for part in range(side + 1)]
    return Block(
        size,
        tuple(starts[part] for part in place),  # type: ignore[arg-type]
        tuple(starts[part + 1] - starts[part] for part in place),  # type: ignore[arg-type]
    )
