"""Among placements whose lowest rate is the same, one with a higher sum: exchanges, all of a round at once.

Not in the papers, which stop at the lowest rate.
"""

from __future__ import annotations

import numpy as np

from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.threshold import Group
from scheduling.selection.core.usable_network import Bools, Floats, Ints

ROUNDS = 500


class RateSums:
    """Moves of one rank to a free node, and exchanges of two ranks, that keep the lowest rate.

    rates: n x n symmetric. domains: ranks x n, where each rank may stand, or None. O(ranks^2 n) for each round.
    """

    def __init__(self, rates: Floats, pattern: Pattern, domains: Bools | None) -> None:
        self.ranks, self.domains = pattern.ranks, domains
        self.weight = np.zeros((pattern.ranks, pattern.ranks))
        for a, b, weight in pattern.edges:
            self.weight[a, b] = self.weight[b, a] = weight
        self.talks = (self.weight > 0).astype(np.float64)
        self.rates = rates
        self.counted = np.where(np.isfinite(rates), rates, 0.0)

    def raised(self, group: Group, level: float) -> Group:
        """From a placement worth `level` at least to one that is so too, and whose weighted sum is not lower."""
        at = np.array(group)
        for _ in range(ROUNDS):
            better = self._step(at, level)
            if better is None:
                break
            at = better
        return tuple(at.tolist())

    def may_stand(self, group: Group) -> bool:
        """Whether each rank is where it may stand."""
        return self.domains is None or bool(self.domains[np.arange(self.ranks), np.array(group)].all())

    def sum(self, group: Group) -> float:
        """The weighted sum of rates, rounded so that the order of summation does not show."""
        return round(float((self.weight * self.counted[np.ix_(group, group)]).sum()) / 2, 3)

    def _step(self, at: Ints, level: float) -> Ints | None:
        sums = self.weight @ self.counted[at]
        below = self.rates[at] < level
        below[np.arange(self.ranks), at] = False
        allowed = self.talks @ below == 0
        if self.domains is not None:
            allowed &= self.domains
        now = sums[np.arange(self.ranks), at]
        moves = np.where(allowed, sums - now[:, None], -np.inf)
        moves[:, at] = -np.inf
        swaps = self._swaps(at, sums, now, allowed)
        most = max(moves.max(), swaps.max())
        # More than rounding, so that the search cannot run in circles.
        if not most > 1e-9 * max(now.sum(), 1.0):
            return None
        better = at.copy()
        if moves.max() == most:
            rank, node = np.unravel_index(int(moves.argmax()), moves.shape)
            better[rank] = node
        else:
            first, second = np.unravel_index(int(swaps.argmax()), swaps.shape)
            better[[first, second]] = at[[second, first]]
        return better

    def _swaps(self, at: Ints, sums: Floats, now: Floats, allowed: Bools) -> Floats:
        """What each exchange of two ranks adds to the sum; -inf where it is not allowed."""
        inner = sums[:, at] - now[:, None]
        between = 2 * self.weight * self.counted[np.ix_(at, at)]
        fits = allowed[:, at]
        return np.where(fits & fits.T, inner + inner.T + between, -np.inf)
