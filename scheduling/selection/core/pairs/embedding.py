"""Does a pattern fit into a graph? An exact search with rows of bits.

Source: Pattern 2003, figure 1, step 2 ("attempt to find a subgraph"), on the graph of pairs that are good enough.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from scheduling.selection.core.pairs import symmetry
from scheduling.selection.core.pairs.bit_rows import BitRows, bit_rows
from scheduling.selection.core.threshold import OutOfSteps
from scheduling.selection.core.trees.usable_network import Bools, Groups, Ints

if TYPE_CHECKING:
    from scheduling.selection.core.pairs.embedding_steps import EmbeddingState

#: Steps between two looks at the clock: some milliseconds.
STEPS = 20_000
PASSED = 256


class Embedding:
    """Finds places for the ranks of a pattern so that ranks that talk lie on joined vertices, if there are any.

    Leaves out vertices with too few neighbours or in parts that are too small, goes on with the rank that has the
    fewest places, and checks forward. Symmetric placements are tried once (`symmetry.rank_order`): vertices are
    numbered so that those that are hopeless soonest come first. Exact; exponential at worst. `tick` is called every
    some milliseconds and may raise.
    """

    def __init__(self, ranks: int, edges: Sequence[tuple[int, int]], tick: Callable[[], None]) -> None:
        self.ranks, self.tick = ranks, tick
        self.edges = tuple(sorted((min(e), max(e)) for e in edges))
        beside = symmetry.neighbours(ranks, self.edges)
        self.degree = np.array([len(partners) for partners in beside], dtype=np.int64)
        self.beside = np.full((ranks, int(self.degree.max())), -1, dtype=np.int64)
        for r, partners in enumerate(beside):
            self.beside[r, : len(partners)] = sorted(partners)
        self.part = _part_sizes(ranks, self.edges)

    def find(
        self,
        joined: Bools,
        taken: Sequence[frozenset[int]] = (),
        allowed: Bools | None = None,
        limit: int | None = None,
    ) -> tuple[int, ...] | None:
        """Vertices for ranks 0, 1, ... in a symmetric boolean matrix without diagonal; None when there is no place.

        allowed: ranks x vertices, where each rank may stand; None: everywhere. Placements on a vertex set in `taken`
        are passed over, up to PASSED times; then one is returned, and who wants another set asks again without each of
        its vertices (`ThresholdSearch` does). Raises OutOfSteps after about `limit` steps.
        """
        from scheduling.selection.core.pairs import embedding_steps as steps
        from scheduling.selection.core.pairs.vertex_order import hopeful_vertices

        order, part = hopeful_vertices(bit_rows(joined), int(self.degree.min()), int(self.part.min()))
        if len(order) < self.ranks:
            return None
        graph = joined[np.ix_(order, order)]
        inside = (graph.sum(axis=1) >= self.degree[:, None]) & (part >= self.part[:, None])
        if allowed is not None:
            inside &= allowed[:, order]
        if not inside.any(axis=1).all():
            return None
        kinds = () if allowed is None else symmetry.rank_kinds(allowed)
        state = self._state(graph, inside, set_rows(taken, order), kinds)
        found = run(lambda budget: steps.search_on(state, budget), self.tick, limit)
        return tuple(order[state.placed].tolist()) if found else None

    def _state(self, graph: Bools, inside: Bools, taken: BitRows, kinds: tuple[int, ...]) -> EmbeddingState:
        from scheduling.selection.core.pairs.embedding_steps import EmbeddingState

        ranks, adjacent = self.ranks, bit_rows(graph)
        precedes = np.zeros((ranks, ranks), dtype=bool)
        for r, others in symmetry.rank_order(ranks, self.edges, kinds):
            precedes[r, list(others)] = True
        words = adjacent.shape[1]
        most_saved = len(self.edges) + int(precedes.sum()) + 1
        return EmbeddingState(
            adjacent=adjacent,
            beside=self.beside,
            degree=self.degree,
            precedes=precedes,
            taken=taken,
            domains=bit_rows(inside),
            counts=inside.sum(axis=1),
            placed=np.full(ranks, -1),
            used=np.zeros(words, dtype=np.uint64),
            rank_at=np.zeros(ranks, dtype=np.int64),
            untried=np.zeros((ranks, words), dtype=np.uint64),
            saved_domains=np.empty((most_saved, words), dtype=np.uint64),
            saved=np.empty((most_saved, 2), dtype=np.int64),
            mark=np.zeros(ranks, dtype=np.int64),
            at=np.array([0, 1, 0, PASSED]),
        )


def run(search_on: Callable[[int], int], tick: Callable[[], None], limit: int | None) -> bool:
    """Let a search go on until it knows whether there is an answer, with a `tick` now and then, which may raise.

    `search_on` takes a number of steps and says 1 (yes), 0 (no) or -1 (not yet). Raises OutOfSteps after `limit`.
    """
    left = sys.maxsize if limit is None else limit
    while left > 0:
        tick()
        answer = search_on(min(left, STEPS))
        if answer >= 0:
            return answer > 0
        left -= STEPS
    raise OutOfSteps


def set_rows(taken: Sequence[frozenset[int]], order: Ints) -> BitRows:
    """Those vertex sets that lie among the vertices of `order`, by place there, as rows of bits."""
    place = {vertex: i for i, vertex in enumerate(order.tolist())}
    inside = [[place[v] for v in vertices] for vertices in taken if vertices <= place.keys()]
    rows = np.zeros((len(inside), len(order)), dtype=bool)
    for row, places in zip(rows, inside, strict=True):
        row[places] = True
    return bit_rows(rows)


def _part_sizes(ranks: int, edges: Sequence[tuple[int, int]]) -> Ints:
    """How many ranks hang together with each."""
    groups = Groups(ranks)
    for a, b in edges:
        groups.join(a, b)
    roots = np.array([groups.root(r) for r in range(ranks)])
    return np.asarray(np.bincount(roots)[roots])
