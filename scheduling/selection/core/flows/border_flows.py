"""How many flows the borders of parts of a network let through at a level, all borders at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduling.selection.core.flows.link_crossings import LinkCrossings
from scheduling.selection.core.trees.switch_tree import Border
from scheduling.selection.core.trees.usable_network import Floats, Ints


class BorderFlows:
    """How many flows several borders let through, all at once."""

    def __init__(self, borders: Sequence[Border]) -> None:
        self.count = len(borders)
        self.sides = [_side([border.out for border in borders]), _side([border.into for border in borders])]
        self.even = np.array([border.even for border in borders], dtype=bool)

    def flows(self, crossings: LinkCrossings, level: float) -> Ints:
        """Of each, in the direction that lets less through."""
        least = np.full(self.count, np.inf)
        for arcs, owner in self.sides:
            each = crossings.most_flows(arcs, level)
            total = np.bincount(owner, each, minlength=self.count)
            if self.even.any():
                fewest = np.full(self.count, np.inf)
                np.minimum.at(fewest, owner, each)
                total = np.where(self.even, fewest * np.bincount(owner, minlength=self.count), total)
            least = np.minimum(least, total)
        return whole_flows(least)


def whole_flows(flows: Floats) -> Ints:
    """Rounded down to whole flows, but for the rounding of the figures themselves."""
    whole: Ints = np.where(np.isfinite(flows), np.floor(flows * (1 + 1e-12) + 1e-9), 1e15).astype(np.int64)
    return whole


def _side(arcs: Sequence[Ints]) -> tuple[Ints, Ints]:
    owner = np.repeat(np.arange(len(arcs)), [len(each) for each in arcs])
    return (np.concatenate(arcs).astype(np.int64) if len(arcs) else np.zeros(0, dtype=np.int64)), owner
