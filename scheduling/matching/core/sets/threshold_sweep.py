"""The best set of all where rank and requirements are monotone in their aggregates, without trying all sets.

A set that is best has some lowest value of each Min that should be high, and some highest value of each Max that
should be low: the thresholds. For given thresholds, of the candidates that keep them,
- all are best where each more of them can only help (sums of what is not negative that should be high, ...);
- else, with one Sum beside the thresholds and the number of members, the k with the best values are best for each k.
So each combination of thresholds needs one order of the candidates, and all its beginnings are tried at once. That is
exact, for the aggregates of a set that keeps the thresholds are no worse than theirs. Cost: with one threshold and
the first case N log N, else N for each combination of thresholds, at most MOST_STEPS together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scheduling.matching.core.columns.column import Column
from scheduling.matching.core.sets.greedy_sets import BestSet
from scheduling.matching.core.sets.monotone import DOWN, MIXED, SIZE, UP, Key, Shape, Shapes, merged
from scheduling.matching.core.sets.set_candidates import Candidates
from scheduling.matching.core.sets.set_values import SetValues, sizes_of

#: Candidates times combinations of thresholds; a tenth of it where the outcome is only a start for changes.
MOST_STEPS = 200_000_000

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Sweep:
    """How the sets to try are found.

    thresholds: of each Min or Max that gives one, the values of the candidates, to be high. order: by what the
    candidates that keep them are sorted, the highest first; None where all of them are best. is_exact: whether the
    best set is surely among those tried.
    """

    thresholds: tuple[Numbers, ...]
    order: Numbers | None
    is_exact: bool


def limits_of(candidates: Candidates) -> dict[Key, tuple[float, float]]:
    """The lowest and the highest value that each aggregate can have over any set of the candidates, one at least."""
    limits: dict[Key, tuple[float, float]] = {SIZE: (1.0, float(candidates.size))}
    for call, column in zip(candidates.request.aggregates, candidates.columns, strict=True):
        values = np.broadcast_to(column.as_reals, candidates.size)
        low, high = float(values.min()), float(values.max())
        if call.function == "sum":
            below, above = float(values[values < 0].sum()), float(values[values > 0].sum())
            low, high = (below if below < 0 else low), (above if above > 0 else high)
        limits[call] = (low, high)
    return limits


def plan(candidates: Candidates) -> Sweep:
    """What to sweep for a request. Its `is_exact` says whether the outcome is the optimum."""
    request = candidates.request
    if not candidates.is_clean or not candidates.size:
        return Sweep((), None, False)
    shapes = Shapes(request, limits_of(candidates))
    rank = Shape(0, 0, {}) if request.rank is None else shapes.of(request.rank)
    clauses = [shapes.of(clause) for clause in request.collective]
    sure = [shape for shape in [rank, *clauses] if shape is not None]
    directions = merged(*(shape.directions for shape in sure))
    wanted = _Wanted(candidates, directions)
    is_exact = len(sure) == len(clauses) + 1 and wanted.is_exact
    if not wanted.sums and not wanted.wants_more and len(wanted.thresholds) == 1:
        return Sweep((), wanted.thresholds[0], is_exact)  # those that keep most thresholds
    return Sweep(wanted.thresholds, wanted.order, is_exact)


class _Wanted:
    """What rank and requirements want of the candidates, from where they want the aggregates to go."""

    def __init__(self, candidates: Candidates, directions: dict[Key, int]) -> None:
        thresholds: list[Numbers] = []
        self.sums: list[tuple[Numbers, int]] = []
        self.is_mixed = self.wants_more = False
        for call, column in zip(candidates.request.aggregates, candidates.columns, strict=True):
            values, direction = np.broadcast_to(column.as_reals, candidates.size), directions.get(call)
            if direction is None:
                continue
            if call.function == "sum":
                self.sums.append((values, direction))
            elif direction == (UP if call.function == "min" else DOWN):
                thresholds.append(values * direction)
            else:
                self.is_mixed |= direction == MIXED
                self.wants_more |= direction != MIXED
        self.thresholds = tuple(thresholds)
        is_any_size = directions.get(SIZE, UP) == UP
        self.is_growing = is_any_size and all(_only_helps(values, way) for values, way in self.sums)

    @property
    def order(self) -> Numbers | None:
        """By what candidates are taken; None where all help."""
        if self.is_growing:
            return None
        return (
            self.sums[0][0] * (self.sums[0][1] or UP) if self.sums else self.thresholds[0] if self.thresholds else None
        )

    @property
    def is_exact(self) -> bool:
        """Whether the sets that are tried have the best one among them."""
        if self.is_mixed:
            return False
        if self.is_growing:
            return True
        return not self.wants_more and len(self.sums) <= 1 and all(way != MIXED for _, way in self.sums)


def _only_helps(values: Numbers, way: int) -> bool:
    """Whether one more in a sum can do no harm, whichever it is."""
    return not values.any() or (way != MIXED and bool((values * way >= 0).all()))


def sweep(
    candidates: Candidates, values: SetValues, way: Sweep, is_over: Callable[[], bool]
) -> tuple[BestSet | None, bool]:
    """The best set of those that the way leads to, the smallest of equals, and whether it is the optimum."""
    best: BestSet | None = None
    orders, is_all = _orders(candidates.size, way)
    for members in orders:
        if is_over() or values.is_slow:
            return best, False
        found = best_beginning(candidates, values, members)
        if found is not None and (best is None or (found.rank, -len(found.members)) > (best.rank, -len(best.members))):
            best = found
    return best, way.is_exact and is_all


def _orders(size: int, way: Sweep) -> tuple[Iterator[NDArray[np.int64]], bool]:
    """The candidates of each combination of thresholds, in the order to try them; and whether these are all."""
    if way.order is None:
        inner, outer = way.thresholds[:1], way.thresholds[1:]
        key = inner[0] if inner else np.zeros(size)
    else:
        key, outer = way.order, way.thresholds
    order = np.argsort(-key, kind="stable")
    levels = [np.unique(threshold)[::-1] for threshold in outer]
    most = max(1, (MOST_STEPS if way.is_exact else MOST_STEPS // 10) // max(1, size))
    is_all = math.prod(map(len, levels)) <= most
    if not is_all:
        each = max(1, int(most ** (1 / len(levels))))
        levels = [level[np.linspace(0, len(level) - 1, min(each, len(level))).astype(int)] for level in levels]
    combinations = itertools.product(*levels)
    return (order[_kept(size, outer, combination)[order]] for combination in combinations), is_all


def _kept(size: int, thresholds: tuple[Numbers, ...], combination: tuple[float, ...]) -> NDArray[np.bool_]:
    mask = np.ones(size, bool)
    for values, threshold in zip(thresholds, combination, strict=True):
        mask &= values >= threshold
    return mask


def best_beginning(candidates: Candidates, values: SetValues, members: NDArray[np.int64]) -> BestSet | None:
    """The best of the sets of the first member, the first two, and so on."""
    if not len(members):
        return None
    columns: list[Column] = candidates.running(members)
    sizes = sizes_of(np.arange(1, len(members) + 1))
    ranks = values.ranks(columns, sizes).ranks
    meets = values.satisfied(columns, sizes) == len(candidates.request.collective)
    scores = np.broadcast_to(np.where(meets, ranks, -np.inf), len(members))
    place = int(np.argmax(scores))
    if scores[place] == -np.inf:
        return None
    return BestSet(tuple(members[: place + 1].tolist()), float(scores[place]))
