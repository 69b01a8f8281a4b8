"""The best placements of a pattern on measured pairs or on any network whose pair rates are known.

Source: Pattern 2003, figure 1, with the subgraph search that the figure leaves open.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.pairs import loops
from scheduling.selection.core.pairs.bit_rows import bit_rows
from scheduling.selection.core.pairs.cliques import CliqueSearch
from scheduling.selection.core.pairs.embedding import Embedding
from scheduling.selection.core.pairs.local_search import LocalSearch
from scheduling.selection.core.pairs.rate_sums import RateSums
from scheduling.selection.core.pairs.repair import repair
from scheduling.selection.core.threshold import Clock, Group, OutOfTime, Ranked, ThresholdSearch
from scheduling.selection.core.trees.usable_network import Bools, Floats, Ints

#: Part of the time for the exact search of the first group.
EXACT_SHARE = 0.8
LEAST_SECONDS = 0.5
#: Of so many entries of the rates (each pair has two) one says where the best level lies about; an odd number, so that
#: all columns have their turn. Of few nodes all pairs do.
SAMPLED = 127
FEW = 90


class PairFinder:
    """Decides whether a pattern fits on the pairs that are worth at least a level.

    rates: n x n symmetric, -inf where there is no path. domains: ranks x n, where each rank may stand. Placements give
    the node of each rank.
    """

    def __init__(self, rates: Floats, pattern: Pattern, tick: Callable[[], None], domains: Bools | None = None) -> None:
        self.rates, self.pattern, self.domains = rates, pattern, domains
        a, b, _ = zip(*pattern.edges, strict=True)
        self.a, self.b = np.array(a), np.array(b)
        self.cliques = CliqueSearch(pattern.ranks, tick) if pattern.is_all_to_all() and domains is None else None
        self.embedding = Embedding(pattern.ranks, [(a, b) for a, b, _ in pattern.edges], tick)

    @cached_property
    def upper(self) -> Floats:
        """The rate of every pair that has a path, once."""
        upper = self.rates[~np.tri(len(self.rates), dtype=bool)]
        return np.asarray(upper[upper > -np.inf])

    @cached_property
    def levels(self) -> Floats:
        """The values that a placement can have, rising."""
        return np.unique(self.upper)

    def sampled_levels(self) -> Floats:
        """A few of the levels, evenly from all."""
        sampled = self.rates.ravel()[::SAMPLED]
        return np.unique(sampled[sampled > -np.inf])

    def hopeful_nodes(self, level: float) -> Ints:
        """The nodes, rising, that a placement worth this level may have."""
        from scheduling.selection.core.pairs.vertex_order import hopeful_vertices

        search = self.embedding
        order, _ = hopeful_vertices(bit_rows(self.rates >= level), int(search.degree.min()), int(search.part.min()))
        return np.sort(order)

    def among(self, nodes: Sequence[int]) -> PairFinder:
        """The same for some of the nodes."""
        domains = None if self.domains is None else self.domains[:, nodes]
        return PairFinder(self.rates[np.ix_(nodes, nodes)], self.pattern, self.embedding.tick, domains)

    def find(
        self, level: float, excluded: frozenset[int], taken: Sequence[frozenset[int]], limit: int | None = None
    ) -> Group | None:
        """A placement at this level on no excluded node, if possible not on a set in `taken`.

        Raises OutOfSteps after about `limit` steps."""
        usable = np.ones(len(self.rates), dtype=bool)
        if self.domains is not None:
            usable &= self.domains.any(axis=0)
        usable[list(excluded)] = False
        if usable.all():
            return self._search(self.rates >= level, taken, self.domains, limit)
        left = np.flatnonzero(usable)
        place = {int(node): i for i, node in enumerate(left)}
        inner = [frozenset(place[node] for node in nodes) for nodes in taken if not nodes & excluded]
        allowed = None if self.domains is None else self.domains[:, left]
        found = self._search(self.rates[np.ix_(left, left)] >= level, inner, allowed, limit)
        return None if found is None else tuple(int(left[v]) for v in found)

    def _search(
        self, joined: Bools, taken: Sequence[frozenset[int]], allowed: Bools | None, limit: int | None
    ) -> Group | None:
        if self.cliques is not None:
            return self.cliques.find(joined, taken, limit)
        return self.embedding.find(joined, taken, allowed, limit)

    def alike(self, level: float, node: int) -> int:
        """Every node counts for itself."""
        return node

    def value(self, group: Group) -> float:
        """The lowest rate among ranks that talk."""
        at = np.array(group)
        return float(self.rates[at[self.a], at[self.b]].min())


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
    deadline += _seconds_to_load(clock)
    started = clock()
    tick = Ticker(clock, started + EXACT_SHARE * (deadline - started), every=1)
    finder = PairFinder(rates, pattern, tick, domains)
    local = LocalSearch(rates, pattern.ranks, pattern.edges, Ticker(clock, deadline, every=1), domains)
    first = _first(finder, local, rng)
    if first and k > 1:
        # The next groups are worth as much time as the first took, but nobody waits for their proof alone.
        now = clock()
        tick.deadline = min(deadline, now + max(LEAST_SECONDS, now - started))
        first = ThresholdSearch(finder).ranked(k, first)
    ordered = [Ranked(each.value, _in_order(finder, each.group, local.tick), each.proved) for each in first]
    return sorted(ordered, key=lambda each: -each.value)


def _first(finder: PairFinder, local: LocalSearch, rng: random.Random) -> list[Ranked]:
    """The best placement as the only element; none where there is none. Raises OutOfTime where that is not known."""
    try:
        found = _best(finder)
    except OutOfTime:
        start_groups = local.starts()
        if not start_groups:
            raise
        found = [Ranked(0.0, max(start_groups, key=finder.value), False)]
    return [_settled(finder, local, each, rng) for each in found]


def _best(finder: PairFinder) -> list[Ranked]:
    """The same, but for what chance finds. What some of the pairs say leaves few nodes and levels for the search."""
    if len(finder.rates) <= FEW:
        return ThresholdSearch(finder).ranked(1)
    finder.levels = finder.sampled_levels()
    rough = ThresholdSearch(finder).rough()
    del finder.levels
    if rough is None:
        return ThresholdSearch(finder).ranked(1)
    nodes = finder.hopeful_nodes(finder.value(rough)).tolist()
    inner = finder.among(nodes)
    inner.levels = np.unique(inner.upper[inner.upper >= finder.value(rough)])
    found = ThresholdSearch(inner, [tuple(nodes.index(node) for node in rough)]).ranked(1)
    return [Ranked(each.value, tuple(nodes[place] for place in each.group), each.proved) for each in found]


def _settled(finder: PairFinder, local: LocalSearch, found: Ranked, rng: random.Random) -> Ranked:
    """The same value if it is proved, else a higher one if chance finds one; then the sum of rates is raised."""
    group = found.group if found.proved else repair(local, found.group, rng=rng)
    value = finder.value(group)
    sums = RateSums(finder.rates, finder.pattern, finder.domains, local.tick)
    return Ranked(value, sums.raised(group, value), found.proved)


def _in_order(finder: PairFinder, group: Group, tick: Callable[[], None]) -> Group:
    """The ranks' order on these nodes with a higher sum and the same lowest rate; of equals the file's order."""
    nodes = sorted(group)
    if finder.cliques is not None:
        return tuple(nodes)
    inside = None if finder.domains is None else finder.domains[:, nodes]
    sums = RateSums(finder.rates[np.ix_(nodes, nodes)], finder.pattern, inside, tick)
    plain = tuple(range(len(nodes)))
    level = finder.value(group)
    better = sums.raised(tuple(nodes.index(node) for node in group), level)
    in_order = finder.value(tuple(nodes)) >= level and sums.may_stand(plain) and sums.sum(plain) >= sums.sum(better)
    return tuple(nodes[i] for i in (plain if in_order else better))


def reordered(rates: Floats, pattern: Pattern, group: Group) -> Group:
    """A rank order on the same nodes with a higher (lowest rate, weighted sum of rates), by local search.

    Of equals the file's order.
    """
    nodes = sorted(group)
    place = {node: i for i, node in enumerate(nodes)}
    inner = LocalSearch(rates[np.ix_(nodes, nodes)], pattern.ranks, pattern.edges, lambda: None)
    better = inner.improve(tuple(place[node] for node in group))
    plain = tuple(range(len(nodes)))
    return tuple(nodes[i] for i in (plain if inner.score(plain) >= inner.score(better) else better))


def _seconds_to_load(clock: Clock) -> float:
    """What loading the compiled loops takes, and compiling them where it is the first time: no part of a search."""
    started = clock()
    loops.load()
    return clock() - started


class Ticker:
    """Raises OutOfTime when called after `deadline`; looks at the clock at every `every`-th call only."""

    def __init__(self, clock: Clock, deadline: float, *, every: int) -> None:
        self.clock, self.deadline, self.every = clock, deadline, every
        self.count = 0

    def __call__(self) -> None:
        self.count += 1
        if self.count % self.every == 0 and self.clock() > self.deadline:
            raise OutOfTime
