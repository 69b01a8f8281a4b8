"""What a pattern's slowest flow gets at most, whatever the placement, and how many ranks each part may take.

At a rate for every flow a border lets so many flows through; a part that takes s ranks has at least as many flows to
the others as the pattern's least cut of s. So of every part the numbers of ranks that it can take are known, inner
parts first; where none lets all ranks in, no placement has the rate. Not in the papers (Selection
1999, 3.4 leaves flows open).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.flows.border_flows import BorderFlows
from scheduling.selection.core.flows.least_cuts import least_cuts
from scheduling.selection.core.flows.link_crossings import LinkCrossings
from scheduling.selection.core.trees.switch_tree import SwitchTree
from scheduling.selection.core.trees.usable_network import Ints

#: Bounds are found to this part of themselves.
NEAR = 1e-3
#: Values that differ by no more than this part are equal.
EQUAL = 1e-9


def sums(one: int, other: int, most: int) -> int:
    """Sets of numbers as bits: every number of the one plus every number of the other, up to `most`.

    >>> bin(sums(0b101, 0b11, 3))
    '0b1111'
    """
    found = 0
    for low, high in _runs(other):
        found |= _spread(one, high - low) << low
    return found & ((1 << (most + 1)) - 1)


def _runs(bits: int) -> Iterator[tuple[int, int]]:
    low = 0
    while bits:
        gap = (bits & -bits).bit_length() - 1
        bits >>= gap
        length = ((bits + 1) & -(bits + 1)).bit_length() - 1
        yield low + gap, low + gap + length - 1
        bits >>= length
        low += gap + length


def _spread(bits: int, width: int) -> int:
    done = 0
    while done < width:
        step = min(done + 1, width - done)
        bits |= bits << step
        done += step
    return bits


@dataclass
class FlowBound:
    """The numbers of ranks that parts of a tree can take at a level. `slots`: ranks that each node has room for, one
    where it is None."""

    tree: SwitchTree
    crossings: LinkCrossings
    pattern: Pattern
    slots: Sequence[int] | None = None

    def __post_init__(self) -> None:
        self.ranks = self.pattern.ranks
        self.cuts = least_cuts(self.pattern)
        self.room = [1] * len(self.tree.home) if self.slots is None else list(self.slots)
        ends = [rank for a, b, _ in self.pattern.edges for rank in (a, b)]
        self.degrees: Ints = np.bincount(ends, minlength=self.ranks)
        self.needed = [(int(d), int((self.degrees >= d).sum())) for d in np.unique(self.degrees)]
        self.alone = max(self.room, default=1) == 1
        self.ports = BorderFlows([*self.tree.ports])
        self.inner = [part for part, border in enumerate(self.tree.borders) if border is not None]
        self.borders = BorderFlows([border for border in self.tree.borders if border is not None])
        self.allowed = np.array(self.room) > 0
        self._levels = np.unique(self.cuts)
        self._masks = [0]
        for cut in self._levels.tolist():
            fits = np.flatnonzero(self.cuts == cut).tolist()
            self._masks.append(self._masks[-1] | sum(1 << size for size in fits))

    def node_flows(self, level: float) -> Ints:
        """How many flows each way every node can have at a level; -1 where its cap is lower, or it is not allowed."""
        flows = self.ports.flows(self.crossings, level)
        return np.where((np.array(self.crossings.caps) >= level) & self.allowed, flows, -1)

    def takes(self, level: float) -> list[int] | None:
        """Of every part the numbers of ranks that it can take at a level, as bits; None where all ranks fit nowhere."""
        flows = self.node_flows(level)
        if self.alone and any((flows >= degree).sum() < count for degree, count in self.needed):
            return None
        most = np.full(len(self.tree.parent), -1)
        most[self.inner] = self.borders.flows(self.crossings, level)
        found = [0] * len(self.tree.parent)
        whole = 1
        for part in self.tree.order:
            within = self.own(part, flows)
            for child in self.tree.children[part]:
                within = sums(within, found[child], self.ranks)
            found[part] = within & self._allowed(int(most[part]) if self.tree.borders[part] is not None else 0)
            if self.tree.parent[part] < 0:
                whole = sums(whole, found[part], self.ranks)
        return found if whole >> self.ranks & 1 else None

    def own(self, part: int, flows: Ints) -> int:
        """The numbers of ranks that the nodes of a part that are in no inner one can take together, as bits."""
        nodes = self.tree.own[part]
        kinds: dict[int, int] = {}
        for node in nodes:
            bits = self.node(int(flows[node]), self.room[node])
            kinds[bits] = kinds.get(bits, 0) + 1
        found = 1
        for bits, count in kinds.items():
            found = sums(found, _times(bits, count, self.ranks), self.ranks)
        return found

    def node(self, flows: int, room: int) -> int:
        """The numbers of ranks that one node can take."""
        return 1 if flows < 0 else self._allowed(flows, room) | 1

    def _allowed(self, flows: int, most: int | None = None) -> int:
        """The numbers of ranks, up to `most`, whose least cut is at most so many flows."""
        fits = self._masks[int(np.searchsorted(self._levels, flows, side="right"))]
        return fits if most is None else fits & ((1 << (most + 1)) - 1)

    def highest(self, low: float, high: float, tick: Callable[[], None], *, near: float = NEAR) -> tuple[float, float]:
        """Between which levels the bound lies: at the first all ranks fit (or it is `low`), at the second not."""
        if low > 0 and self.takes(low * (1 + EQUAL)) is None:
            return low, low
        if self.takes(sys.float_info.max) is not None:
            return sys.float_info.max, math.inf  # ranks that talk fit on one node
        high = max(high, low)
        if high <= 0:
            return low, high
        if self.takes(high) is not None:
            return high, high
        low = max(low, high * 1e-12)
        while high / low > 1 + near:
            tick()
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self.takes(middle) is None else (middle, high)
        return low, high


def _times(bits: int, count: int, most: int) -> int:
    """So many numbers of a set added up."""
    if bits == 1:
        return 1
    if bits == 3:
        return (1 << (min(count, most) + 1)) - 1
    found, power = 1, bits
    while count:
        if count & 1:
            found = sums(found, power, most)
        count >>= 1
        power = sums(power, power, most) if count else power
    return found
