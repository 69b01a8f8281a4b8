"""How long the first byte takes between every two nodes: for jobs that ask for at most so much.

Source: Selection 1999, 3.4 names latency as what bandwidth leaves out; Remos has it for every link.
"""

from __future__ import annotations

import numpy as np

from gridportal.network.routes import Routes
from scheduling.jobs.core import label_conditions
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.trees.usable_network import Bools, Floats


def slow_pairs(pairs: Pairs, condition: str) -> Bools:
    """n x n: which pairs of the usable nodes do not meet a condition on their latency in seconds, such as <=0.001.

    A pair has the higher latency of its two directions, each the sum over its links; of several paths at once the mean.
    A pair without a path does not meet it, a node with itself does. Cost: O(n^2 * path length).
    """
    latency = _latencies(pairs)
    slow = np.array([[not label_conditions.meets(repr(value), condition) for value in row] for row in latency.tolist()])
    np.fill_diagonal(slow, False)
    return slow


def _latencies(pairs: Pairs) -> Floats:
    names, routes = [node.id for node in pairs.usable], pairs.routes
    found = np.zeros((len(names), len(names)))
    for a, source in enumerate(names):
        for b in range(a):
            found[a, b] = found[b, a] = max(_one_way(routes, source, names[b]), _one_way(routes, names[b], source))
    return found


def _one_way(routes: Routes, source: str, target: str) -> float:
    path = routes.path(source, target)
    links = routes.topology.links
    return np.inf if path is None else sum(links[arc >> 1].latency * part for arc, part in path.loads)
