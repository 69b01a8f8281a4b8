"""Who talks to whom in the NAS Parallel Benchmarks (MPI version), from how each lays out its processes.

Source: Pattern 2003, figure 2 (dominant patterns on four ranks); process grids as in NPB's own set-up routines.
Only the dominant exchanges count: scalar reductions and MG's coarse levels are left out.
"""

from __future__ import annotations

import math

from gridportal.base.errors import InputError
from scheduling.jobs.core import shapes
from scheduling.jobs.core.shapes import Pairs


def cg(ranks: int) -> Pairs:
    """CG: on a grid of power-of-two rows and columns, the row-wise sum's partners and the transpose partner.

    >>> cg(4)
    ((0, 1), (1, 2), (2, 3))
    """
    bits = shapes.log2(ranks, "cg")
    rows = 1 << (bits // 2)
    columns = ranks // rows
    found = []
    for me in range(ranks):
        row, column = divmod(me, columns)
        span = columns
        while span > 1:
            partner = (column + span // 2) % span + column // span * span
            found.append((me, row * columns + partner))
            span //= 2
        found.append((me, _transpose_partner(me, rows, columns)))
    return shapes.unique(found)


def _transpose_partner(me: int, rows: int, columns: int) -> int:
    if rows == columns:
        return (me % rows) * rows + me // rows
    return 2 * ((me // 2 % rows) * rows + me // 2 // rows) + me % 2


def mg(ranks: int) -> Pairs:
    """MG: neighbours on a periodic 3-D grid whose sides are powers of two."""
    bits = shapes.log2(ranks, "mg")
    x = bits // 3
    y = (bits - x) // 2
    return shapes.grid((1 << (bits - x - y), 1 << y, 1 << x), wrap=True)


def lu(ranks: int) -> Pairs:
    """LU: neighbours on the most square 2-D mesh; the wavefront passes from corner to corner."""
    return shapes.grid(shapes.most_square(ranks, 2), wrap=False)


def multipartition(ranks: int, name: str) -> Pairs:
    """BT and SP: successors and predecessors in x, y and z of the multipartition; a square number of ranks.

    On four ranks this is all-to-all, as figure 2 shows.

    >>> multipartition(4, "bt") == shapes.all_to_all(4)
    True
    """
    side = math.isqrt(ranks)
    if side * side != ranks:
        raise InputError("nodes", ranks, f"a square number for the pattern {name} (1, 4, 9, 16, ...)")
    found = []
    for me in range(ranks):
        j, i = divmod(me, side)
        for di, dj in ((1, 0), (0, 1), (-1, 1)):
            found.append((me, (i + di) % side + side * ((j + dj) % side)))
    return shapes.unique(found)
