"""One sweep over the links in falling order, kept as a tree: what is connected at every bandwidth at once.

Source: Selection 1999, figures 2 and 3. Removing the weakest link again and again, as the paper does, visits the same
sets from the other end at O(n) per link; the sweep costs one sort.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

import numpy as np

from scheduling.selection.core.trees.usable_network import Floats, Groups, Network, capped_links


class MergeTree:
    """Leaves 0..leaves-1 stand for compute nodes (`owner[leaf]`), inner nodes for connected parts.

    level[x]: the value at which part x forms, +inf for a leaf. children[x]; size[x]: leaves below. Equal levels form
    one node. roots: the parts that nothing joins. A compute node with several links has a leaf for each.
    """

    def __init__(self, network: Network, caps: Sequence[float] | None = None) -> None:
        """Sweep the links, each worth no more than the `caps` of the compute nodes at its ends. Cost: O(E log E).

        With caps of cpu fractions this is the balanced algorithm as one sweep: a node joins when both its cpu and its
        link allow it (figure 3, without its early stop).
        """
        self.owner: list[int] = []
        self.level: list[float] = []
        self.children: list[list[int]] = []
        self.size: list[int] = []
        self.roots: list[int] = []
        self.parent: list[int] = []
        self._sweep(network, capped_links(network, caps))

    def _sweep(self, network: Network, worth: Floats) -> None:
        n = network.count
        order = np.argsort(-worth, kind="stable")
        u, v, w = network.u[order].tolist(), network.v[order].tolist(), worth[order].tolist()
        self.owner = [end for pair in zip(u, v, strict=True) for end in pair if end < n]
        seen = set(self.owner)
        self.owner += [node for node in range(n) if node not in seen]
        self.leaves = len(self.owner)
        self.level = [np.inf] * self.leaves
        self.children = [[] for _ in range(self.leaves)]
        self.size = [1] * self.leaves
        groups = Groups(self.leaves + network.size)
        top = dict(zip(range(self.leaves), range(self.leaves), strict=True))
        leaf = 0
        for a, b, value in zip(u, v, w, strict=True):
            ends = []
            for end in (a, b):
                ends.append(leaf if end < n else self.leaves + end)
                leaf += end < n
            self._join(groups, top, ends[0], ends[1], value)
        self.roots = sorted(top.values())
        self.parent = [-1] * len(self.level)
        for x, below in enumerate(self.children):
            for child in below:
                self.parent[child] = x

    def _join(self, groups: Groups, top: dict[int, int], a: int, b: int, value: float) -> None:
        a, b = groups.root(a), groups.root(b)
        if a == b:
            return
        left, right = top.pop(a, -1), top.pop(b, -1)
        groups.join(a, b)
        merged = self._merge(left, right, value) if left >= 0 and right >= 0 else max(left, right)
        if merged >= 0:
            top[b] = merged

    def _merge(self, left: int, right: int, value: float) -> int:
        if len(self.children[left]) < len(self.children[right]):
            left, right = right, left
        size = self.size[left] + self.size[right]
        if self.level[left] == value and self.children[left]:
            same = self.level[right] == value and self.children[right]
            self.children[left].extend(self.children[right] if same else [right])
            if same:  # swallowed whole: nothing points at it any more
                self.children[right] = []
            self.size[left] = size
            return left
        if self.level[right] == value and self.children[right]:
            self.children[right].append(left)
            self.size[right] = size
            return right
        self.level.append(value)
        self.children.append([left, right])
        self.size.append(size)
        return len(self.level) - 1

    def below(self, x: int) -> list[int]:
        """The leaves under x, closest relatives side by side."""
        found, stack = [], [x]
        while stack:
            here = stack.pop()
            if here < self.leaves:
                found.append(here)
            stack.extend(self.children[here])
        return found

    def part_of(self, x: int, value: float) -> int:
        """The connected part around x when only links worth at least `value` are left."""
        while self.parent[x] >= 0 and self.level[self.parent[x]] >= value:
            x = self.parent[x]
        return x

    def joined_at(self, leaves: Iterable[int]) -> float:
        """The level at which all of `leaves` are in one part; -inf when they never are."""
        queue = [(-self.level[leaf], leaf) for leaf in set(leaves)]
        heapq.heapify(queue)
        while len(queue) > 1:
            _, x = heapq.heappop(queue)
            above = self.parent[x]
            if above < 0:
                return -np.inf
            if all(above != other for _, other in queue):
                heapq.heappush(queue, (-self.level[above], above))
        return self.level[queue[0][1]]

    def parts_at(self, value: float) -> list[int]:
        """The connected parts when only links worth at least `value` are left (leaves that stand alone included)."""
        stack, found = list(self.roots), []
        while stack:
            x = stack.pop()
            if self.level[x] >= value:
                found.append(x)
            else:
                stack.extend(self.children[x])
        return found
