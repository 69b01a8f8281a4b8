"""The best of all sets of a small pool, by trying each. Cost: 2^N sets, all at once."""

from __future__ import annotations

import numpy as np

from scheduling.matching.core.columns.column import Column
from scheduling.matching.core.columns.running_values import NOTHING_YET, with_value
from scheduling.matching.core.sets.greedy_sets import BestSet
from scheduling.matching.core.sets.set_candidates import Candidates
from scheduling.matching.core.sets.set_values import SetValues, sizes_of

#: Candidates of which every set is tried.
MOST = 16


def best_of_all(candidates: Candidates, values: SetValues) -> BestSet | None:
    """The set with the highest rank that meets all requirements, the smallest one of equals; None where none does."""
    columns, sizes = _all_sets(candidates)
    ranks = values.ranks(columns, sizes_of(sizes)).ranks
    meets = np.asarray(values.satisfied(columns, sizes_of(sizes)) == len(candidates.request.collective))
    scores = np.where(meets & (ranks > -np.inf) & (sizes > 0), ranks, -np.inf)
    if not len(scores) or scores.max() == -np.inf:
        return None
    best = np.flatnonzero(scores == scores.max())
    code = int(best[np.argmin(sizes[best])])
    members = tuple(number for number in range(candidates.size) if code >> number & 1)
    return BestSet(members, float(scores[code]))


def _all_sets(candidates: Candidates) -> tuple[list[Column], np.ndarray]:
    """The values of the aggregates for each set, whose number has a bit for each member; and the sizes."""
    columns = [NOTHING_YET for _ in candidates.columns]
    sizes = np.zeros(1, np.int64)
    calls = candidates.request.aggregates
    for number in range(candidates.size):
        member = np.array([number])
        for place, (call, column) in enumerate(zip(calls, candidates.columns, strict=True)):
            without = columns[place].spread(len(sizes))
            with_it = with_value(call.function, without, column.take(member)).spread(len(sizes))
            columns[place] = _joined(without, with_it)
        sizes = np.concatenate([sizes, sizes + 1])
    return columns, sizes


def _joined(first: Column, second: Column) -> Column:
    size = len(first.kinds)
    first, second = first.spread(size), second.spread(size)
    return Column(
        np.concatenate([first.kinds, second.kinds]),
        np.concatenate([first.ints, second.ints]),
        np.concatenate([first.reals, second.reals]),
    )
