"""Is there a set of m vertices that are all joined? The all-to-all pattern's decision.

Source: the bound by greedy colouring is that of Tomita and Seki (2003), on bit sets as San Segundo (2011).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from scheduling.selection.core.embedding import bits, core
from scheduling.selection.core.symmetry import rank_kinds
from scheduling.selection.core.usable_network import Bools


class CliqueSearch:
    """Finds a clique of `m` vertices if there is one. Exact; exponential at worst, a vertex set that needs fewer than m
    colours is cut off. `tick` is called at every step and may raise."""

    def __init__(self, m: int, tick: Callable[[], None]) -> None:
        self.m = m
        self.tick = tick

    def find(
        self, joined: Bools, taken: Sequence[frozenset[int]] = (), allowed: Bools | None = None
    ) -> tuple[int, ...] | None:
        """Vertices of a clique in a symmetric boolean matrix without diagonal, or None.

        Cliques in `taken` are passed over. allowed: m x vertices, where each rank may stand. Ranks that may stand on
        the same vertices have them in rising order.
        """
        alive = core(joined, self.m - 1)
        if len(alive) < self.m:
            return None
        graph = joined[np.ix_(alive, alive)]
        order = _degeneracy(graph)
        self.adjacent = bits(graph[np.ix_(order, order)])
        place = {int(alive[v]): i for i, v in enumerate(order)}
        known = [{place[v] for v in vertices} for vertices in taken if vertices <= place.keys()]
        self.taken = {sum(1 << v for v in vertices) for vertices in known}
        kinds = (0,) * self.m if allowed is None else rank_kinds(allowed)
        inside = {kind: (1 << len(order)) - 1 for kind in kinds}
        if allowed is not None:
            inside = dict(zip(kinds, bits(allowed[:, alive[order]]), strict=True))
        found = self._expand(inside, Counter(kinds), 0)
        return None if found is None else _by_rank(kinds, [(kind, int(alive[order[v]])) for kind, v in found])

    def _expand(self, candidates: dict[int, int], need: Counter[int], clique: int) -> list[tuple[int, int]] | None:
        """Kind and vertex of each rank that is still to be placed. `candidates`, `need`: of each kind of ranks."""
        kind = min((k for k in need if need[k]), key=lambda k: candidates[k].bit_count(), default=None)
        if kind is None:
            return None if clique in self.taken else []
        self.tick()
        fewer = need - Counter([kind])
        for v in self._worth_trying(candidates[kind], need[kind]):
            near = {k: candidates[k] & self.adjacent[v] for k in fewer}
            found = self._expand(near, fewer, clique | 1 << v)
            if found is not None:
                return [(kind, v), *found]
            candidates[kind] &= ~(1 << v)
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


def _by_rank(kinds: Sequence[int], found: list[tuple[int, int]]) -> tuple[int, ...]:
    """The vertex of each rank: ranks of a kind take those of their kind as they rise."""
    left = {kind: iter(sorted(v for k, v in found if k == kind)) for kind in kinds}
    return tuple(next(left[kind]) for kind in kinds)


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
