"""How many pairs of a pattern at least join a set of so many of its ranks to the others: its edge isoperimetry.

Exact for the shapes whose answer is known, else a bound from the Laplacian's second eigenvalue, from the degrees, and
from how many edges so many ranks can have among themselves.
Sources: Harper 1964 (hypercube); Ahlswede and Bezrukov 1995, Bollobas and Leader 1991 (grids); Fiedler 1973 (bound).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gridportal.base.errors import InputError
from scheduling.jobs.core.patterns import Pattern, named

Ints = NDArray[np.int64]
#: For larger patterns of no known shape no eigenvalue is computed: it takes O(ranks^3).
MOST_RANKS = 512


def least_cuts(pattern: Pattern) -> Ints:
    """Of s = 0..ranks at least so many of the pattern's edges have one end in a set of s ranks; 0 at both ends.

    >>> from scheduling.jobs.core.patterns import named
    >>> least_cuts(named("ring", 5)).tolist(), least_cuts(named("all-to-all", 4)).tolist()
    ([0, 2, 2, 2, 2, 0], [0, 3, 4, 3, 0])
    >>> least_cuts(named("hypercube", 8)).tolist(), least_cuts(named("mesh-2d:3x3", 9)).tolist()
    ([0, 3, 4, 5, 4, 5, 4, 3, 0], [0, 2, 3, 3, 4, 4, 3, 3, 2, 0])
    """
    found = _of_shape(pattern)
    cuts = _bounded(pattern) if found is None else found
    both: Ints = np.maximum(cuts, cuts[::-1])
    return both


def _of_shape(pattern: Pattern) -> Ints | None:
    """Of a shape whose sets are known; None for others. The edges decide, whatever the name says."""
    m, base = pattern.ranks, pattern.name.partition(":")[0]
    sizes = np.arange(m + 1)
    if pattern.is_all_to_all():
        return sizes * (m - sizes)
    if base not in ("ring", "line", "hypercube", "butterfly", "mesh-2d") or not _is_named(pattern):
        return None
    if base in ("ring", "line"):
        cuts = np.full(m + 1, min(m - 1, 2 if base == "ring" else 1))
    elif base == "mesh-2d":
        rows, columns = sorted(int(part) for part in pattern.name.partition(":")[2].split("x"))
        cuts = _of_mesh(rows, columns)
    else:
        inner = np.concatenate(([0], np.cumsum([rank.bit_count() for rank in range(m)])))
        cuts = sizes * (m.bit_length() - 1) - 2 * inner
    cuts[[0, m]] = 0
    return cuts


def _is_named(pattern: Pattern) -> bool:
    try:
        same = named(pattern.name, pattern.ranks).edges
    except InputError:
        return False
    return [edge[:2] for edge in same] == [edge[:2] for edge in pattern.edges]


def _of_mesh(rows: int, columns: int) -> Ints:
    """A corner piece has about two square roots of its size, a strip as many as the short side is long."""
    m = rows * columns
    cuts = np.zeros(m + 1, dtype=np.int64)
    for size in range(1, m):
        corner = min(math.ceil(2 * math.sqrt(piece)) for piece in (size, m - size))
        strip = min(side + (size % side > 0) for side in (rows, columns))
        cuts[size] = min(corner, strip)
    return cuts


def _bounded(pattern: Pattern) -> Ints:
    m = pattern.ranks
    sizes = np.arange(m + 1)
    degrees = np.bincount([rank for a, b, _ in pattern.edges for rank in (a, b)], minlength=m)
    least = np.concatenate(([0], np.cumsum(np.sort(degrees))))
    by_degree = least - sizes * (sizes - 1)
    if m > MOST_RANKS:
        at_least: Ints = np.maximum(by_degree, 0)
        return at_least
    laplacian = np.diag(degrees.astype(np.float64))
    for a, b, _ in pattern.edges:
        laplacian[a, b] = laplacian[b, a] = -1.0
    second = float(np.linalg.eigvalsh(laplacian)[1]) if m > 1 else 0.0
    spectral = np.ceil(second * sizes * (m - sizes) / max(m, 1) - 1e-6).astype(np.int64)
    joined = len(pattern.components()) == 1
    connected = np.where((sizes > 0) & (sizes < m) & joined, 1, 0)
    found: Ints = np.maximum.reduce([by_degree, spectral, connected, np.zeros_like(sizes)])
    return found
