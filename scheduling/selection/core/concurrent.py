"""Placements whose pairs all talk at once: the highest least rate when flows share links.

Source: Selection 1999, 3.4, names simultaneous streams as the limit of selection by pairs; here they are the objective.
On a tree the objective by pairs makes every connected pattern worth the same; this one tells a ring from all-to-all.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core import symmetry
from scheduling.selection.core.link_crossings import LinkCrossings
from scheduling.selection.core.threshold import Group, OutOfTime, Ranked

EXACT_RANKS = 64
STARTS = 16
STEPS = 2000


def best_concurrent(
    crossings: LinkCrossings,
    pattern: Pattern,
    k: int,
    start_groups: Sequence[Group],
    *,
    rng: random.Random,
    tick: Callable[[], None],
    last: Callable[[], None],
) -> list[Ranked]:
    """The `k` best node sets, each with its best order of ranks, by the least max-min rate over the pattern's edges.

    Finds: the optimum, proved by branch and bound, when `tick` does not raise OutOfTime before it ends; else the best
    that the part of the search that was done and local search (until `last` raises it) have found, marked as not
    proved unless the nodes' own links allow no more. Of equal value the one with the highest mean comes first, as
    far as single steps lead there.
    Both directions of every edge are flows, and a node binds by its cap (see LinkCrossings). `start_groups`: placements
    to start from. Raises OutOfTime when time ended before there was one. Cost: exponential at worst; nodes on one
    switch with equal links count as one kind, and ranks that the pattern cannot tell apart are tried in one order only.
    """
    search = _Search(crossings, pattern, k, tick)
    local = _Local(search, rng, last)
    local.climb([*start_groups, *search.greedy()])
    proved = search.run()
    if not proved:
        local.wander()
        proved = search.cannot_be_better()
    if not proved and not search.found:
        raise OutOfTime
    return [Ranked(value, group, proved) for value, group in local.settled(search.ranking())]


@dataclass
class _Search:
    """Branch and bound over ranks, busiest first; a partial placement is worth at most what its links give by now."""

    crossings: LinkCrossings
    pattern: Pattern
    k: int
    tick: Callable[[], None]
    found: dict[frozenset[int], tuple[float, Group]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.floor = -math.inf  # the value of the k-th best node set that is known: what others must exceed
        self.edges = tuple((a, b) for a, b, _ in self.pattern.edges)
        self.beside = symmetry.neighbours(self.pattern.ranks, self.edges)
        self.order = _growth(self.beside)
        self.kinds = self._kinds()
        self.kind = {node: number for number, nodes in enumerate(self.kinds) for node in nodes}
        self.access = {
            degree: [self.crossings.access(nodes[0], degree) if degree else math.inf for nodes in self.kinds]
            for degree in {len(others) for others in self.beside}
        }

    def _kinds(self) -> list[list[int]]:
        """Nodes that no flow can tell apart, those with the best links first; in each the one with most cpu first."""
        groups: dict[tuple[object, ...], list[int]] = {}
        usable = self.crossings.usable
        for node in sorted(range(len(usable)), key=lambda n: (-usable[n].cpu * usable[n].speed, n)):
            groups.setdefault(self.crossings.equivalence_key(node), []).append(node)
        return sorted(groups.values(), key=lambda nodes: (-self.crossings.access(nodes[0], 1), nodes[0]))

    def keep(self, group: Group, value: float) -> None:
        """Remember a placement if it is the best on its node set."""
        if value == -math.inf:
            return
        names = frozenset(group)
        if names not in self.found or self.found[names][0] < value:
            self.found[names] = (value, group)
            values = sorted((one for one, _ in self.found.values()), reverse=True)
            self.floor = values[self.k - 1] if len(values) >= self.k else -math.inf

    def ranking(self) -> list[tuple[float, Group]]:
        """The best `k` node sets of all that are known, and of those that differ in nodes of one kind only."""
        best = sorted(self.found.values(), key=lambda one: (-one[0], sorted(one[1])))[: self.k]
        every: dict[frozenset[int], tuple[float, Group]] = {}
        for value, group in best:
            for other in [group, *self._alike(group)]:
                every.setdefault(frozenset(other), (value, other))
        return sorted(every.values(), key=lambda one: -one[0])[: self.k]

    def _alike(self, group: Group) -> list[Group]:
        """Up to `k` placements on other nodes of the same kinds."""
        found = []
        for rank, node in enumerate(group):
            for other in self.kinds[self.kind[node]][: len(group) + self.k]:
                if other not in group:
                    found.append((*group[:rank], other, *group[rank + 1 :]))
                if len(found) == self.k:
                    return found
        return found

    def greedy(self) -> list[Group]:
        """Placements grown from a node of each of the first kinds: every rank where it does least harm. As many as
        there is time for."""
        found: list[Group] = []
        with suppress(OutOfTime):
            for start in range(min(STARTS, len(self.kinds))):
                group = self._grown(start)
                if group is not None:
                    found.append(group)
        return found

    def _grown(self, start: int) -> Group | None:
        at: dict[int, int] = {}
        free = [list(nodes) for nodes in self.kinds]
        load: dict[int, int] = {}
        for place, rank in enumerate(self.order):
            options = [start] if place == 0 else [number for number, nodes in enumerate(free) if nodes]
            worth = {number: self._worth(rank, free[number][0], at, load) for number in options if free[number]}
            best = max(
                worth, key=lambda number: (worth[number], self.access[len(self.beside[rank])][number]), default=-1
            )
            if best < 0 or worth[best][0] == -math.inf:
                return None
            at[rank] = free[best].pop(0)
            for arc in self._arcs(rank, at[rank], at) or ():
                load[arc] = load.get(arc, 0) + 1
        return tuple(at[rank] for rank in range(self.pattern.ranks))

    def _worth(self, rank: int, node: int, at: dict[int, int], load: dict[int, int]) -> tuple[float, int]:
        self.tick()
        arcs = self._arcs(rank, node, at)
        if arcs is None:
            return -math.inf, 0
        more: dict[int, int] = {}
        for arc in arcs:
            more[arc] = more.get(arc, load.get(arc, 0)) + 1
        rate = min((self.crossings.rate(arc, n) for arc, n in more.items()), default=math.inf)
        return min(rate, self.crossings.caps[node]), -len(arcs)

    def _arcs(self, rank: int, node: int, at: dict[int, int]) -> list[int] | None:
        """The link directions that a rank on a node adds, with repetitions; None when a partner has no way to it."""
        found: list[int] = []
        for other in self.beside[rank]:
            if other in at and other != rank:
                arcs = self.crossings.pair(node, at[other])
                if arcs is None:
                    return None
                found += arcs
        return found

    def run(self) -> bool:
        """Search everything that could be better than what is known; whether that ended in time."""
        if self.pattern.ranks > EXACT_RANKS:
            return self.cannot_be_better()
        before: dict[int, list[int]] = {rank: [] for rank in range(self.pattern.ranks)}
        after: dict[int, list[int]] = {rank: [] for rank in range(self.pattern.ranks)}
        for rank, others in symmetry.rank_order(self.pattern.ranks, self.edges):
            for other in others:
                before[other].append(rank)
                after[rank].append(other)
        self.before, self.after = before, after
        try:
            self._place(0, {}, {}, [0] * len(self.kinds), math.inf)
        except OutOfTime:
            return self.cannot_be_better()
        return True

    def cannot_be_better(self) -> bool:
        """Whether even nodes that met nobody on the way could not exceed what is known."""
        return len(self.found) >= self.k and self._bound() <= self.floor

    def _bound(self) -> float:
        """The least, over the degrees of ranks, of what the nodes' own links let through."""
        bound = math.inf
        for degree, access in self.access.items():
            needed = sum(len(others) >= degree for others in self.beside)
            each = sorted((value for value, nodes in zip(access, self.kinds, strict=True) for _ in nodes), reverse=True)
            bound = min(bound, each[needed - 1] if len(each) >= needed else -math.inf)
        return bound

    def _place(self, depth: int, at: dict[int, int], load: dict[int, int], used: list[int], value: float) -> None:
        self.tick()
        if depth == len(self.order):
            group = tuple(at[rank] for rank in range(self.pattern.ranks))
            self.keep(group, value)
            return
        rank = self.order[depth]
        low = max((self.kind[at[other]] for other in self.before[rank] if other in at), default=0)
        high = min((self.kind[at[other]] for other in self.after[rank] if other in at), default=len(self.kinds) - 1)
        for worth, number in self._options(rank, low, high, at, load, used, value):
            if worth <= self.floor:
                return
            node = self.kinds[number][used[number]]
            arcs = self._arcs(rank, node, at) or []
            for arc in arcs:
                load[arc] = load.get(arc, 0) + 1
            at[rank] = node
            used[number] += 1
            self._place(depth + 1, at, load, used, worth)
            used[number] -= 1
            del at[rank]
            for arc in arcs:
                load[arc] -= 1

    def _options(
        self, rank: int, low: int, high: int, at: dict[int, int], load: dict[int, int], used: list[int], value: float
    ) -> list[tuple[float, int]]:
        """The kinds that a rank can be put on with what the placement is then worth at most, best first."""
        access, floor = self.access[len(self.beside[rank])], self.floor
        found = []
        for number in range(low, high + 1):
            bound = min(value, access[number])
            if bound <= floor or used[number] == len(self.kinds[number]):
                continue
            worth = min(bound, self._worth(rank, self.kinds[number][used[number]], at, load)[0])
            if worth > floor:
                found.append((worth, number))
        return sorted(found, key=lambda one: (-one[0], one[1]))


class _Local:
    """Local search: moves and exchanges of the ranks whose flows are slowest, then kicks from the best."""

    def __init__(self, search: _Search, rng: random.Random, tick: Callable[[], None]) -> None:
        self.search, self.rng, self.tick = search, rng, tick
        self.crossings, self.edges = search.crossings, search.edges

    def climb(self, starts: Sequence[Group]) -> None:
        """Keep the starts, and what steps that help make of them, the best of them first."""
        for group in starts:
            self._keep(group)
        try:
            for group in sorted(dict.fromkeys(starts), key=lambda one: -self.crossings.lowest(one, self.edges)):
                self._keep(self._improved(group))
        except OutOfTime:
            pass

    def wander(self) -> None:
        """Kick the best placement and climb again, until time ends or nothing better can be."""
        try:
            while self.search.found and not self.search.cannot_be_better():
                _, best = max(self.search.found.values(), key=lambda one: one[0])
                self._keep(self._improved(self._kicked(best)))
        except OutOfTime:
            pass

    def settled(self, ranking: Sequence[tuple[float, Group]]) -> list[tuple[float, Group]]:
        """The same values, the first on the placement with the highest mean rate that steps which keep it lead to."""
        if not ranking:
            return []
        ordered = sorted(ranking, key=lambda one: (one[0], self._mean(one[1])), reverse=True)
        value, group = ordered[0]
        first = (value, self._evened(value, group))
        rest = [one for one in ordered if frozenset(one[1]) != frozenset(first[1])]
        return [first, *rest][: len(ranking)]

    def _evened(self, value: float, group: Group) -> Group:
        best, better = self._mean(group), True
        with suppress(OutOfTime):
            while better:
                better = False
                for other in self._steps(group, set(range(len(group)))):
                    self.tick()
                    if self.crossings.lowest(other, self.edges) == value and (mean := self._mean(other)) > best:
                        group, best, better = other, mean, True
                        break
        return group

    def _mean(self, group: Group) -> tuple[float, float]:
        """Over the pairs: what the narrowest link of each is worth to its flow, and the rate that the flow gets."""
        ways = [self.crossings.pair(group[a], group[b]) or () for a, b in self.edges]
        load = Counter(arc for arcs in ways for arc in arcs)
        worths = [min((self.crossings.rate(arc, load[arc]) for arc in arcs), default=0.0) for arcs in ways]
        shares = [min((self.crossings.share(arc, load[arc]) for arc in arcs), default=0.0) for arcs in ways]
        return round(sum(worths) / len(ways), 12), round(sum(shares) / len(ways), 12)

    def _keep(self, group: Group) -> None:
        self.search.keep(group, self.crossings.lowest(group, self.edges))

    def _slow(self, group: Group) -> tuple[tuple[float, int], set[int]]:
        """(least rate, how few flows have it), so that a step that frees one of several slowest pairs is one forward;
        and the ranks of the slowest flows."""
        load: dict[int, int] = {}
        ways = [(edge, self.crossings.pair(group[edge[0]], group[edge[1]])) for edge in self.edges]
        for _, arcs in ways:
            for arc in arcs or ():
                load[arc] = load.get(arc, 0) + 1
        if any(arcs is None for _, arcs in ways):
            return (-math.inf, 0), {rank for edge, arcs in ways if arcs is None for rank in edge}
        caps = [self.crossings.caps[node] for node in group]
        lowest = min(min(caps), *(self.crossings.rate(arc, n) for arc, n in load.items()))
        slow = {arc for arc, n in load.items() if self.crossings.rate(arc, n) <= lowest}
        ranks = {rank for edge, arcs in ways if not slow.isdisjoint(arcs or ()) for rank in edge}
        held = {rank for rank, cap in enumerate(caps) if cap <= lowest}
        return (lowest, -sum(load[arc] for arc in slow) - len(held)), ranks | held

    def _improved(self, group: Group) -> Group:
        score, ranks = self._slow(group)
        better = True
        while better:
            better = False
            for other in self._steps(group, ranks):
                self.tick()
                worth, slow = self._slow(other)
                if worth > score:
                    group, score, ranks, better = other, worth, slow, True
                    break
        return group

    def _steps(self, group: Group, slow: set[int]) -> Iterator[Group]:
        """Moves of a slow rank to a free node of some kind, exchanges with another rank; STEPS of them by chance."""
        taken, ranks = set(group), sorted(slow)
        found = (next((node for node in nodes if node not in taken), None) for nodes in self.search.kinds)
        free = [node for node in found if node is not None]
        ways = len(free) + len(group)
        for step in self.rng.sample(range(len(ranks) * ways), min(STEPS, len(ranks) * ways)):
            rank, way = ranks[step // ways], step % ways
            if way < len(free):
                yield (*group[:rank], free[way], *group[rank + 1 :])
            elif way - len(free) != rank:
                yield _exchanged(group, rank, way - len(free))

    def _kicked(self, group: Group) -> Group:
        """Two ranks elsewhere, or exchanged where no node is free."""
        for _ in range(2):
            rank = self.rng.randrange(len(group))
            node = self.rng.randrange(len(self.crossings.usable))
            if node in group:
                group = _exchanged(group, rank, group.index(node))
            else:
                group = (*group[:rank], node, *group[rank + 1 :])
        return group


def _exchanged(group: Group, a: int, b: int) -> Group:
    swapped = list(group)
    swapped[a], swapped[b] = group[b], group[a]
    return tuple(swapped)


def _growth(beside: Sequence[set[int]]) -> list[int]:
    """Ranks so that each has as many partners before it as possible, the busiest first."""
    order: list[int] = []
    before = [0] * len(beside)
    left = set(range(len(beside)))
    while left:
        rank = max(left, key=lambda r: (before[r], len(beside[r]), -r))
        order.append(rank)
        left.remove(rank)
        for other in beside[rank]:
            before[other] += 1
    return order
