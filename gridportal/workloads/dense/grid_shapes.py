"""How many rows and columns a grid of ranks has; arithmetic only, for those who know of no MPI."""

from __future__ import annotations

import math


def grid_shape(ranks: int) -> tuple[int, int]:
    """Rows and columns of the grid of so many ranks, as square as can be and never more rows than columns.

    >>> grid_shape(4), grid_shape(6), grid_shape(7)
    ((2, 2), (2, 3), (1, 7))
    """
    rows = max(divisor for divisor in range(1, math.isqrt(ranks) + 1) if ranks % divisor == 0)
    return rows, ranks // rows
