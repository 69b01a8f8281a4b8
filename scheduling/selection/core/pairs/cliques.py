"""Is there a set of m vertices that are all joined? The all-to-all pattern's decision."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from scheduling.selection.core.pairs.bit_rows import bit_rows
from scheduling.selection.core.pairs.embedding import run, set_rows
from scheduling.selection.core.trees.usable_network import Bools


class CliqueSearch:
    """Finds a clique of `m` vertices if there is one. Exact; exponential at worst, a vertex set that needs fewer than m
    colours is cut off. `tick` is called every some milliseconds and may raise."""

    def __init__(self, m: int, tick: Callable[[], None]) -> None:
        self.m = m
        self.tick = tick

    def find(
        self, joined: Bools, taken: Sequence[frozenset[int]] = (), limit: int | None = None
    ) -> tuple[int, ...] | None:
        """Vertices of a clique in a symmetric boolean matrix without diagonal, in rising order, or None.

        Cliques in `taken` are passed over. Raises OutOfSteps after about `limit` steps.
        """
        from scheduling.selection.core.pairs import clique_steps as steps
        from scheduling.selection.core.pairs.vertex_order import hopeful_vertices

        order = hopeful_vertices(bit_rows(joined), self.m - 1, self.m)[0][::-1]
        if len(order) < self.m:
            return None
        adjacent = bit_rows(joined[np.ix_(order, order)])
        words = adjacent.shape[1]
        candidates = np.zeros((self.m, words), dtype=np.uint64)
        candidates[0] = bit_rows(np.ones((1, len(order)), dtype=bool))[0]
        state = steps.CliqueState(
            adjacent=adjacent,
            taken=set_rows(taken, order),
            candidates=candidates,
            to_try=np.zeros((self.m, len(order)), dtype=np.int64),
            tries=np.zeros(self.m, dtype=np.int64),
            clique=np.zeros(self.m, dtype=np.int64),
            depth=np.zeros(1, dtype=np.int64),
        )
        steps.start(state)
        found = run(lambda budget: steps.search_on(state, budget), self.tick, limit)
        return tuple(sorted(order[state.clique].tolist())) if found else None
