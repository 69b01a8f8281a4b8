"""From a good set to a better one: members are added, dropped and exchanged while the rank rises.

It never returns less than what it begins with. Cost: a round tries each change once, some N times the size of the set;
after _MOST_TRIED sets it is given up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scheduling.matching.core.columns.column import Column
from scheduling.matching.core.columns.running_values import NOTHING_YET, with_value
from scheduling.matching.core.sets.greedy_sets import BestSet
from scheduling.matching.core.sets.set_candidates import Candidates
from scheduling.matching.core.sets.set_values import SetValues, sizes_of

#: Rounds of changes, each of one member.
_ROUNDS = 200
#: Sets that are tried before the search is given up; an array operation counts as so many at least.
_MOST_TRIED = 10_000_000
_LEAST_COUNTED = 2_000
#: Members that are exchanged for an explanation.
_COMPARED = 200


@dataclass(frozen=True)
class SetChange:
    """Who leaves and who joins (None: nobody), and what that comes to: clauses that are true, then the rank."""

    leaves: int | None
    joins: int | None
    score: tuple[int, float]


def improved(
    candidates: Candidates, values: SetValues, members: tuple[int, ...], is_over: Callable[[], bool]
) -> BestSet | None:
    """The best set to be reached from `members` by single changes; None where none that meets all requirements is."""
    search = _Search(candidates, values)
    chosen = np.array(members, np.int64)
    score = search.score_of(chosen)
    for _ in range(_ROUNDS):
        change = None if is_over() or search.is_spent() else search.best_change(chosen, score, is_over)
        if change is None:
            break
        chosen = _applied(chosen, change)
        score = change.score
    if not len(chosen) or score[0] < len(candidates.request.collective) or score[1] == -np.inf:
        return None
    return BestSet(tuple(chosen.tolist()), score[1])


def rejected_changes(candidates: Candidates, values: SetValues, members: NDArray[np.int64]) -> list[SetChange]:
    """The best set with one more member, with one less, and with one exchanged, each where there is one."""
    return _Search(candidates, values).best_of_each(members)


def _applied(chosen: NDArray[np.int64], change: SetChange) -> NDArray[np.int64]:
    if change.leaves is not None:
        chosen = np.delete(chosen, change.leaves)
    return chosen if change.joins is None else np.append(chosen, change.joins)


class _Search:
    """Tries changes of one set."""

    def __init__(self, candidates: Candidates, values: SetValues) -> None:
        self._candidates = candidates
        self._values = values
        self._functions = [call.function for call in candidates.request.aggregates]
        self._tried = 0

    def is_spent(self) -> bool:
        """Whether as many sets were tried as the search may take."""
        return self._tried > _MOST_TRIED

    def score_of(self, chosen: NDArray[np.int64]) -> tuple[int, float]:
        """Clauses that are true, and the rank."""
        if not len(chosen):
            return (-1, -np.inf)
        last = [column.take(np.array([len(chosen) - 1])) for column in self._candidates.running(chosen)]
        return self._best(last, np.array([len(chosen)]))[1]

    def best_change(
        self, chosen: NDArray[np.int64], score: tuple[int, float], is_over: Callable[[], bool]
    ) -> SetChange | None:
        """The change that leads highest, above `score`; with the first exchange that does, others are not tried."""
        outside = np.setdiff1d(np.arange(self._candidates.size), chosen)
        without = self._without_each(chosen)
        changes = [*self._additions(chosen, outside), *self._removals(chosen, without)]
        best = max(changes, key=lambda change: change.score, default=None)
        if best is not None and best.score > score:
            return best
        for place in range(len(chosen)):
            if is_over() or self.is_spent() or not len(outside):
                return None
            change = self._exchange(place, chosen, outside, without)
            if change.score > score:
                return change
        return None

    def best_of_each(self, chosen: NDArray[np.int64]) -> list[SetChange]:
        """The best addition, removal and exchange."""
        outside = np.setdiff1d(np.arange(self._candidates.size), chosen)
        without = self._without_each(chosen)
        exchanges = [self._exchange(place, chosen, outside, without) for place in range(min(len(chosen), _COMPARED))]
        best = max(exchanges, key=lambda change: change.score, default=None) if len(outside) else None
        others = [*self._additions(chosen, outside), *self._removals(chosen, without)]
        return others if best is None else [*others, best]

    def _exchange(
        self, place: int, chosen: NDArray[np.int64], outside: NDArray[np.int64], without: list[Column]
    ) -> SetChange:
        """The best candidate in the place of a member."""
        if not len(outside):
            return SetChange(place, None, (-1, -np.inf))
        state = [column.take(np.array([place])) for column in without]
        joins, score = self._best(self._candidates.added(state, outside), np.array([len(chosen)]))
        return SetChange(place, int(outside[joins]), score)

    def _additions(self, chosen: NDArray[np.int64], outside: NDArray[np.int64]) -> list[SetChange]:
        if not len(outside):
            return []
        last = [column.take(np.array([len(chosen) - 1])) for column in self._candidates.running(chosen)]
        place, score = self._best(self._candidates.added(last, outside), np.array([len(chosen) + 1]))
        return [SetChange(None, int(outside[place]), score)]

    def _removals(self, chosen: NDArray[np.int64], without: list[Column]) -> list[SetChange]:
        if len(chosen) < 2:
            return []
        place, score = self._best(without, np.array([len(chosen) - 1]))
        return [SetChange(place, None, score)]

    def _without_each(self, chosen: NDArray[np.int64]) -> list[Column]:
        """The values of the aggregates without the first member, without the second, and so on."""
        size = len(chosen)
        before = [_shifted(column, size) for column in self._candidates.running(chosen)]
        behind = [
            _shifted(column, size).take(np.arange(size)[::-1]) for column in self._candidates.running(chosen[::-1])
        ]
        return [
            with_value(function, first, second)
            for function, first, second in zip(self._functions, before, behind, strict=True)
        ]

    def _best(self, columns: list[Column], sizes: NDArray[np.int64]) -> tuple[int, tuple[int, float]]:
        """Which of many sets is best, and its score."""
        column = sizes_of(sizes)
        self._tried += max(_LEAST_COUNTED, self._candidates.size)
        satisfied = self._values.satisfied(columns, column)
        ranks = self._values.ranks(columns, column).ranks
        satisfied, ranks = np.broadcast_arrays(satisfied, ranks)
        most = int(satisfied.max())
        place = int(np.argmax(np.where(satisfied == most, ranks, -np.inf)))
        if satisfied[place] < most:  # no rank among those that satisfy most
            place = int(np.argmax(satisfied))
        return place, (int(satisfied[place]), float(ranks[place]))


def _shifted(column: Column, size: int) -> Column:
    """The values of a place earlier; over nothing at the first."""
    places = np.arange(size) - 1
    column = column.spread(size)
    first = NOTHING_YET.spread(size)
    moved = column.take(np.maximum(places, 0))
    kinds = np.where(places < 0, first.kinds, moved.kinds)
    return Column(kinds, moved.ints, moved.reals)
