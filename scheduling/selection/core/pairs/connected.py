"""How many nodes can talk at all, for whoever asked for more."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gridportal.network.narrowest import bandwidth
from scheduling.selection.core.pairs.cliques import CliqueSearch
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.threshold import OutOfTime
from scheduling.selection.core.trees import usable_network as networks
from scheduling.selection.core.trees.part_sizes import part_sizes
from scheduling.selection.core.trees.usable_network import Bools

#: Larger networks with cycles have no matrix of all pairs made for this.
MOST_NODES = 1024


def largest_connected(pairs: Pairs, below: int, tick: Callable[[], None], *, every_pair: bool) -> int | None:
    """The size of the largest set of nodes that are joined by paths, of which fewer than `below` are known to be.

    `every_pair`: each with each other; else it is enough that each is reached over others. None where that is not found
    out before `tick` raises OutOfTime. Cost: O(n log n) on trees, else a matrix of all pairs, and exponential at worst.
    """
    tree = pairs.tree(bandwidth)
    if tree is not None and networks.is_star_like(tree):
        return int(part_sizes(tree, tree.w).sizes.max(initial=min(1, tree.count)))
    if len(pairs.usable) > MOST_NODES:
        return None
    joined = np.isfinite(pairs.rates(bandwidth))
    if not every_pair:
        return _largest_component(joined)
    try:
        return next((m for m in range(below - 1, 1, -1) if CliqueSearch(m, tick).find(joined)), 1)
    except OutOfTime:
        return None


def _largest_component(joined: Bools) -> int:
    left, best = set(range(len(joined))), 0
    while left:
        part, frontier = set[int](), {left.pop()}
        while frontier:
            part |= frontier
            frontier = {int(node) for here in frontier for node in np.flatnonzero(joined[here])} - part
        left -= part
        best = max(best, len(part))
    return best
