"""Is there a set of m vertices that are all joined? The all-to-all pattern's decision.

Source: the bound by greedy colouring is that of Tomita and Seki (2003), on bit sets as San Segundo (2011).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from scheduling.selection.core.embedding import Bools, bits, core


class CliqueSearch:
    """Finds a clique of `m` vertices if there is one. Exact; exponential at worst, a vertex set that needs fewer than m
    colours is cut off. `tick` is called at every step and may raise."""

    def __init__(self, m: int, tick: Callable[[], None]) -> None:
        self.m = m
        self.tick = tick

    def find(self, joined: Bools, taken: Sequence[frozenset[int]] = ()) -> tuple[int, ...] | None:
        """Vertices of a clique in a symmetric boolean matrix without diagonal, in rising order, or None.

        Cliques in `taken` are passed over.
        """
        alive = core(joined, self.m - 1)
        if len(alive) < self.m:
            return None
        graph = joined[np.ix_(alive, alive)]
        order = _degeneracy(graph)
        self.adjacent = bits(graph[np.ix_(order, order)])
        place = {int(alive[v]): i for i, v in enumerate(order)}
        inside = [{place[v] for v in vertices} for vertices in taken if vertices <= place.keys()]
        self.taken = {sum(1 << v for v in vertices) for vertices in inside}
        found = self._expand((1 << len(order)) - 1, self.m, 0)
        return None if found is None else tuple(sorted(int(alive[order[v]]) for v in found))

    def _expand(self, candidates: int, need: int, clique: int) -> list[int] | None:
        if need == 0:
            return None if clique in self.taken else []
        self.tick()
        for v in self._worth_trying(candidates, need):
            found = self._expand(candidates & self.adjacent[v], need - 1, clique | 1 << v)
            if found is not None:
                return [v, *found]
            candidates &= ~(1 << v)
        return None

    def _worth_trying(self, candidates: int, need: int) -> list[int]:
        """The vertices beyond the first need-1 colours, last first: without one of them no clique is large enough."""
        if candidates.bit_count() < need:
            return []
        late: list[int] = []
        colour = 0
        left = candidates
        while left:
            colour += 1
            free = left
            while free:
                low = free & -free
                v = low.bit_length() - 1
                left ^= low
                free &= ~(self.adjacent[v] | low)
                if colour >= need:
                    late.append(v)
        return late[::-1]


def _degeneracy(graph: Bools) -> list[int]:
    """Vertices so that those that are removed first (fewest neighbours left) come last."""
    degree = graph.sum(axis=1).astype(np.int64)
    gone = np.zeros(len(graph), dtype=bool)
    order = []
    for _ in range(len(graph)):
        v = int(np.where(gone, len(graph) + 1, degree).argmin())
        gone[v] = True
        degree -= graph[v]
        order.append(v)
    return order[::-1]
