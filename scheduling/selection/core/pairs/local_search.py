"""Good placements quickly: greedy growth from every node, then exchanges. The exact search starts from these.

Not in the papers. Many starts with pairwise exchanges reach nearly every optimum on small instances.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from scheduling.selection.core.pairs import symmetry
from scheduling.selection.core.threshold import Group, OutOfTime
from scheduling.selection.core.trees.usable_network import Bools, Floats, Ints

Score = tuple[float, ...]

STARTS = 64
ROUNDS = 200


class LocalSearch:
    """Improves placements of ranks on nodes by (lowest rate, weighted sum of rates), in that order.

    Promises nothing but that a result is no worse than where it started. Cost: one exchange looks at n + m placements
    of E edges each. `rates`: n x n symmetric; edges (a, b, weight). `tick` may raise OutOfTime: the best so far stays.
    `domains`: ranks x n, where each rank may stand; None where all may stand everywhere.
    """

    def __init__(
        self,
        rates: Floats,
        ranks: int,
        edges: Sequence[tuple[int, int, float]],
        tick: Callable[[], None],
        domains: Bools | None = None,
    ) -> None:
        self.rates, self.ranks, self.tick, self.domains = rates, ranks, tick, domains
        self.a = np.array([a for a, _, _ in edges], dtype=np.int64)
        self.b = np.array([b for _, b, _ in edges], dtype=np.int64)
        self.weight = np.array([w for _, _, w in edges])
        self.beside = symmetry.neighbours(ranks, [(a, b) for a, b, _ in edges])

    def starts(self) -> list[Group]:
        """Locally best placements grown from up to 64 nodes, those with the strongest rates first."""
        found: dict[Group, None] = {}
        strength = np.where(np.isfinite(self.rates), self.rates, 0.0).sum(axis=1)
        order = self._growth_order()
        strongest = np.argsort(-strength, kind="stable")
        if self.domains is not None:
            strongest = strongest[self.domains[order[0], strongest]]
        for node in strongest[:STARTS]:
            grown = self._grow(int(node), order)
            if grown is None:
                continue
            try:
                grown = self.improve(grown)
            except OutOfTime:
                found[grown] = None
                break
            found[grown] = None
        return [group for group in found if np.isfinite(self.lowest(group))]

    def lowest(self, group: Group) -> float:
        """The lowest rate of a placement."""
        at = np.array(group)
        return float(self.rates[at[self.a], at[self.b]].min())

    def score(self, group: Group) -> Score:
        """(lowest rate, weighted sum of rates) of a placement."""
        return self._scores(np.array(group)[None, :])[0]

    def improve(self, group: Group) -> Group:
        """Exchange nodes until nothing helps."""
        at = np.array(group, dtype=np.int64)
        score = self.score(group)
        for _ in range(ROUNDS):
            better = self._better(at, score, self._bottleneck_ranks(at)) or self._better(at, score, range(self.ranks))
            if better is None:
                break
            at, score = better
        return tuple(at.tolist())

    def _bottleneck_ranks(self, at: Ints) -> list[int]:
        slowest = int(self.rates[at[self.a], at[self.b]].argmin())
        return [int(self.a[slowest]), int(self.b[slowest])]

    def _better(self, at: Ints, score: Score, ranks: Sequence[int]) -> tuple[Ints, Score] | None:
        for r in ranks:
            self.tick()
            options = self.exchanges(at, r)
            scores = self._scores(options)
            best = max(range(len(scores)), key=scores.__getitem__, default=None)
            if best is not None and scores[best] > score:
                return options[best], scores[best]
        return None

    def exchanges(self, at: Ints, r: int) -> Ints:
        """Every allowed placement in which rank r moves to a free node or changes places with another rank."""
        free = np.setdiff1d(np.arange(len(self.rates)), at)
        moved = np.tile(at, (len(free), 1))
        moved[:, r] = free
        swapped = np.tile(at, (self.ranks, 1))
        swapped[np.arange(self.ranks), np.arange(self.ranks)] = at[r]
        swapped[:, r] = at
        options: Ints = np.concatenate([moved, swapped])
        return options if self.domains is None else options[self.allowed(options)]

    def allowed(self, options: Ints) -> Bools:
        """Which placements have every rank where it may stand."""
        if self.domains is None:
            return np.ones(len(options), dtype=bool)
        return np.asarray(self.domains[np.arange(self.ranks), options].all(axis=1))

    def _scores(self, options: Ints) -> list[Score]:
        seen = self.rates[options[:, self.a], options[:, self.b]]
        lowest = seen.min(axis=1)
        total = np.where(np.isfinite(seen), seen, 0.0) @ self.weight
        # Rounded, so that the order of summation cannot pass for an improvement and make the search run in circles.
        return list(zip(lowest.tolist(), np.round(total, 3).tolist(), strict=True))

    def _growth_order(self) -> list[int]:
        """Ranks so that each has as many partners before it as possible; those with one place only come first."""
        single = [] if self.domains is None else np.flatnonzero(self.domains.sum(axis=1) == 1).tolist()
        order: list[int] = single
        left = set(range(self.ranks)).difference(single)
        while left:
            r = max(left, key=lambda s: (len(self.beside[s].intersection(order)), len(self.beside[s]), -s))
            order.append(r)
            left.remove(r)
        return order

    def _grow(self, node: int, order: list[int]) -> Group | None:
        at = np.full(self.ranks, -1, dtype=np.int64)
        free = np.ones(len(self.rates), dtype=bool)
        strongest = self.rates.max(axis=1)
        for position, r in enumerate(order):
            partners = [at[s] for s in self.beside[r] if at[s] >= 0]
            reach = self.rates[partners].min(axis=0) if partners else strongest
            open_ = free if self.domains is None else free & self.domains[r]
            choice = node if position == 0 else int(np.where(open_, np.maximum(reach, -1.0), -2.0).argmax())
            if not open_[choice]:
                return None
            at[r], free[choice] = choice, False
        return tuple(at.tolist())
