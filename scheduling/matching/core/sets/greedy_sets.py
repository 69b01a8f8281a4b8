"""The greedy way to a good set, as the paper has it.

Always the resource is added with which the rank is highest, to the end of the pool; of the sets on the way the best one
that meets the requirements is taken. It promises no optimum: on balanced ranks it was up to 58 % off. Cost: N sets of N
candidates, a few array operations each. Source: Set matching 2002, 2.3; its LastRank of -1 would refuse negative ranks,
so here it begins below all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scheduling.matching.core.columns.column import Column
from scheduling.matching.core.sets.set_candidates import Candidates
from scheduling.matching.core.sets.set_values import SetValues, sizes_of


@dataclass(frozen=True)
class BestSet:
    """Members as places among the candidates, in the order in which they were added; the rank of the set."""

    members: tuple[int, ...]
    rank: float


@dataclass(frozen=True)
class GreedyWay:
    """All that the greedy algorithm went by.

    order: the candidates as they were added. ranks, satisfied: of the first, the first two, ...; `satisfied` counts
    clauses. is_whole: False where time ended it before the pool did.
    """

    order: NDArray[np.int64]
    ranks: NDArray[np.float64]
    satisfied: NDArray[np.int64]
    is_whole: bool
    clauses: int

    @property
    def best(self) -> BestSet | None:
        """The highest rank that meets all requirements, of the smallest set that has it."""
        meets = (self.satisfied == self.clauses) & (self.ranks > -np.inf)
        if not meets.any():
            return None
        place = int(np.argmax(np.where(meets, self.ranks, -np.inf)))
        return BestSet(tuple(self.order[: place + 1].tolist()), float(self.ranks[place]))


def greedy(candidates: Candidates, values: SetValues, is_over: Callable[[], bool]) -> GreedyWay:
    """The way through all candidates. `is_over`: whether time is up; asked before each step but the
    first, so that there is a set where one resource is enough."""
    left = np.arange(candidates.size)
    state = candidates.nothing()
    order: list[int] = []
    kept: list[list[Column]] = []
    while len(left) and not (order and is_over()):
        tried = candidates.added(state, left)
        ranks = values.ranks(tried, sizes_of(np.array([len(order) + 1]))).ranks
        place = int(np.argmax(ranks))
        order.append(int(left[place]))
        state = [column.take(np.array([place])) for column in tried]
        kept.append(state)
        left = np.delete(left, place)
    return _way(candidates, values, np.array(order, np.int64), kept)


def _way(candidates: Candidates, values: SetValues, order: NDArray[np.int64], kept: list[list[Column]]) -> GreedyWay:
    clauses = len(candidates.request.collective)
    if not kept:
        return GreedyWay(order, np.zeros(0), np.zeros(0, np.int64), not candidates.size, clauses)
    columns = [Column.of([state[number].value(0) for state in kept]) for number in range(len(candidates.columns))]
    sizes = sizes_of(np.arange(1, len(order) + 1))
    ranks = np.array(np.broadcast_to(values.ranks(columns, sizes).ranks, len(order)))
    satisfied = np.array(np.broadcast_to(values.satisfied(columns, sizes), len(order)))
    return GreedyWay(order, ranks, satisfied, len(order) == candidates.size, clauses)
