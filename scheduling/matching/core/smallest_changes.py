"""The smallest change of a request with which something would match: one clause that asks for less, or the clauses to
do without.

Whether something matches is asked of others. It is monotone: with more resources, and with fewer clauses about the set,
whatever matched still does. Source: ours; Set matching 2002 answers "failure" alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scheduling.matching.core.answers import ClauseReport
from scheduling.matching.core.sets.set_candidates import Mask

#: Whether some of the resources match with these clauses about the set, by their numbers.
Feasible = Callable[[Mask, Sequence[int]], bool]


def level_that_matches(short: NDArray[np.float64], is_enough: Callable[[Mask], bool]) -> float | None:
    """The highest level for which the resources that have it or more are enough; None where even all are not.

    short: of each resource, minus infinity or not a number where it does not count. Cost: the logarithm of the number
    of different levels, in questions.

    >>> level_that_matches(np.array([0.3, 0.8, 0.5, -np.inf]), lambda mask: mask.sum() >= 2)
    0.5
    """
    levels = np.unique(short[np.isfinite(short)])[::-1]
    if not len(levels) or not is_enough(short >= levels[-1]):
        return None
    low, high = 0, len(levels) - 1
    while low < high:
        middle = (low + high) // 2
        if is_enough(short >= levels[middle]):
            high = middle
        else:
            low = middle + 1
    return float(levels[low])


@dataclass(frozen=True)
class DroppedClauses:
    """Finds clauses to do without. size: how many resources there are; masks: which of them satisfy each clause about
    one resource; collective: how many clauses are about the set; they are numbered behind the others."""

    size: int
    masks: Sequence[Mask]
    collective: int
    feasible: Feasible

    def without(self, number: int) -> bool:
        """Whether something matches without one clause."""
        return self._matches([place for place in range(self._count) if place != number])

    def fewest(self) -> tuple[int, ...]:
        """Clauses without which something matches, none of which can be put back: no fewer of them do. Those that most
        resources satisfy are put back first; empty where nothing matches without any clause."""
        if not self._matches([]):
            return ()
        kept: list[int] = []
        singles = sorted(range(len(self.masks)), key=lambda place: -int(self.masks[place].sum()))
        for number in [*range(len(self.masks), self._count), *singles]:
            if self._matches([*kept, number]):
                kept.append(number)
        return tuple(number for number in range(self._count) if number not in kept)

    @property
    def _count(self) -> int:
        return len(self.masks) + self.collective

    def _matches(self, kept: Sequence[int]) -> bool:
        singles = [self.masks[number] for number in kept if number < len(self.masks)]
        rows = np.logical_and.reduce([np.ones(self.size, bool), *singles])
        return bool(rows.any()) and self.feasible(rows, [n - len(self.masks) for n in kept if n >= len(self.masks)])


def smallest_change(reports: Sequence[ClauseReport], singles: Sequence[int]) -> tuple[int, ...]:
    """Of the clauses that are each enough to change, the one that changes least, in parts of what it asks for."""
    return (min(singles, key=lambda number: (_change(reports[number]), number)),) if singles else ()


def _change(report: ClauseReport) -> float:
    """From 0, hardly anything, to 1; 2 where there is nothing but to do without the clause."""
    if report.best is None or report.asked is None:
        return 2.0
    most = max(abs(report.best), abs(report.asked))
    return min(1.0, abs(report.best - report.asked) / most) if most else 0.0
