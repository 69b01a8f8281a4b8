"""Patterns that fall into separate groups of ranks (pairs, ...) on a tree: each group has a connected part of its own.

Not in the papers: figure 1 of Pattern 2003 leaves open how the subgraph is found. Here it is bin packing: the
parts of the merge tree at a bandwidth are the bins, the pattern's groups the items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.threshold import Group
from scheduling.selection.core.trees.merge_tree import MergeTree


def pack(items: Sequence[int], bins: Sequence[int]) -> list[int] | None:
    """Place every item into a bin; `items` fall in size. Returns the bin of each item, None when it is impossible.

    Exact. Only as many of the largest bins as there are items can matter. Cost: linear for items of one size,
    exponential at worst in the number of distinct sizes.

    >>> pack([2, 2, 2], [3, 5])
    [1, 1, 0]
    >>> pack([3, 3], [5]) is None
    True
    """
    order = sorted(range(len(bins)), key=lambda b: -bins[b])[: len(items)]
    room = [bins[b] for b in order]
    if sum(room) < sum(items):
        return None
    chosen = _first_fit(items, room)
    if chosen is None and len(set(items)) > 1:
        chosen = _search(items, room, 0, set())
    return None if chosen is None else [order[b] for b in chosen]


def _first_fit(items: Sequence[int], room: Sequence[int]) -> list[int] | None:
    left, start, chosen = list(room), 0, []
    for position, item in enumerate(items):
        if position and item != items[position - 1]:
            start = 0
        place = next((b for b in range(start, len(left)) if left[b] >= item), None)
        if place is None:
            return None
        left[place] -= item
        start = place
        chosen.append(place)
    return chosen


def _search(items: Sequence[int], room: list[int], at: int, dead: set[tuple[int, ...]]) -> list[int] | None:
    """Depth first over items; bins with equal room left are tried once, and hopeless states are remembered."""
    if at == len(items):
        return []
    state = (at, *sorted(room))
    if state in dead:
        return None
    tried = set()
    for b, free in enumerate(room):
        if free < items[at] or free in tried:
            continue
        tried.add(free)
        room[b] -= items[at]
        rest = _search(items, room, at + 1, dead)
        room[b] += items[at]
        if rest is not None:
            return [b, *rest]
    dead.add(state)
    return None


class Packing:
    """Decides, on a merge tree, whether a pattern's groups fit into the parts that are connected at a level.

    The tree has one leaf for each compute node. `tick` is called at every decision and may raise OutOfTime.
    Cost: O(n) for a level asked first; after that, when all groups are of one size, O(excluded nodes) for each "no".
    """

    def __init__(self, tree: MergeTree, pattern: Pattern, tick: Callable[[], None]) -> None:
        self.tree, self.tick = tree, tick
        self.groups = pattern.components()
        self.items = [len(group) for group in self.groups]
        self.levels = sorted({level for x, level in enumerate(tree.level) if x >= tree.leaves})
        self.leaf = {node: leaf for leaf, node in enumerate(tree.owner)}
        self.parts: dict[float, list[int]] = {}
        self.slots: dict[float, int] = {}

    def alike(self, level: float, node: int) -> int:
        """Nodes of one part are interchangeable at a level."""
        return self.tree.part_of(self.leaf[node], level)

    def find(
        self, level: float, excluded: frozenset[int], taken: Sequence[frozenset[int]], limit: int | None = None
    ) -> Group | None:
        """A placement at this level: ranks of one group on neighbouring leaves of one part.

        It may be one of `taken`. Needs no `limit`.
        """
        self.tick()
        if level not in self.parts:
            self.parts[level] = self.tree.parts_at(level)
            self.slots[level] = sum(self.tree.size[part] // self.items[0] for part in self.parts[level])
        lost = Counter(self.alike(level, node) for node in excluded)
        if len(set(self.items)) == 1 and not self._enough(level, lost):
            return None
        parts = self.parts[level]
        chosen = pack(self.items, [self.tree.size[part] - lost[part] for part in parts])
        return None if chosen is None else self._place(chosen, parts, excluded)

    def _enough(self, level: float, lost: Counter[int]) -> bool:
        item, size = self.items[0], self.tree.size
        gone = sum(size[part] // item - (size[part] - count) // item for part, count in lost.items())
        return self.slots[level] - gone >= len(self.items)

    def _place(self, chosen: list[int], parts: list[int], excluded: frozenset[int]) -> Group:
        free: dict[int, list[int]] = {}
        for b in set(chosen):
            below = self.tree.below(parts[b])
            free[b] = [node for node in (self.tree.owner[leaf] for leaf in below) if node not in excluded]
        placed = [0] * sum(self.items)
        for group, b in zip(self.groups, chosen, strict=True):
            nodes, free[b] = free[b][: len(group)], free[b][len(group) :]
            for rank, node in zip(group, nodes, strict=True):
                placed[rank] = node
        return tuple(placed)

    def value(self, group: Group) -> float:
        """The lowest level at which the nodes of one of the pattern's groups are joined."""
        return min(self.tree.joined_at(self.leaf[group[rank]] for rank in ranks) for ranks in self.groups)
