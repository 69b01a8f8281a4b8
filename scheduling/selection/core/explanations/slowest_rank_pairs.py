"""The slowest of the pairs of ranks that talk from node to node: of millions only as many as are told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.pattern_columns import pattern_columns
from scheduling.selection.core.trees.usable_network import Floats, Ints


@dataclass(frozen=True)
class RankPairs:
    """Pairs of ranks, the lower one first, with the weight and the rate (bit/s) of each."""

    low: Ints
    high: Ints
    weight: Floats
    rate: Floats


def slowest_rank_pairs(pattern: Pattern, at: Ints, rates: Floats, most: int) -> RankPairs:
    """At most so many pairs that talk, the slowest first; of equals the one with more weight, then the first ranks.

    at: the node of each rank; rates: nodes x nodes, symmetric. Pairs inside a node take no link and are left out. Cost:
    O(edges); where all pairs talk alike O(nodes^2 + ranks^2 / 100), and no array of all pairs is made.
    """
    if pattern.is_uniform and pattern.edges:
        low, high = _of_uniform(at, rates, most)
        weight = np.full(len(low), pattern.edges[0][2])
    else:
        low, high, weight = pattern_columns(pattern)
        between = at[low] != at[high]
        low, high, weight = low[between], high[between], weight[between]
    rate = rates[at[low], at[high]]
    order = np.lexsort((high, low, -weight, rate))[:most]
    return RankPairs(low[order], high[order], weight[order], rate[order])


def _of_uniform(at: Ints, rates: Floats, most: int) -> tuple[Ints, Ints]:
    """Pairs among which the slowest are: all that are slower than a level, and enough of those at it."""
    level = _level(np.bincount(at, minlength=len(rates)), rates, most)
    found, at_level = [np.zeros((2, 0), dtype=np.int64)], 0
    slower, equal = rates < level, rates == level
    for part in (slower, equal):
        np.fill_diagonal(part, val=False)
    has_slower, has_equal = np.any(slower, axis=1)[at], np.any(equal, axis=1)[at]
    for rank in np.flatnonzero(has_slower | has_equal).tolist():
        if at_level >= most and not has_slower[rank]:
            continue
        after = at[rank + 1 :]
        take = slower[at[rank], after]
        if at_level < most:
            also = equal[at[rank], after]
            at_level += int(also.sum())
            take = take | also
        others = np.flatnonzero(take) + rank + 1
        found.append(np.stack([np.full(len(others), rank), others]))
    low, high = np.concatenate(found, axis=1)
    return low, high


def _level(ranks: Ints, rates: Floats, most: int) -> float:
    """The rate of the last of the slowest pairs; that of the fastest where there are not so many."""
    low, high = np.triu_indices(len(rates), 1)
    if not len(low):
        return np.inf
    order = np.argsort(rates[low, high], kind="stable")
    count = np.cumsum((ranks[low] * ranks[high])[order])
    last = min(int(np.searchsorted(count, most)), len(order) - 1)
    return float(rates[low, high][order[last]])
