"""The best placements of a pattern on measured pairs or on any network whose pair rates are known.

Source: Pattern 2003, figure 1, with the subgraph search that the figure leaves open.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scheduling.core.cliques import CliqueSearch
from scheduling.core.embedding import Embedding
from scheduling.core.local_search import LocalSearch
from scheduling.core.network import Floats
from scheduling.core.patterns import Pattern
from scheduling.core.threshold import Clock, Group, OutOfTime, Ranked, ThresholdSearch

QUICK_SHARE = 0.15
TICKS = 64


class PairFinder:
    """Decides whether a pattern fits on the pairs that are worth at least a level.

    rates: n x n symmetric, -inf where there is no path. Placements give the node of each rank.
    """

    def __init__(self, rates: Floats, pattern: Pattern, tick: Callable[[], None]) -> None:
        self.rates, self.pattern = rates, pattern
        upper = rates[np.triu_indices(len(rates), 1)]
        self.levels = np.unique(upper[np.isfinite(upper) | (upper == np.inf)]).tolist()
        edges = [(a, b) for a, b, _ in pattern.edges]
        self.search: CliqueSearch | Embedding = (
            CliqueSearch(pattern.ranks, tick) if pattern.is_all_to_all() else Embedding(pattern.ranks, edges, tick)
        )

    def find(self, level: float, excluded: frozenset[int]) -> Group | None:
        """A placement at this level without the excluded nodes, None when there is none."""
        joined = self.rates >= level
        if excluded:
            out = list(excluded)
            joined[out, :] = False
            joined[:, out] = False
            # Without this an isolated rank could still be put on an excluded node.
            left = np.setdiff1d(np.arange(len(joined)), out)
            found = self.search.find(joined[np.ix_(left, left)])
            return None if found is None else tuple(int(left[v]) for v in found)
        return self.search.find(joined)

    def value(self, group: Group) -> float:
        """The lowest rate among ranks that talk."""
        return min(float(self.rates[group[a], group[b]]) for a, b, _ in self.pattern.edges)


def best_on_pairs(rates: Floats, pattern: Pattern, k: int, *, clock: Clock, deadline: float) -> list[Ranked]:
    """The `k` best node sets for a pattern with at least one edge, best first; fewer when there are fewer.

    Finds: for each set a placement with the highest lowest rate, exactly, unless the clock passes `deadline`; then the
    best that was found, marked as not proved. Among placements of equal lowest rate a higher weighted sum of rates is
    preferred (local search, not proved). Placements without a path between talking ranks do not count.
    """
    started = clock()
    quick = _ticker(clock, min(deadline, started + QUICK_SHARE * (deadline - started)), every=1)
    local = LocalSearch(rates, pattern.ranks, pattern.edges, quick)
    known = local.starts() if len(rates) >= pattern.ranks else []
    finder = PairFinder(rates, pattern, _ticker(clock, deadline, every=TICKS))
    polish = LocalSearch(rates, pattern.ranks, pattern.edges, _ticker(clock, deadline, every=1))
    found = ThresholdSearch(finder, known, lambda group: _improved(polish, group)).ranked(k)
    return [Ranked(r.value, reordered(rates, pattern, r.group), r.proved) for r in found]


def reordered(rates: Floats, pattern: Pattern, group: Group) -> Group:
    """A rank order on the same nodes with a higher (lowest rate, weighted sum of rates), by local search; of equals the file's order."""
    nodes = sorted(group)
    place = {node: i for i, node in enumerate(nodes)}
    inner = LocalSearch(rates[np.ix_(nodes, nodes)], pattern.ranks, pattern.edges, lambda: None)
    better = inner.improve(tuple(place[node] for node in group))
    plain = tuple(range(len(nodes)))
    return tuple(nodes[i] for i in (plain if inner.score(plain) >= inner.score(better) else better))


def _improved(local: LocalSearch, group: Group) -> Group:
    try:
        return local.improve(group)
    except OutOfTime:
        return group


def _ticker(clock: Clock, deadline: float, *, every: int) -> Callable[[], None]:
    """A function that raises OutOfTime once the clock has passed `deadline`, and looks at it only now and then."""
    count = 0

    def tick() -> None:
        nonlocal count
        count += 1
        if count % every == 0 and clock() > deadline:
            raise OutOfTime

    return tick
