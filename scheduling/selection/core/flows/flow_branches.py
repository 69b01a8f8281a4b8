"""Branch and bound over ranks for flows that run all at once: the optimum of small patterns, proved."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.flows.link_crossings import LinkCrossings
from scheduling.selection.core.pairs import symmetry
from scheduling.selection.core.threshold import Group, OutOfTime

STARTS = 16


@dataclass
class FlowBranches:
    """Branch and bound over ranks, busiest first; a partial placement is worth at most what its links give by now.

    room: ranks that each node has room for, 0 where it may not be used; one each where it is empty. Ranks on one node
    send nothing over its links.
    """

    crossings: LinkCrossings
    pattern: Pattern
    k: int
    tick: Callable[[], None]
    room: Sequence[int] = ()
    kept: dict[frozenset[int], tuple[float, Group]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.floor = -math.inf  # the value of the k-th best node set that is known: what others must exceed
        self.room = self.room or [1] * len(self.crossings.usable)
        self.edges = tuple((a, b) for a, b, _ in self.pattern.edges)
        self.beside = symmetry.neighbours(self.pattern.ranks, self.edges)
        self.order = _growth(self.beside)
        self.kinds = self._kinds()
        self.kind = {node: number for number, nodes in enumerate(self.kinds) for node in nodes}
        self.access = {
            degree: [self._access(nodes[0], degree) for nodes in self.kinds]
            for degree in {len(others) for others in self.beside}
        }

    def _access(self, node: int, degree: int) -> float:
        """What a node's own links give at most to a rank with so many partners, of which some may share the node."""
        outside = degree - self.room[node] + 1
        return self.crossings.access(node, outside) if outside > 0 else self.crossings.caps[node]

    def _kinds(self) -> list[list[int]]:
        """Nodes that no flow can tell apart, those with the best links first; in each the one with most cpu first."""
        groups: dict[tuple[object, ...], list[int]] = {}
        usable = self.crossings.usable
        for node in sorted(range(len(usable)), key=lambda n: (-usable[n].effective_cpu, n)):
            if self.room[node]:
                groups.setdefault((self.room[node], *self.crossings.equivalence_key(node)), []).append(node)
        return sorted(groups.values(), key=lambda nodes: (-self.crossings.access(nodes[0], 1), nodes[0]))

    def keep(self, group: Group, value: float) -> None:
        """Remember a placement if it is the best on its node set."""
        if value == -math.inf:
            return
        names = frozenset(group)
        if names not in self.kept or self.kept[names][0] < value:
            self.kept[names] = (value, group)
            values = sorted((one for one, _ in self.kept.values()), reverse=True)
            self.floor = values[self.k - 1] if len(values) >= self.k else -math.inf

    def ranking(self) -> list[tuple[float, Group]]:
        """The best `k` node sets of all that are known, and of those that differ in nodes of one kind only."""
        best = sorted(self.kept.values(), key=lambda one: (-one[0], sorted(one[1])))[: self.k]
        every: dict[frozenset[int], tuple[float, Group]] = {}
        for value, group in best:
            for other in [group, *self._alike(group)]:
                every.setdefault(frozenset(other), (value, other))
        return sorted(every.values(), key=lambda one: -one[0])[: self.k]

    def _alike(self, group: Group) -> list[Group]:
        """Up to `k` placements on other nodes of the same kinds."""
        found = []
        for node in dict.fromkeys(group):
            for other in self.kinds[self.kind[node]][: len(group) + self.k]:
                if other not in group:
                    found.append(tuple(other if each == node else each for each in group))
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
        free = [[node for node in nodes for _ in range(self.room[node])] for nodes in self.kinds]
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
            for arc, units in self._loads(rank, at[rank], at) or ():
                load[arc] = load.get(arc, 0) + units
        return tuple(at[rank] for rank in range(self.pattern.ranks))

    def _worth(self, rank: int, node: int, at: dict[int, int], load: dict[int, int]) -> tuple[float, int]:
        self.tick()
        loads = self._loads(rank, node, at)
        if loads is None:
            return -math.inf, 0
        more: dict[int, int] = {}
        for arc, units in loads:
            more[arc] = more.get(arc, load.get(arc, 0)) + units
        rate = min((self.crossings.rate(arc, n) for arc, n in more.items()), default=math.inf)
        return min(rate, self.crossings.caps[node]), -sum(units for _, units in loads)

    def _loads(self, rank: int, node: int, at: dict[int, int]) -> list[tuple[int, int]] | None:
        """The link directions that a rank on a node adds flows to, with their units; None when a partner has no way to
        it."""
        found: list[tuple[int, int]] = []
        for other in self.beside[rank]:
            if other in at and other != rank and at[other] != node:
                loads = self.crossings.loads(node, at[other])
                if loads is None:
                    return None
                found += loads
        return found

    def run(self) -> bool:
        """Search everything that could be better than what is known; whether that ended in time."""
        before: dict[int, list[int]] = {rank: [] for rank in range(self.pattern.ranks)}
        after: dict[int, list[int]] = {rank: [] for rank in range(self.pattern.ranks)}
        for rank, others in symmetry.rank_order(self.pattern.ranks, self.edges):
            for other in others:
                before[other].append(rank)
                after[rank].append(other)
        self.before, self.after = before, after
        self.on: dict[int, int] = {}
        self.shared = max(self.room) > 1
        try:
            self._place(0, {}, {}, [0] * len(self.kinds), math.inf)
        except OutOfTime:
            return False
        return True

    def _place(self, depth: int, at: dict[int, int], load: dict[int, int], used: list[int], value: float) -> None:
        self.tick()
        if depth == len(self.order):
            self.keep(tuple(at[rank] for rank in range(self.pattern.ranks)), value)
            return
        rank = self.order[depth]
        low = max((self.kind[at[other]] for other in self.before[rank] if other in at), default=0)
        high = min((self.kind[at[other]] for other in self.after[rank] if other in at), default=len(self.kinds) - 1)
        for worth, number, place in self._options(rank, low, high, at, load, used, value):
            if worth <= self.floor:
                return
            node = self.kinds[number][place]
            fresh = place == used[number]
            loads = self._loads(rank, node, at) or []
            for arc, units in loads:
                load[arc] = load.get(arc, 0) + units
            at[rank] = node
            used[number] += fresh
            self.on[node] = self.on.get(node, 0) + 1
            self._place(depth + 1, at, load, used, worth)
            self.on[node] -= 1
            used[number] -= fresh
            del at[rank]
            for arc, units in loads:
                load[arc] -= units

    def _options(
        self, rank: int, low: int, high: int, at: dict[int, int], load: dict[int, int], used: list[int], value: float
    ) -> list[tuple[float, int, int]]:
        """The kinds that a rank can be put on, and which of their nodes, with what the placement is then worth at most,
        best first: a fresh one, or one that others are on and that has room."""
        access, floor = self.access[len(self.beside[rank])], self.floor
        found = []
        for number in range(low, high + 1):
            bound = min(value, access[number])
            if bound <= floor:
                continue
            nodes = self.kinds[number]
            for place in range(used[number] + 1) if self.shared else (used[number],):
                if place == len(nodes) or self.on.get(nodes[place], 0) >= self.room[nodes[place]]:
                    continue
                worth = min(bound, self._worth(rank, nodes[place], at, load)[0])
                if worth > floor:
                    found.append((worth, number, place))
        return sorted(found, key=lambda one: (-one[0], *one[1:]))


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
