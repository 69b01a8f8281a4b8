"""Set matching: the best set of resources for a request, how sure that is, and what was on the way.

By what the request is: the best single resource where it is not about sets; every set of a small pool; the threshold
sweep where rank and requirements are monotone; else the paper's greedy algorithm, then single changes while they help.
Source: Set matching 2002, 2.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from scheduling.matching.core.columns.pair_evaluation import Pool
from scheduling.matching.core.language.ad_syntax import Attribute, Literal, Record
from scheduling.matching.core.sets import every_set
from scheduling.matching.core.sets.greedy_sets import BestSet, GreedyWay, greedy
from scheduling.matching.core.sets.improvement import improved
from scheduling.matching.core.sets.library_port import AdLibrary
from scheduling.matching.core.sets.plain_orders import best_of_orders
from scheduling.matching.core.sets.rank_bounds import rank_bound
from scheduling.matching.core.sets.set_candidates import (
    Candidates,
    Filtered,
    PairValues,
    candidates,
    filtered,
    single_ranks,
)
from scheduling.matching.core.sets.set_request import RANK, SetRequest
from scheduling.matching.core.sets.set_values import SetValues
from scheduling.matching.core.sets.threshold_sweep import plan, sweep

#: Per cent of a rank within which a bound may be above it by the rounding of sums alone.
_ROUNDING = 1e-9


class Method(StrEnum):
    """How a set was found."""

    SINGLE = "single"
    EVERY_SET = "every-set"
    SWEEP = "sweep"
    GREEDY = "greedy"
    IMPROVED = "improved"


def gap_percent(rank: float | None, bound: float | None) -> float | None:
    """How far a rank is below a bound, in per cent of the larger of the two amounts; None where one is not known, and
    where 0 lies between them: of what is nearly nothing per cent say nothing.

    >>> gap_percent(75.0, 100.0), gap_percent(-100.0, -75.0), gap_percent(0.0, 0.0), gap_percent(3.0, None)
    (25.0, 25.0, 0.0, None)
    >>> gap_percent(-0.01, 0.0) is None
    True
    """
    if rank is None or bound is None or rank < 0 <= bound:
        return None
    most = max(abs(rank), abs(bound))
    return max(0.0, 100.0 * (bound - rank) / most) if most else 0.0


@dataclass(frozen=True)
class SetMatch:
    """The outcome.

    members: places in the pool, in the order of the set; empty where nothing matches. rank: None then. exact: whether
    no set is better (or none matches at all). bound: no set has a higher rank; None where nothing is known.
    greedy_rank: what the paper's algorithm came to, where it was run. filtered, found: what the search worked on, for
    explanations.
    """

    members: tuple[int, ...]
    rank: float | None
    exact: bool
    bound: float | None
    method: Method
    filtered: Filtered
    search: SetSearch | None = None
    greedy_rank: float | None = None

    @property
    def gap(self) -> float | None:
        """By how much the rank may be below the best: see `gap_percent`."""
        return gap_percent(self.rank, self.bound)


@dataclass(frozen=True)
class SetSearch:
    """A request with the candidates that sets are made of."""

    request: SetRequest
    candidates: Candidates
    values: SetValues


def match(
    request_ad: Record, pool: Pool, library: AdLibrary, *, is_over: Callable[[], bool] = lambda: False
) -> SetMatch:
    """The best set for a request. `is_over`: whether time is up; then it is the best so far. Raises InputError."""
    request = SetRequest(request_ad, pool)
    request.check()
    pairs = PairValues(request, library)
    kept = filtered(request, pairs)
    if not request.is_set:
        return _single(request, pairs, kept)
    search = _search_among(request, pairs, kept, library)
    best, exact, method, greedy_rank = _search(search, is_over)
    bound = _bound(search, best, exact=exact)
    if best is not None and (gap := gap_percent(best.rank, bound)) is not None and gap <= _ROUNDING:
        exact, bound = True, best.rank
    members = () if best is None else tuple(kept.rows[list(best.members)].tolist())
    return SetMatch(members, None if best is None else best.rank, exact, bound, method, kept, search, greedy_rank)


def passes_without_rank(outcome: SetMatch, library: AdLibrary, *, is_over: Callable[[], bool] = lambda: False) -> bool:
    """Whether a set satisfies all requirements where `outcome` has none: then its rank alone is no number.

    The resources are not filtered again.
    """
    if outcome.search is None:
        return False
    ranked = outcome.search.request
    request = SetRequest(Record({**ranked.ad.attributes, RANK: Attribute(RANK, Literal(0))}), ranked.pool)
    search = _search_among(request, PairValues(request, library), outcome.filtered, library)
    return _search(search, is_over)[0] is not None


def _search_among(request: SetRequest, pairs: PairValues, kept: Filtered, library: AdLibrary) -> SetSearch:
    return SetSearch(request, candidates(request, pairs, kept.rows), SetValues(request, library))


def _single(request: SetRequest, pairs: PairValues, kept: Filtered) -> SetMatch:
    """The resource with the highest rank; the first of equals. A rank that is no number counts as the lowest."""
    if not len(kept.rows):
        return SetMatch((), None, True, None, Method.SINGLE, kept)
    ranks = np.broadcast_to(single_ranks(request, pairs).ranks, request.pool.size)[kept.rows]
    place = int(np.argmax(ranks))
    rank = float(ranks[place]) if ranks[place] > -np.inf else 0.0
    return SetMatch((int(kept.rows[place]),), rank, True, rank, Method.SINGLE, kept)


def _search(search: SetSearch, is_over: Callable[[], bool]) -> tuple[BestSet | None, bool, Method, float | None]:
    if search.candidates.size <= every_set.MOST:
        return every_set.best_of_all(search.candidates, search.values), True, Method.EVERY_SET, None
    way = plan(search.candidates)
    swept: BestSet | None = None
    if way.is_exact or way.thresholds or way.order is not None:
        swept, is_optimum = sweep(search.candidates, search.values, way, is_over)
        if is_optimum:
            return swept, True, Method.SWEEP, None
    return _greedy_and_better(search, swept, is_over)


def _greedy_and_better(
    search: SetSearch, swept: BestSet | None, is_over: Callable[[], bool]
) -> tuple[BestSet | None, bool, Method, float | None]:
    """The paper's greedy set, or one that is better: swept, or reached by single changes."""
    ordered = best_of_orders(search.candidates, search.values, is_over)
    way = greedy(search.candidates, search.values, is_over)
    first, method = way.best, Method.GREEDY
    best = first
    starts = [start for start in (first, swept, ordered) if start is not None]
    for members in [start.members for start in starts] or [_most_satisfied(way)]:
        better = improved(search.candidates, search.values, members, is_over) if members else None
        for each in (better, swept, ordered):
            if each is not None and (best is None or each.rank > best.rank):
                best, method = each, Method.IMPROVED
    return best, False, method, None if first is None else first.rank


def _most_satisfied(way: GreedyWay) -> tuple[int, ...]:
    """Of the sets that the greedy algorithm went by the one that satisfies most clauses."""
    if not len(way.order):
        return ()
    return tuple(way.order[: int(np.argmax(way.satisfied)) + 1].tolist())


def _bound(search: SetSearch, best: BestSet | None, *, exact: bool) -> float | None:
    if exact:
        return None if best is None else best.rank
    bound = rank_bound(search.candidates)
    if not math.isfinite(bound):
        return None
    return bound if best is None else max(bound, best.rank)
