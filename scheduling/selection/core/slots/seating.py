"""Every rank on a node that it may stand on: whether there is room for that, and which ranks crowd which nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from scheduling.selection.core.slots.slot_room import Room
from scheduling.selection.core.threshold import Group
from scheduling.selection.core.trees.usable_network import Bools, Floats


class Crowd(NamedTuple):
    """Ranks that may stand on these nodes alone, and are more than their slots."""

    ranks: Sequence[int]
    nodes: Sequence[int]
    slots: int


def matched(room: Room, worth: Floats, ranks: int) -> Group | None:
    """Every rank on a node that it may stand on, so that the lowest worth of a node is the highest that can be; None
    where there is no room so. Augmenting paths; cost: O(ranks * nodes) for each rank and level that is tried."""
    levels = np.unique(worth[room.capacity > 0])[::-1]
    low, high, best = 0, len(levels) - 1, None
    while low <= high:
        middle = (low + high) // 2
        group = seated(room, worth >= levels[middle], ranks)
        if group is None:
            low = middle + 1
        else:
            best, high = group, middle - 1
    return best


def seated(room: Room, usable: Bools, ranks: int) -> Group | None:
    """Every rank on one of the `usable` nodes that it may stand on; None where there is no room. Augmenting paths."""
    seats = _Seats(room, usable, ranks)
    return tuple(seats.at) if all(seats.reached(rank) is None for rank in seats.order) else None


def crowded(room: Room, ranks: int) -> Crowd | None:
    """Ranks that are too many for all the nodes that they may stand on; None where every rank has a place.

    Finds: the nodes that no augmenting path leaves (Hall's theorem), and every rank that may stand on no others.

    >>> crowded(Room(np.array([1, 1, 4]), None, np.array([[1, 0, 0], [1, 1, 0], [1, 1, 0], [1, 1, 1]], dtype=bool)), 4)
    Crowd(ranks=[0, 1, 2], nodes=[0, 1], slots=2)
    """
    seats = _Seats(room, np.ones(len(room.capacity), dtype=bool), ranks)
    for rank in seats.order:
        nodes = seats.reached(rank)
        if nodes is not None:
            inside = [rank for rank in range(ranks) if nodes.issuperset(seats.allowed[rank])]
            return Crowd(inside, sorted(nodes), int(room.capacity[sorted(nodes)].sum()))
    return None


class _Step(NamedTuple):
    """A rank that looks for a place: the nodes that it has still to try, and of the one it tries the ranks there."""

    rank: int
    nodes: Iterator[int]
    there: Iterator[int]
    node: int


class _Seats:
    """Ranks on nodes, one rank after the other, where those that sit may move on."""

    def __init__(self, room: Room, usable: Bools, ranks: int) -> None:
        self.capacity = room.capacity
        self.allowed = [[node for node in room.allows(rank).tolist() if usable[node]] for rank in range(ranks)]
        self.order = sorted(range(ranks), key=lambda rank: len(self.allowed[rank]))
        self.at = [-1] * ranks
        self._on: dict[int, list[int]] = {}

    def reached(self, rank: int) -> set[int] | None:
        """Give a rank a place; None where there is one, else the nodes that it and those in its way could go to.

        Depth first, without recursion: of 10,000 nodes every one may be on the way."""
        seen = set[int]()
        steps = [self._begin(rank)]
        while steps:
            step = steps[-1]
            mover = next(step.there, None)
            if mover is not None:
                steps.append(self._begin(mover))
                continue
            node = next((node for node in step.nodes if node not in seen), None)
            if node is None:
                steps.pop()
                continue
            seen.add(node)
            here = self._on.setdefault(node, [])
            steps[-1] = step._replace(node=node, there=iter(list(here)))
            if len(here) < self.capacity[node]:
                self._move(steps)
                return None
        return seen

    def _begin(self, rank: int) -> _Step:
        nodes = sorted(self.allowed[rank], key=lambda node: (not self._on.get(node), node))
        return _Step(rank, iter(nodes), iter(()), -1)

    def _move(self, steps: Sequence[_Step]) -> None:
        """Each rank on the way goes to the node that it tried, the last one to a free slot."""
        for step in reversed(steps):
            if self.at[step.rank] >= 0:
                self._on[self.at[step.rank]].remove(step.rank)
            self._on[step.node].append(step.rank)
            self.at[step.rank] = step.node
