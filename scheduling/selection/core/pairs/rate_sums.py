"""Among placements whose lowest rate is the same, one with a higher sum: moves and exchanges until none helps.

Not in the papers, which stop at the lowest rate.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.pairs.symmetry import neighbours
from scheduling.selection.core.threshold import Group, OutOfTime
from scheduling.selection.core.trees.usable_network import Bools, Floats

ROUNDS = 500


class RateSums:
    """Moves of one rank to a free node, and exchanges of two ranks, that keep the lowest rate.

    rates: n x n symmetric. domains: ranks x n, where each rank may stand, or None. O(edges n + ranks edges) a round.
    `tick` is called at every round and may raise OutOfTime: the best so far stays.
    """

    def __init__(self, rates: Floats, pattern: Pattern, domains: Bools | None, tick: Callable[[], None]) -> None:
        self.rates, self.edges, self.tick = rates, pattern.edges, tick
        allowed = np.ones((pattern.ranks, len(rates)), dtype=bool) if domains is None else domains
        self.domains = np.ascontiguousarray(allowed)  # of columns in another order the loop would be compiled once more
        beside = neighbours(pattern.ranks, [(a, b) for a, b, _ in pattern.edges])
        weights = {(a, b): weight for a, b, weight in pattern.edges}
        self.degree = np.array([len(partners) for partners in beside])
        self.beside = np.zeros((pattern.ranks, int(self.degree.max())), dtype=np.int64)
        self.weight = np.zeros(self.beside.shape)
        for r, partners in enumerate(beside):
            for i, s in enumerate(sorted(partners)):
                self.beside[r, i], self.weight[r, i] = s, weights[min(r, s), max(r, s)]

    def raised(self, group: Group, level: float) -> Group:
        """From a placement worth `level` at least to one that is so too, and whose weighted sum is not lower."""
        from scheduling.selection.core.pairs.rate_sum_steps import raise_sum

        at = np.array(group)
        least = 1e-9 * max(self.sum(group), 1.0)  # more than rounding, so that it cannot run in circles
        with suppress(OutOfTime):
            for _ in range(ROUNDS):
                self.tick()
                if not raise_sum(at, self.rates, self.beside, self.weight, self.degree, self.domains, level, least):
                    break
        return tuple(at.tolist())

    def may_stand(self, group: Group) -> bool:
        """Whether each rank is where it may stand."""
        return bool(self.domains[np.arange(len(group)), np.array(group)].all())

    def sum(self, group: Group) -> float:
        """The weighted sum of finite rates, rounded so that the order of summation does not show."""
        rates = ((weight, float(self.rates[group[a], group[b]])) for a, b, weight in self.edges)
        return round(sum(weight * rate for weight, rate in rates if abs(rate) < np.inf), 3)
