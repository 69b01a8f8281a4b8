"""Sets to begin with where nothing is sure: the beginnings of plain orders of the candidates.

By the values of each aggregate, rising and falling, and by the ratios of two, as for a knapsack. Cost: N sets an order.
It is quick also where the library has to rank each set, which takes the greedy algorithm N sets for each step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from scheduling.matching.core.sets.greedy_sets import BestSet
from scheduling.matching.core.sets.set_candidates import Candidates
from scheduling.matching.core.sets.set_values import SetValues
from scheduling.matching.core.sets.threshold_sweep import best_beginning

#: Candidates of which values are missing are ordered one by one.
_MOST_UNCLEAN = 2_000


def best_of_orders(candidates: Candidates, values: SetValues, is_over: Callable[[], bool]) -> BestSet | None:
    """The best set that is the beginning of one of the orders; None where none meets all requirements."""
    if not candidates.size or not (candidates.is_clean or candidates.size <= _MOST_UNCLEAN):
        return None
    best: BestSet | None = None
    for order in _orders(candidates):
        if is_over():
            break
        tried = best_beginning(candidates, values, order)
        if tried is not None and (best is None or tried.rank > best.rank):
            best = tried
    return best


def _orders(candidates: Candidates) -> Iterator[NDArray[np.int64]]:
    columns = [np.broadcast_to(column.ranks, candidates.size) for column in candidates.columns]
    keys = list(columns)
    for one, other in itertools.permutations(columns, 2):
        with np.errstate(all="ignore"):
            keys.append(np.nan_to_num(one / other, nan=0.0))
    yield np.arange(candidates.size)
    for key in keys:
        order = np.argsort(-key, kind="stable")
        yield order
        yield order[::-1]
