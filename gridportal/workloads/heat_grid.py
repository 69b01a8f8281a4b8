"""How the plate is cut into blocks for a 2-D grid of ranks; arithmetic only."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gridportal.base.errors import InputError
from gridportal.runtime.srs import layouts
from gridportal.runtime.srs.layouts import Layout


def process_grid(ranks: int, rows: int, columns: int) -> list[int]:
    """Rows and columns of the grid of ranks, as square as can be and never more rows than columns.

    Ranks count along its rows: the edges of the pattern `mesh-2d`, for which the nodes were chosen, are
    then the very ones that exchange halos, whatever the plate's own shape.
    Raises InputError when some rank would get no point of the rows x columns plate.

    >>> process_grid(8, 512, 512)
    [2, 4]
    """
    down = max(divisor for divisor in range(1, math.isqrt(ranks) + 1) if ranks % divisor == 0)
    across = ranks // down
    if down > rows or across > columns:
        raise InputError(
            "ranks", ranks, f"fewer ranks: {rows} x {columns} points cannot be cut into {down} x {across} blocks"
        )
    return [down, across]


def plate_layout(rows: int, columns: int, dims: Sequence[int]) -> Layout:
    """The pieces as SRS has them."""
    return layouts.shares(
        *(
            [len(range(points)[piece(points, part, parts)]) for part in range(parts)]
            for points, parts in ((rows, dims[0]), (columns, dims[1]))
        )
    )


def piece(points: int, part: int, parts: int) -> slice:
    """The points of the `part`-th of `parts` nearly equal pieces."""
    return slice(points * part // parts, points * (part + 1) // parts)
