"""How many flows cross each border of a switch tree, and what every border is worth to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from scheduling.selection.core.flows.border_flows import BorderFlows
from scheduling.selection.core.flows.link_crossings import LinkCrossings
from scheduling.selection.core.flows.way_table import MOST_SWITCHES, WayTable
from scheduling.selection.core.trees.switch_tree import Border, SwitchTree
from scheduling.selection.core.trees.usable_network import Ints

#: Pairs of ranks, or the same as rows of two.
Edges = Sequence[tuple[int, int]] | Ints


class FlowModel(Protocol):
    """What flows cross on the way between two nodes, by numbers, and what so many flows get there."""

    @property
    def caps(self) -> Sequence[float]:
        """The most that a group is worth with each node."""
        ...

    def pair(self, a: int, b: int) -> tuple[int, ...] | None:
        """What both directions of a pair cross, with repetitions; None without a way."""
        ...

    def rate(self, crossed: int, flows: int) -> float:
        """What each of so many flows gets there."""
        ...

    @property
    def ways(self) -> WayTable | None:
        """What the flows between any two switches cross, where a table of that can be made."""
        ...

    def lets_through(self, level: float) -> Ints:
        """Of every crossing of `ways` how many flows it lets through so that each is worth a level there."""
        ...

    def lowest(self, group: Sequence[int], edges: Edges) -> float:
        """What the slowest flow of a placement gets; -inf where a pair has no way."""
        ...


class TreeFlows:
    """The flows on a switch tree, every pair counted once: both directions cross the same borders.

    Nodes have the numbers after the parts. Exact where the tree is.
    """

    def __init__(self, tree: SwitchTree, crossings: LinkCrossings) -> None:
        self.tree, self.crossings, self.caps = tree, crossings, crossings.caps
        self.parts = len(tree.parent)
        self.home = tree.home.tolist()
        self._between: dict[tuple[int, int], tuple[int, ...] | None] = {}
        self._rates: dict[tuple[int, int], float] = {}
        depth = max(map(len, tree.chains), default=0)
        self.chain = np.full((self.parts, depth), -1, dtype=np.int64)
        for part, chain in enumerate(tree.chains):
            self.chain[part, : len(chain)] = chain
        self.root = np.arange(self.parts)
        for part in reversed(tree.order):
            if tree.parent[part] >= 0:
                self.root[part] = self.root[tree.parent[part]]

    def pair(self, a: int, b: int) -> tuple[int, ...] | None:
        """The borders between two nodes and those of their own."""
        if a == b:
            return ()
        key = self.home[a], self.home[b]
        if key not in self._between:
            self._between[key] = self._crossed(*key)
        between = self._between[key]
        return None if between is None else (self.parts + a, self.parts + b, *between)

    @cached_property
    def ways(self) -> WayTable | None:
        """What the nodes of every two parts cross; None where there are too many, or some have no way."""
        homes, number = np.unique(self.tree.home, return_inverse=True)
        count = len(homes)
        if count > MOST_SWITCHES or len(np.unique(self.root[homes])) > 1:
            return None
        one, other = (each.ravel() for each in np.meshgrid(np.arange(count), np.arange(count), indexing="ij"))
        keys, crossed = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for column in self.chain[homes].T:
            apart = column[one] != column[other]
            for side in (column[one], column[other]):
                there = apart & (side >= 0)
                keys.append(one[there] * count + other[there])
                crossed.append(side[there])
        return WayTable.of(number, count, np.concatenate(keys), np.concatenate(crossed))

    def lets_through(self, level: float) -> Ints:
        """How many flows every border of `ways` lets through at a level."""
        return self._borders.flows(self.crossings, level)

    @cached_property
    def _borders(self) -> BorderFlows:
        crossed = self.ways.names.tolist() if self.ways is not None else []
        return BorderFlows([border for border in map(self.tree.borders.__getitem__, crossed) if border is not None])

    def _crossed(self, one: int, other: int) -> tuple[int, ...] | None:
        if self.root[one] != self.root[other]:
            return None
        return tuple(set(self.tree.chains[one]) ^ set(self.tree.chains[other]))

    def rate(self, crossed: int, flows: int) -> float:
        """What each of so many flows gets at a border, or at a node."""
        key = crossed, flows
        if key not in self._rates:
            ports = self.tree.ports
            border = ports[crossed - self.parts] if crossed >= self.parts else self.tree.borders[crossed]
            self._rates[key] = math.inf if border is None else self._worth(border, flows)
        return self._rates[key]

    def _worth(self, border: Border, flows: int) -> float:
        units = self.crossings.units
        worth = math.inf
        for arcs in (border.out.tolist(), border.into.tolist()):
            if not arcs:
                return -math.inf
            if border.even:
                worth = min(worth, *(self.crossings.rate(arc, flows * units // len(arcs)) for arc in arcs))
            else:  # at best each takes as many as it can
                worth = min(worth, max(self.crossings.rate(arc, -(-flows // len(arcs)) * units) for arc in arcs))
        return worth

    def lowest(self, group: Sequence[int], edges: Edges) -> float:
        """What the slowest flow gets, all pairs at once."""
        at, ends = np.array(group), np.array(edges).reshape(-1, 2)
        a, b = at[ends[:, 0]], at[ends[:, 1]]
        apart = a != b
        a, b = a[apart], b[apart]
        homes = self.tree.home[a], self.tree.home[b]
        if (self.root[homes[0]] != self.root[homes[1]]).any():
            return -math.inf
        load = [self.parts + a, self.parts + b]
        for depth in range(self.chain.shape[1]):
            one, other = self.chain[homes[0], depth], self.chain[homes[1], depth]
            load += [side[(one != other) & (side >= 0)] for side in (one, other)]
        counts = np.bincount(np.concatenate(load))
        crossed = np.flatnonzero(counts)
        rates = (self.rate(*each) for each in zip(crossed.tolist(), counts[crossed].tolist(), strict=True))
        return min(*rates, math.inf, *(self.caps[node] for node in group))
