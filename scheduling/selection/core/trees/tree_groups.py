"""The best groups of nodes on a merge tree, for work in which all chosen nodes belong together.

Source: Selection 1999, figures 2 and 3; Pattern 2003, 2.4 for several candidates (backtracking the last deletions).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import combinations, groupby, islice, takewhile

import numpy as np

from scheduling.selection.core.trees.merge_tree import MergeTree

PARTS_PER_LEVEL = 32


class TreeGroups:
    """Ranked groups of `m` nodes (m >= 2) that lie in one connected part; a group's value is the level that joins it.

    Finds: the K distinct node sets with the highest values, exactly. Among sets of equal value the first is the one
    that keeps to few, tightly joined parts with the most cpu (not proved best in that), the others share as few nodes
    as possible with those before. On a tree every connected pattern has the same optimum as all-to-all, because path
    minima are an ultrametric.
    Cost: O(n log n) after the sweep, and O(n) for each candidate.
    """

    def __init__(self, tree: MergeTree, m: int, cpu: Sequence[float]) -> None:
        self.tree, self.m = tree, m
        owner = np.array(tree.owner, dtype=np.int64)
        place = np.empty(tree.leaves, dtype=np.int64)
        place[np.lexsort((owner, -np.asarray(cpu, dtype=np.float64)[owner]))] = np.arange(tree.leaves)
        self.upwards = self._bottom_up()
        self.first = self._first_below(place.tolist())

    def _first_below(self, place: list[int]) -> list[int]:
        """For every part, the place of its leaf with the most cpu."""
        first = place + [0] * (len(self.tree.level) - len(place))
        for x in self.upwards:
            if x >= self.tree.leaves:
                first[x] = min(first[child] for child in self.tree.children[x])
        return first

    def _bottom_up(self) -> list[int]:
        order, stack = [], list(self.tree.roots)
        while stack:
            x = stack.pop()
            order.append(x)
            stack.extend(self.tree.children[x])
        return order[::-1]

    def ranked(self, k: int, floor: float = float("-inf")) -> list[tuple[float, tuple[int, ...]]]:
        """At most `k` (value, compute nodes) with values of at least `floor`, best first."""
        inner = [x for x in self.upwards if x >= self.tree.leaves and self.tree.size[x] >= self.m]
        inner.sort(key=lambda x: (-self.tree.level[x], self.first[x]))
        found: list[tuple[float, tuple[int, ...]]] = []
        used: dict[int, int] = {}
        for level, parts in groupby(inner, key=lambda x: self.tree.level[x]):
            if level < floor:
                break
            self._at_level(level, list(parts), k, found, used)
            if len(found) >= k:
                break
        return found

    def _at_level(
        self, level: float, parts: list[int], k: int, found: list[tuple[float, tuple[int, ...]]], used: dict[int, int]
    ) -> None:
        """Add groups that this level joins: one of each part in turn, so that the candidates differ."""
        parts.sort(key=lambda x: self._used_share(x, used) if len(parts) <= PARTS_PER_LEVEL else 0.0)
        while parts and len(found) < k:
            for x in list(parts):
                group = self._next_group(x, used, {frozenset(g) for v, g in found if v == level})
                if group is None:
                    parts.remove(x)
                    continue
                found.append((level, group))
                for node in group:
                    used[node] = used.get(node, 0) + 1
                if len(found) >= k:
                    return

    def _used_share(self, x: int, used: dict[int, int]) -> float:
        below = self.tree.below(x)
        return sum(used.get(self.tree.owner[leaf], 0) > 0 for leaf in below) / len(below)

    def _next_group(self, x: int, used: dict[int, int], seen: set[frozenset[int]]) -> tuple[int, ...] | None:
        """A group whose nodes only meet at x and that is not in `seen`; the least used nodes first."""
        if not any(self.tree.owner[leaf] in used for leaf in self.tree.below(x)):
            best = self._closest(x)
            if best is not None:
                return best
        child_of = {leaf: child for child in self.tree.children[x] for leaf in self.tree.below(child)}
        order = sorted(child_of, key=lambda leaf: (used.get(self.tree.owner[leaf], 0), self.first[leaf]))
        for leaves in islice(self._spanning(order, child_of), 2 * len(order) + 1000):
            group = tuple(self.tree.owner[leaf] for leaf in leaves)
            if frozenset(group) not in seen:
                return group
        return None

    def _spanning(self, order: list[int], child_of: dict[int, int]) -> Iterator[tuple[int, ...]]:
        """Combinations of leaves, earliest in `order` first, that lie under two children of the part at least."""
        return (c for c in combinations(order, self.m) if len({child_of[leaf] for leaf in c}) > 1)

    def _closest(self, x: int) -> tuple[int, ...] | None:
        """The group that takes whole children, largest first, and descends into the child that holds the rest."""
        if any(self.tree.size[child] >= self.m for child in self.tree.children[x]):
            return None
        picked: list[int] = []
        need = self.m
        pool = deque(sorted(self.tree.children[x], key=self._preference))
        while need:
            enough = list(takewhile(lambda child: self.tree.size[child] >= need, pool))  # noqa: B023
            if enough:
                best = min(enough, key=lambda c: (-self.tree.level[c], self.first[c]))
                if self.tree.size[best] == need:
                    picked += self.tree.below(best)
                    break
                pool = deque(sorted(self.tree.children[best], key=self._preference))
                continue
            child = pool.popleft()
            picked += self.tree.below(child)
            need -= self.tree.size[child]
        return tuple(self.tree.owner[leaf] for leaf in picked)

    def _preference(self, x: int) -> tuple[int, float, int]:
        return (-self.tree.size[x], -self.tree.level[x], self.first[x])
