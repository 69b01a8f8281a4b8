"""Placements in tree order whose flows load no border beyond a level, as far as the pattern can be cut so.

Every part takes one of the numbers of ranks that it can take (flow_bound), as many as possible at a time; the ranks are
split among the parts so that few edges are cut: along their own order, or grown rank by rank.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from scheduling.selection.core.flows.flow_bound import FlowBound, sums
from scheduling.selection.core.pairs import symmetry
from scheduling.selection.core.threshold import Group
from scheduling.selection.core.trees.usable_network import Ints

Split = Callable[[list[int], list[int]], list[list[int]]]
#: How many placements in plain tree order are looked at, each from another part on.
WINDOWS = 24


class FlowStarts:
    """Makes placements for a bound's pattern on its tree."""

    def __init__(self, bound: FlowBound) -> None:
        self.bound, self.tree = bound, bound.tree
        self.ranks = bound.ranks
        edges = [(a, b) for a, b, _ in bound.pattern.edges]
        self.every = bound.pattern.is_all_to_all()
        self.beside = [] if self.every else [sorted(o) for o in symmetry.neighbours(self.ranks, edges)]
        self.leaves = self.tree.leaves()

    def in_tree_order(self) -> Iterator[Group]:
        """The ranks along the tree's leaves: from the first node, on the best nodes, and from other nodes on."""
        room = self.bound.room
        places = [node for node in self.leaves if self.bound.allowed[node] for _ in range(room[node])]
        if len(places) < self.ranks:
            return
        degree = int(self.bound.degrees.max())
        worth = np.array([self.bound.crossings.access(node, degree) for node in range(len(self.tree.home))])
        yield tuple(places[: self.ranks])
        best = set(sorted(range(len(places)), key=lambda at: (-worth[places[at]], at))[: self.ranks])
        yield tuple(node for at, node in enumerate(places) if at in best)
        last = len(places) - self.ranks
        for start in sorted({last * window // WINDOWS for window in range(1, WINDOWS + 1)} - {0}):
            yield tuple(places[start : start + self.ranks])

    def at(self, level: float) -> Iterator[Group]:
        """Placements for a level: each split of the ranks once; none where the bound is below."""
        takes, flows = self._strongest(level)
        if takes is None:
            return
        splits: list[Split] = [self._along] if self.every else [self._along, self._grown]
        for split in splits:
            group = [-1] * self.ranks
            for part, ranks in self._homes(takes, flows, split):
                self._fill(part, ranks, takes, flows, split, group)
            yield tuple(group)

    def _strongest(self, level: float) -> tuple[list[int] | None, Ints]:
        """What parts take, and what nodes let through, of the nodes that serve the busiest rank if these are enough."""
        flows, allowed = self.bound.node_flows(level), self.bound.allowed
        degrees = [degree for degree, _ in reversed(self.bound.needed)] if self.bound.alone else [0]
        takes = None
        for degree in degrees:
            self.bound.allowed = allowed & (flows >= degree)
            takes = self.bound.takes(level)
            if takes is not None:
                flows = self.bound.node_flows(level)
                break
        self.bound.allowed = allowed
        return takes, flows

    def _homes(self, takes: list[int], flows: Ints, split: Split) -> list[tuple[int, list[int]]]:
        """The smallest part that takes all ranks; else those without a part around them, with the ranks of each."""
        everything = list(range(self.ranks))
        for part in self.tree.order:
            if takes[part] >> self.ranks & 1 and not any(takes[c] >> self.ranks & 1 for c in self.tree.children[part]):
                return [(part, everything)]
        roots = [part for part, above in enumerate(self.tree.parent) if above < 0]
        counts = self._counts([takes[part] for part in roots], self.ranks)
        return list(zip(roots, split(everything, counts), strict=True))

    def _fill(self, part: int, ranks: list[int], takes: list[int], flows: Ints, split: Split, group: list[int]) -> None:
        stack = [(part, ranks)]
        while stack:
            part, ranks = stack.pop()
            if not ranks:
                continue
            children = self.tree.children[part]
            counts = self._counts([*(takes[child] for child in children), self.bound.own(part, flows)], len(ranks))
            pieces = split(ranks, counts)
            stack += zip(children, pieces, strict=False)
            self._on_nodes(part, pieces[-1], flows, split, group)

    def _counts(self, takes: Sequence[int], total: int) -> list[int]:
        """A number from each of the sets so that they add up to the total, the largest first."""
        order = sorted(range(len(takes)), key=lambda at: (-takes[at].bit_length(), at))
        after = [1]
        for at in reversed(order):
            after.append(sums(after[-1], takes[at], total))
        after.pop()
        counts = [0] * len(takes)
        left = total
        for at in order:
            rest = after.pop()
            fits = _reversed(rest, left)  # bit s: the others can take left - s
            counts[at] = (takes[at] & fits).bit_length() - 1
            left -= counts[at]
        return counts

    def _on_nodes(self, part: int, ranks: list[int], flows: Ints, split: Split, group: list[int]) -> None:
        """The ranks of a part on its own nodes, the busiest on those that let most through, else in order."""
        if not ranks:
            return
        nodes = self.tree.own[part]
        if self.bound.alone:
            usable = self.bound.crossings.usable
            needs = sorted(ranks, key=lambda rank: (-int(self.bound.degrees[rank]), rank))
            most = int(self.bound.degrees.max())
            strong = sorted(
                (node for node in nodes if flows[node] >= 0),
                key=lambda node: (-min(int(flows[node]), most), -usable[node].effective_cpu, node),
            )[: len(ranks)]
            if len({int(self.bound.degrees[rank]) for rank in ranks}) == 1:
                strong.sort()
            for rank, node in zip(needs, strong, strict=True):
                group[rank] = node
            return
        counts = self._counts([self.bound.node(int(flows[node]), self.bound.room[node]) for node in nodes], len(ranks))
        for node, piece in zip(nodes, split(ranks, counts), strict=True):
            for rank in piece:
                group[rank] = node

    def _along(self, ranks: list[int], counts: Sequence[int]) -> list[list[int]]:
        """Pieces of so many ranks side by side."""
        found, start = [], 0
        for count in counts:
            found.append(ranks[start : start + count])
            start += count
        return found

    def _grown(self, ranks: list[int], counts: Sequence[int]) -> list[list[int]]:
        """Pieces grown from the rank with fewest partners left, always by the one with most partners inside."""
        left = set(ranks)
        partners = {rank: sum(other in left for other in self.beside[rank]) for rank in ranks}
        found: list[list[int]] = [[] for _ in counts]
        for at in sorted(range(len(counts)), key=lambda place: -counts[place]):
            found[at] = sorted(self._piece(left, partners, counts[at]))
        return found

    def _piece(self, left: set[int], partners: dict[int, int], count: int) -> list[int]:
        piece: list[int] = []
        inside: dict[int, int] = {}
        queue: list[tuple[int, int, int]] = []
        while len(piece) < count:
            rank = -1
            while queue and rank < 0:
                within, _, candidate = heapq.heappop(queue)
                if candidate in left and -within == inside[candidate]:
                    rank = candidate
            if rank < 0:
                rank = min(left, key=lambda each: (partners[each], each))
            left.remove(rank)
            piece.append(rank)
            for other in self.beside[rank]:
                if other in left:
                    partners[other] -= 1
                    inside[other] = inside.get(other, 0) + 1
                    heapq.heappush(queue, (-inside[other], partners[other], other))
        return piece


def _reversed(bits: int, most: int) -> int:
    """Bit `most` - s for each bit s up to `most`."""
    kept = bits & ((1 << (most + 1)) - 1)
    return int(bin(kept)[:1:-1].ljust(most + 1, "0"), 2)
