"""LU's two-dimensional mesh of ranks: columns of the cube, cut in x and y, whole in z.

Source: NAS Parallel Benchmarks, MPI version of LU (proc_grid, subdomain). Arithmetic only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gridportal.base.errors import InputError
from gridportal.workloads.cfd.block import HALO, Block


@dataclass(frozen=True)
class Mesh:
    """One rank's place among `rows` x `columns` ranks, which count along the rows.

    x is cut along a column of the mesh and y along a row. A neighbour is None where the cube ends.
    """

    rows: int
    columns: int
    block: Block
    north: int | None
    south: int | None
    west: int | None
    east: int | None

    @property
    def partners(self) -> frozenset[int]:
        """The ranks that this one exchanges messages with."""
        return frozenset(rank for rank in (self.north, self.south, self.west, self.east) if rank is not None)


def make_mesh(rank: int, ranks: int, size: int) -> Mesh:
    """The place of `rank` among `ranks` on a mesh as square as can be, never more rows than columns.

    Raises InputError when the cube of `size` points a side is too small for so many ranks.

    >>> sorted(make_mesh(1, 4, 12).partners)
    [0, 3]
    """
    rows = max(divisor for divisor in range(1, math.isqrt(ranks) + 1) if ranks % divisor == 0)
    columns = ranks // rows
    if columns * HALO > size:
        raise InputError(
            "ranks", ranks, f"fewer ranks: {size} points do not give {columns} ranks a side {HALO} points each"
        )
    row, column = divmod(rank, columns)
    x, y = _piece(size, row, rows), _piece(size, column, columns)
    return Mesh(
        rows=rows,
        columns=columns,
        block=Block(size, (x.start, y.start, 0), (len(x), len(y), size)),
        north=rank - columns if row > 0 else None,
        south=rank + columns if row < rows - 1 else None,
        west=rank - 1 if column > 0 else None,
        east=rank + 1 if column < columns - 1 else None,
    )


def _piece(points: int, part: int, parts: int) -> range:
    return range(points * part // parts, points * (part + 1) // parts)
