"""The best placements of a pattern on measured pairs or on any network whose pair rates are known.

Source: Pattern 2003, figure 1, with the subgraph search that the figure leaves open.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np

from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.cliques import CliqueSearch
from scheduling.selection.core.embedding import Embedding
from scheduling.selection.core.local_search import LocalSearch
from scheduling.selection.core.repair import repair
from scheduling.selection.core.threshold import Clock, Group, OutOfTime, Ranked, ThresholdSearch
from scheduling.selection.core.usable_network import Bools, Floats

QUICK_SHARE = 0.15
EXACT_SHARE = 0.8
LEAST_SECONDS = 0.5
TICKS = 64


class PairFinder:
    """Decides whether a pattern fits on the pairs that are worth at least a level.

    rates: n x n symmetric, -inf where there is no path. domains: ranks x n, where each rank may stand. Placements give
    the node of each rank.
    """

    def __init__(self, rates: Floats, pattern: Pattern, tick: Callable[[], None], domains: Bools | None = None) -> None:
        self.rates, self.pattern, self.domains = rates, pattern, domains
        upper = rates[np.triu_indices(len(rates), 1)]
        self.levels = np.unique(upper[np.isfinite(upper) | (upper == np.inf)]).tolist()
        edges = [(a, b) for a, b, _ in pattern.edges]
        self.search: CliqueSearch | Embedding = (
            CliqueSearch(pattern.ranks, tick) if pattern.is_all_to_all() else Embedding(pattern.ranks, edges, tick)
        )

    def find(self, level: float, excluded: frozenset[int], taken: Sequence[frozenset[int]]) -> Group | None:
        """A placement at this level on no excluded node, if possible not on a set in `taken`."""
        usable = np.ones(len(self.rates), dtype=bool)
        if self.domains is not None:
            usable &= self.domains.any(axis=0)
        usable[list(excluded)] = False
        left = np.flatnonzero(usable)
        place = {int(node): i for i, node in enumerate(left)}
        inner = [frozenset(place[node] for node in nodes) for nodes in taken if not nodes & excluded]
        allowed = None if self.domains is None else self.domains[:, left]
        found = self.search.find(self.rates[np.ix_(left, left)] >= level, inner, allowed)
        return None if found is None else tuple(int(left[v]) for v in found)

    def alike(self, level: float, node: int) -> int:
        """Every node counts for itself."""
        return node

    def value(self, group: Group) -> float:
        """The lowest rate among ranks that talk."""
        return min(float(self.rates[group[a], group[b]]) for a, b, _ in self.pattern.edges)


def best_on_pairs(
    rates: Floats,
    pattern: Pattern,
    k: int,
    *,
    rng: random.Random,
    clock: Clock,
    deadline: float,
    domains: Bools | None = None,
) -> list[Ranked]:
    """The `k` best node sets for a pattern with at least one edge, best first; fewer when there are fewer.

    domains: boolean, ranks x nodes: where each rank may stand (a pin, a requirement of its group, a node large enough);
    None: everywhere.
    Finds: for each set a placement with the highest lowest rate, exactly, unless the clock passes `deadline`; then the
    best that was found, marked as not proved. Among placements of equal lowest rate a higher weighted sum of rates is
    preferred (local search, not proved). Placements without a path between talking ranks do not count.
    """
    started = clock()
    quick = Ticker(clock, started + QUICK_SHARE * (deadline - started), every=1)
    local = LocalSearch(rates, pattern.ranks, pattern.edges, quick, domains)
    starts = local.starts() if len(rates) >= pattern.ranks else []
    tick = Ticker(clock, started + EXACT_SHARE * (deadline - started), every=TICKS)
    search = ThresholdSearch(PairFinder(rates, pattern, tick, domains), starts)
    first = search.ranked(1)
    quick.deadline = deadline
    first = [_settled(local, r, rng) for r in first]
    # The next groups are worth as much time as the first took, but nobody waits for their proof alone.
    now = clock()
    tick.deadline = min(deadline, now + max(LEAST_SECONDS, now - started))
    found = search.ranked(k, first)
    ordered = [(reordered(rates, pattern, each.group, domains), each.proved) for each in found]
    ranked = [Ranked(local.lowest(group), group, proved) for group, proved in ordered]
    return sorted(ranked, key=lambda each: -each.value)


def reordered(rates: Floats, pattern: Pattern, group: Group, domains: Bools | None = None) -> Group:
    """A rank order on the same nodes with a higher (lowest rate, weighted sum of rates), by local search.

    Of equals the file's order. Ranks stay where `domains` (ranks x nodes) lets them.
    """
    nodes = sorted(group)
    place = {node: i for i, node in enumerate(nodes)}
    inside = None if domains is None else domains[:, nodes]
    inner = LocalSearch(rates[np.ix_(nodes, nodes)], pattern.ranks, pattern.edges, lambda: None, inside)
    better = inner.improve(tuple(place[node] for node in group))
    plain = tuple(range(len(nodes)))
    in_order = inner.allowed(np.array([plain]))[0] and inner.score(plain) >= inner.score(better)
    return tuple(nodes[i] for i in (plain if in_order else better))


def _settled(local: LocalSearch, found: Ranked, rng: random.Random) -> Ranked:
    """The same group if it is proved, else a better one if chance finds one; then the sum of rates is raised."""
    group = found.group if found.proved else repair(local, found.group, rng=rng)
    with suppress(OutOfTime):
        group = local.improve(group)
    return Ranked(local.lowest(group), group, found.proved)


class Ticker:
    """Raises OutOfTime when called after `deadline`; looks at the clock at every `every`-th call only."""

    def __init__(self, clock: Clock, deadline: float, *, every: int) -> None:
        self.clock, self.deadline, self.every = clock, deadline, every
        self.count = 0

    def __call__(self) -> None:
        self.count += 1
        if self.count % self.every == 0 and self.clock() > self.deadline:
            raise OutOfTime
