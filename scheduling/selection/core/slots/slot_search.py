"""Exact search for placements with several ranks on a node: branch and bound over ranks, one after the other.

Not in the papers, whose nodes hold one process each. Every component of a score only falls while ranks are placed, so a
partial placement whose score is not above the one to beat cannot become better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import nlargest

import numpy as np

from scheduling.selection.core.pairs import symmetry
from scheduling.selection.core.slots.slot_room import Room
from scheduling.selection.core.slots.slot_scores import Partial, Score, SlotScores
from scheduling.selection.core.threshold import Group, OutOfTime

#: Of more nodes none are taken to be alike: looking costs more than it saves.
MOST_ALIKE = 256


@dataclass
class BestSets:
    """The best placement on every node set that was looked at; floor: the score of the k-th best, which a new set must
    exceed, None as long as there are fewer."""

    k: int
    placements: dict[frozenset[int], tuple[Score, Group]] = field(default_factory=dict)
    floor: Score | None = None

    def keep(self, group: Group, score: Score) -> bool:
        """Remember a placement if it is the best on its node set; whether it is."""
        nodes = frozenset(group)
        if score[0] == -np.inf or (nodes in self.placements and self.placements[nodes][0] >= score):
            return False
        self.placements[nodes] = (score, group)
        if len(self.placements) >= self.k and (self.floor is None or score > self.floor):
            self.floor = nlargest(self.k, (score for score, _ in self.placements.values()))[-1]
        return True

    def best(self) -> list[tuple[Score, Group]]:
        """The best `k`, best first; of equals the first in the order of the nodes."""
        order = sorted(self.placements.values(), key=lambda each: (tuple(-x for x in each[0]), sorted(set(each[1]))))
        return order[: self.k]


class SlotSearch:
    """Tries every placement that could be better than what is known; see `run`."""

    def __init__(self, scores: SlotScores, room: Room, sets: BestSets, tick: Callable[[], None]) -> None:
        self.scores, self.room, self.sets, self.tick = scores, room, sets, tick
        pattern = scores.pattern
        self.edges = tuple((a, b) for a, b, _ in pattern.edges)
        self.order = _growth(symmetry.neighbours(pattern.ranks, self.edges), room)
        self.kinds = self._kinds()
        self.kind = {node: number for number, nodes in enumerate(self.kinds) for node in nodes}

    def _kinds(self) -> list[list[int]]:
        """Nodes that can change places without any difference to scores or room."""
        count = len(self.room.capacity)
        if count > MOST_ALIKE:
            return [[node] for node in range(count)]
        kinds: dict[tuple[object, ...], list[list[int]]] = {}
        for node in range(count):
            near = kinds.setdefault(self.scores.kind(node), [])
            same = (nodes for nodes in near if self._same_room(nodes[0], node) and self.scores.alike(nodes[0], node))
            kind = next(same, None)
            if kind is None:
                near.append([node])
            else:
                kind.append(node)
        return sorted(nodes for near in kinds.values() for nodes in near)

    def _same_room(self, a: int, b: int) -> bool:
        domains = self.room.domains
        same = domains is None or bool(np.array_equal(domains[:, a], domains[:, b]))
        return same and bool(self.room.capacity[a] == self.room.capacity[b])

    def run(self, components: int) -> bool:
        """Search everything that could have a score above the k-th best by its first `components`; whether that ended
        before `tick` raised OutOfTime. Then the best `k` node sets are those in `sets`, as far as these components
        tell. Cost: exponential in ranks."""
        self.components = components
        self._conditions()
        self.at = [-1] * self.scores.pattern.ranks
        self.left = self.room.capacity.copy()
        try:
            self._place(0, self.scores.start(), [])
        except OutOfTime:
            return False
        self._add_alike()
        return True

    def _conditions(self) -> None:
        """Ranks that the pattern cannot tell apart, in one order of the kinds of their nodes only; where weights count
        they must not differ."""
        pattern = self.scores.pattern
        self.before: list[list[int]] = [[] for _ in range(pattern.ranks)]
        self.after: list[list[int]] = [[] for _ in range(pattern.ranks)]
        last = len(self.scores.start().score)
        if self.components == last and len({weight for _, _, weight in pattern.edges}) > 1:
            return
        kinds = () if self.room.domains is None else symmetry.rank_kinds(self.room.domains)
        for rank, others in symmetry.rank_order(pattern.ranks, self.edges, kinds):
            for other in others:
                self.before[other].append(rank)
                self.after[rank].append(other)

    def _place(self, depth: int, partial: Partial, used: list[int]) -> None:
        self.tick()
        if depth == len(self.order):
            if self.room.nodes in (None, len(used)):
                group = tuple(self.at)
                self.sets.keep(group, self.scores.of(np.array([group]))[0])
            return
        rank = self.order[depth]
        options = [(self.scores.extended(partial, rank, node, self.at), node) for node in self._nodes(rank, used)]
        options.sort(key=lambda each: (tuple(-x for x in each[0].score), each[1] not in used, each[1]))
        for extended, node in options:
            if self._is_hopeless(extended.score):
                continue
            fresh = self.left[node] == self.room.capacity[node]
            self.at[rank] = node
            self.left[node] -= 1
            now = [*used, node] if fresh else used
            if self.room.can_hold(len(self.order) - depth - 1, now, self.left):
                self._place(depth + 1, extended, now)
            self.left[node] += 1
            self.at[rank] = -1

    def _is_hopeless(self, score: Score) -> bool:
        if score[0] == -np.inf:
            return True
        floor = self.sets.floor
        return floor is not None and score[: self.components] <= floor[: self.components]

    def _nodes(self, rank: int, used: list[int]) -> list[int]:
        """Nodes with room for a rank: those that are used, and the first free one of each kind."""
        low = max((self.kind[self.at[r]] for r in self.before[rank] if self.at[r] >= 0), default=0)
        high = min((self.kind[self.at[r]] for r in self.after[rank] if self.at[r] >= 0), default=len(self.kinds) - 1)
        taken = set(used)
        nodes = []
        for number in range(low, high + 1):
            free = next((node for node in self.kinds[number] if node not in taken), None)
            of_kind = [node for node in self.kinds[number] if node in taken]
            nodes += [node for node in [*of_kind, *([] if free is None else [free])] if self.left[node] > 0]
        domains = self.room.domains
        return nodes if domains is None else [node for node in nodes if domains[rank, node]]

    def _add_alike(self) -> None:
        """Node sets that differ from the best in nodes of one kind only, which the search passed over."""
        waiting = [group for _, group in self.sets.best()]
        while waiting:
            group = waiting.pop(0)
            score = self.sets.placements[frozenset(group)][0]
            for node in sorted(set(group)):
                for other in self.kinds[self.kind[node]]:
                    changed = tuple(other if each == node else each for each in group)
                    if other not in group and self.sets.keep(changed, score) and len(waiting) < self.sets.k:
                        waiting.append(changed)


def _growth(beside: Sequence[set[int]], room: Room) -> list[int]:
    """Ranks so that each has as many partners before it as possible, those with the fewest places and the busiest
    first."""
    places = [len(room.allows(rank)) for rank in range(len(beside))]
    before = [0] * len(beside)
    left, order = set(range(len(beside))), []
    while left:
        rank = max(left, key=lambda r: (before[r], -places[r], len(beside[r]), -r))
        order.append(rank)
        left.remove(rank)
        for other in beside[rank]:
            before[other] += 1
    return order
