"""What the slowest flow of a placement gets with another node in the place of one of its own.

The flows between the other nodes stay as they are, so only those of the new node are added to them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from scheduling.selection.core.flows.link_crossings import LinkCrossings


class ExchangedFlows:
    """A placement, `places` rank by rank, whose `edges` all talk both ways at once.

    Cost: O(edges * path) once for each node that is given up, then O(its edges * path) for each node in its place.
    """

    def __init__(self, crossings: LinkCrossings, places: Sequence[int], edges: Sequence[tuple[int, int]]) -> None:
        self.crossings, self.places, self.edges = crossings, places, edges
        self._kept: dict[int, tuple[dict[int, int], float, list[int]]] = {}

    def lowest(self, left: int, taken: int) -> float:
        """As LinkCrossings.lowest of the placement with the node `taken` in the place of `left`."""
        if left not in self._kept:
            self._kept[left] = self._without(left)
        load, least, partners = self._kept[left]
        more: dict[int, int] = {}
        for partner in partners:
            ways = self.crossings.loads(taken, partner)
            if ways is None:
                return -math.inf
            for arc, units in ways:
                more[arc] = more.get(arc, load.get(arc, 0)) + units
        rates = (self.crossings.rate(arc, flows) for arc, flows in more.items())
        return min(least, self.crossings.caps[taken], *rates)

    def _without(self, left: int) -> tuple[dict[int, int], float, list[int]]:
        """Without a node what crosses every link, the least of it, and the partners of the node, once for each edge."""
        ends = [(self.places[a], self.places[b]) for a, b in self.edges]
        kept = [pair for pair in ends if left not in pair]
        partners = [b if a == left else a for a, b in ends if left in (a, b)]
        load = self.crossings.loads_of(kept)
        if load is None:
            return {}, -math.inf, partners
        rates = [self.crossings.rate(arc, flows) for arc, flows in load.items()]
        caps = [self.crossings.caps[node] for node in set(self.places) - {left}]
        return load, min([*rates, *caps], default=math.inf), partners
