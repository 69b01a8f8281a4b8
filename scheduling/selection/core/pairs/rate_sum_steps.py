"""The inner loop of `RateSums`. Loops for `compiled`."""

from __future__ import annotations

import numpy as np

from scheduling.selection.core.compiled import compiled
from scheduling.selection.core.trees.usable_network import Bools, Floats, Ints


@compiled
def raise_sum(
    at: Ints, rates: Floats, beside: Ints, weight: Floats, degree: Ints, domains: Bools, level: float, least: float
) -> bool:
    """Change `at`, the node of each rank, by the move of one rank or the exchange of two that adds most to the weighted
    sum, with every rate at `level` at least; False when none adds more than `least`.

    beside, weight: the partners of each rank and what counts with each; degree: how many. domains: ranks x nodes.
    """
    ranks, nodes = domains.shape
    free = np.ones(nodes, np.bool_)
    free[at] = False
    most, mover, target, other = least, -1, -1, -1
    for r in range(ranks):
        now = _sum_at(r, at[r], at, rates, beside, weight, degree, level)
        for v in range(nodes):
            if free[v] and domains[r, v]:
                gain = _sum_at(r, v, at, rates, beside, weight, degree, level) - now
                if gain > most:
                    most, mover, target, other = gain, r, v, -1
        for s in range(r):
            if domains[r, at[s]] and domains[s, at[r]]:
                gain = -now - _sum_at(s, at[s], at, rates, beside, weight, degree, level)
                at[r], at[s] = at[s], at[r]
                gain += _sum_at(r, at[r], at, rates, beside, weight, degree, level)
                gain += _sum_at(s, at[s], at, rates, beside, weight, degree, level)
                at[r], at[s] = at[s], at[r]
                if gain > most:
                    most, mover, target, other = gain, r, at[s], s
    if mover < 0:
        return False
    if other >= 0:
        at[other] = at[mover]
    at[mover] = target
    return True


@compiled
def _sum_at(
    rank: int, node: int, at: Ints, rates: Floats, beside: Ints, weight: Floats, degree: Ints, level: float
) -> float:
    """Of a rank's rates to its partners if it stood on a node, by weight; -inf where one is below the level. What is
    infinite counts nothing."""
    total = 0.0
    for i in range(degree[rank]):
        rate = rates[node, at[beside[rank, i]]]
        if rate < level:
            return -np.inf
        if rate < np.inf:
            total += weight[rank, i] * rate
    return total
