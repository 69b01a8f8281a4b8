"""A pattern's edges as arrays, for whoever looks at all of them at once."""

from __future__ import annotations

import numpy as np

from scheduling.jobs.core.all_pairs import AllPairs
from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.trees.usable_network import Floats, Ints


def pattern_columns(pattern: Pattern) -> tuple[Ints, Ints, Floats]:
    """The lower and the higher rank of every edge, and its weight.

    >>> from scheduling.jobs.core.patterns import named
    >>> [column.tolist() for column in pattern_columns(named("line", 3))]
    [[0, 1], [1, 2], [1.0, 1.0]]
    """
    if isinstance(pattern.edges, AllPairs):
        low, high = np.triu_indices(pattern.ranks, 1)
        return low, high, np.ones(len(low))
    low, high = (np.array([edge[end] for edge in pattern.edges], dtype=np.int64) for end in (0, 1))
    return low, high, np.array([edge[2] for edge in pattern.edges], dtype=np.float64)


def degrees(pattern: Pattern) -> Ints:
    """With how many others each rank talks.

    >>> from scheduling.jobs.core.patterns import named
    >>> degrees(named("star", 4)).tolist(), degrees(named("all-to-all", 3)).tolist()
    ([3, 1, 1, 1], [2, 2, 2])
    """
    if pattern.is_all_to_all():
        return np.full(pattern.ranks, pattern.ranks - 1, dtype=np.int64)
    low, high, _ = pattern_columns(pattern)
    return np.bincount(np.concatenate([low, high]), minlength=pattern.ranks)
