"""What flows between any two switches cross, as one table: for searches and sums that look at very many of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduling.selection.core.trees.usable_network import Ints

#: Networks with more switches that have nodes get no table: it has a row for each two of them.
MOST_SWITCHES = 1024


@dataclass(frozen=True)
class WayTable:
    """home: of each usable node the number of its switch, 0..count - 1. The flows of a pair, both ways, of nodes on the
    switches `one` and `other` cross `names[crossed[start[k] : start[k + 1]]]`, k = one * count + other, beside what is
    their nodes' own; nothing on one switch."""

    home: Ints
    count: int
    start: Ints
    crossed: Ints
    names: Ints

    @classmethod
    def of(cls, home: Ints, count: int, keys: Ints, crossed: Ints) -> WayTable:
        """From (k, what is crossed) in any order."""
        order = np.argsort(keys, kind="stable")
        names, numbers = np.unique(crossed[order], return_inverse=True)
        start = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=count * count))])
        return cls(home, count, start.astype(np.int64), numbers.astype(np.int64), names)

    def crossings(self, a: Ints, b: Ints) -> Ints:
        """How often flows between the nodes a and b (one pair each) cross every one of `names`."""
        keys, times = np.unique(self.home[a] * self.count + self.home[b], return_counts=True)
        many = self.start[keys + 1] - self.start[keys]
        first = np.repeat(self.start[keys] - np.concatenate([[0], np.cumsum(many)[:-1]]), many)
        crossed = self.crossed[first + np.arange(int(many.sum()))]
        return np.bincount(crossed, np.repeat(times, many), minlength=len(self.names)).astype(np.int64)
