"""The slowest pairs of a large placement when all talk at once: max-min rates, level by level, until enough are known.

The same rates as gridportal.network.flows, on a switch tree that is exact, with arrays in place of flows one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scheduling.selection.core.flows.link_crossings import LinkCrossings
from scheduling.selection.core.trees.switch_tree import SwitchTree
from scheduling.selection.core.trees.usable_network import Floats, Ints

#: Levels that differ by less than this part are one.
TINY = 1e-12


@dataclass(frozen=True)
class SlowPair:
    """A pair by its place among the edges: bit/s of its slower direction, the arc that binds it, and whether that
    direction is from the second rank to the first."""

    edge: int
    rate: float
    arc: int
    backwards: bool


def slowest_pairs(
    tree: SwitchTree,
    crossings: LinkCrossings,
    group: Sequence[int],
    edges: Sequence[tuple[int, int]] | Ints,
    count: int,
) -> list[SlowPair]:
    """At least `count` pairs that are slower than all others, or all, slowest first; pairs of one node are left out.

    All rates rise alike until a border is full; what crosses it stays, the others go on (progressive filling).
    Cost: O(edges * depth) for each level.
    """
    filling = _Filling(tree, crossings, np.array(group), np.array(edges).reshape(-1, 2))
    return filling.until(count)


class _Filling:
    """Flows are rows, first those from the first rank to the second, then back. Out of border c is constraint 2 c, into
    it 2 c + 1; nodes come after the parts."""

    def __init__(self, tree: SwitchTree, crossings: LinkCrossings, at: Ints, edges: Ints) -> None:
        a, b = at[edges[:, 0]], at[edges[:, 1]]
        self.edges = np.flatnonzero(a != b)
        a, b = a[self.edges], b[self.edges]
        self.crossings = crossings
        self.over = np.concatenate([_crossed(tree, a, b), _crossed(tree, b, a)])
        self.arcs, self.owner, self.part = _arcs(tree, np.unique(at))
        self.constraints = 2 * (len(tree.parent) + len(tree.home)) + 1

    def until(self, count: int) -> list[SlowPair]:
        room, others, cap = self.crossings.columns_of(self.arcs)
        active = np.ones(len(self.over), dtype=bool)
        users: Floats = np.bincount(self.over.ravel(), minlength=self.constraints).astype(np.float64)
        taken = np.zeros(self.constraints)
        done = np.zeros(len(self.edges), dtype=bool)
        found: list[SlowPair] = []
        while active.any() and len(found) < count:
            flows, left = users[self.owner] * self.part, room - taken[self.owner] * self.part
            with np.errstate(divide="ignore", invalid="ignore"):
                level = np.maximum(left / (flows + others), (left - cap) / flows)
            level[flows <= 0] = np.inf
            lowest = max(0.0, float(level.min()))
            full = np.flatnonzero(level <= lowest * (1 + TINY))
            binding = np.full(self.constraints, -1, dtype=np.int64)
            binding[self.owner[full[::-1]]] = self.arcs[full[::-1]]
            held = np.flatnonzero(active & (binding[self.over] >= 0).any(axis=1))
            moved = np.bincount(self.over[held].ravel(), minlength=self.constraints)
            users, taken = users - moved, taken + lowest * moved
            active[held] = False
            fresh = held[~done[held % len(done)]]
            fresh = fresh[np.unique(fresh % len(done), return_index=True)[1]]
            done[fresh % len(done)] = True
            which = binding[self.over[fresh]]
            arc = which[np.arange(len(fresh)), (which >= 0).argmax(axis=1)]
            found += [
                SlowPair(int(self.edges[row % len(done)]), lowest, one, row >= len(done))
                for row, one in zip(fresh.tolist(), arc.tolist(), strict=True)
            ]
        return found


def _crossed(tree: SwitchTree, a: Ints, b: Ints) -> NDArray[np.int32]:
    """The constraints that flows from nodes a to nodes b cross, padded with the last one, which never binds."""
    parts, depth = len(tree.parent), max(map(len, tree.chains), default=0)
    nothing = 2 * (parts + len(tree.home))
    chain = np.full((parts, depth), -1, dtype=np.int64)
    for part, around in enumerate(tree.chains):
        chain[part, : len(around)] = around
    one, other = chain[tree.home[a]], chain[tree.home[b]]
    out = np.where((one != other) & (one >= 0), 2 * one, nothing)
    into = np.where((one != other) & (other >= 0), 2 * other + 1, nothing)
    rows = np.concatenate([2 * (parts + a)[:, None], out, into, 2 * (parts + b)[:, None] + 1], axis=1)
    return rows.astype(np.int32)


def _arcs(tree: SwitchTree, nodes: Ints) -> tuple[Ints, Ints, Floats]:
    """Every arc of a border, the constraint that it belongs to, and the part of each flow that it carries."""
    parts = len(tree.parent)
    borders = [(part, border) for part, border in enumerate(tree.borders) if border is not None]
    borders += [(parts + node, tree.ports[node]) for node in nodes.tolist()]
    arcs, owner, share = [], [], []
    for number, border in borders:
        for way, each in ((2 * number, border.out), (2 * number + 1, border.into)):
            arcs += each.tolist()
            owner += [way] * len(each)
            share += [1.0 / len(each)] * len(each)
    return np.array(arcs, dtype=np.int64), np.array(owner, dtype=np.int64), np.array(share, dtype=np.float64)
