"""Which ranks talk to which: the pure shapes. Each function returns pairs (a, b) of ranks, a < b, without doubles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import combinations, product

from gridportal.base.errors import InputError

Pairs = tuple[tuple[int, int], ...]


def unique(pairs: Iterable[tuple[int, int]]) -> Pairs:
    """Each pair once, lower rank first, in order; a rank never talks to itself."""
    return tuple(sorted({(min(a, b), max(a, b)) for a, b in pairs if a != b}))


def ring(ranks: int) -> Pairs:
    """Every rank and the next, the last and the first."""
    return unique((r, (r + 1) % ranks) for r in range(ranks))


def line(ranks: int) -> Pairs:
    """Every rank and the next."""
    return unique((r, r + 1) for r in range(ranks - 1))


def all_to_all(ranks: int) -> Pairs:
    """Every pair of ranks."""
    return tuple(combinations(range(ranks), 2))


def star(ranks: int) -> Pairs:
    """Rank 0 and every other: master and workers."""
    return unique((0, r) for r in range(1, ranks))


def pairs(ranks: int) -> Pairs:
    """Ranks 0 and 1, 2 and 3, ...; an even number of ranks."""
    if ranks % 2:
        raise InputError("nodes", ranks, "an even number for the pattern pairs")
    return unique((r, r + 1) for r in range(0, ranks, 2))


def grid(dims: tuple[int, ...], *, wrap: bool) -> Pairs:
    """Neighbours on a grid of `dims`, last dimension fastest; with `wrap` the borders meet (torus).

    >>> grid((2, 2), wrap=False)
    ((0, 1), (0, 2), (1, 3), (2, 3))
    """
    return unique(_grid_pairs(dims, wrap))


def _grid_pairs(dims: tuple[int, ...], wrap: bool) -> Iterator[tuple[int, int]]:
    strides = [math.prod(dims[axis + 1 :]) for axis in range(len(dims))]
    for place in product(*(range(size) for size in dims)):
        here = sum(p * s for p, s in zip(place, strides, strict=True))
        for axis, size in enumerate(dims):
            step = (place[axis] + 1) % size
            if wrap or step:
                yield here, here + (step - place[axis]) * strides[axis]


def rows_and_columns(rows: int, columns: int) -> Pairs:
    """All ranks of each row, and all of each column, of a grid of ranks: dense linear algebra in blocks.

    >>> rows_and_columns(2, 3)
    ((0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (3, 5), (4, 5))
    """
    along_rows = (pair for row in range(rows) for pair in combinations(range(row * columns, (row + 1) * columns), 2))
    along_columns = (
        pair for column in range(columns) for pair in combinations(range(column, rows * columns, columns), 2)
    )
    return unique((*along_rows, *along_columns))


def binary_tree(ranks: int) -> Pairs:
    """Rank r and its children 2r+1 and 2r+2."""
    return unique((r, (r - 1) // 2) for r in range(1, ranks))


def binomial_tree(ranks: int) -> Pairs:
    """Rank r and its parent, r without its lowest set bit: how MPI broadcasts."""
    return unique((r, r & (r - 1)) for r in range(1, ranks))


def hypercube(ranks: int, name: str = "hypercube") -> Pairs:
    """Ranks whose numbers differ in one bit; a power of two."""
    bits = log2(ranks, name)
    return unique((r, r ^ (1 << bit)) for r in range(ranks) for bit in range(bits))


def log2(ranks: int, name: str) -> int:
    """The exponent of a power of two; InputError for any other number of ranks."""
    if ranks & (ranks - 1):
        raise InputError("nodes", ranks, f"a power of two for the pattern {name} (2, 4, 8, ...)")
    return ranks.bit_length() - 1


def most_square(ranks: int, axes: int) -> tuple[int, ...]:
    """The factors of `ranks` that lie closest together, rising.

    >>> most_square(12, 2), most_square(8, 3), most_square(7, 2)
    ((3, 4), (2, 2, 2), (1, 7))
    """
    if axes == 1:
        return (ranks,)
    divisors = [d for d in range(1, ranks + 1) if ranks % d == 0]
    options = [tuple(sorted((d, *most_square(ranks // d, axes - 1)))) for d in divisors]
    return min(options, key=lambda dims: (max(dims) - min(dims), dims))
