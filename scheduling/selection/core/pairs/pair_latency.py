"""How long the first byte takes between every two nodes: for jobs that ask for at most so much.

Source: Selection 1999, 3.4 names latency as what bandwidth leaves out; Remos has it for every link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gridportal.base.reasons import NOTHING, Code, Reason
from gridportal.network.link_table import latencies
from gridportal.network.narrowest import bandwidth
from gridportal.network.routes import Routes
from gridportal.network.topology import Topology
from scheduling.jobs.core import label_conditions
from scheduling.selection.core.pairs.member_rates import rising_links
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.trees.usable_network import Bools, Floats, Network


def latency_unknown(topology: Topology, require: Mapping[str, str]) -> Reason:
    """That a job asks for a latency where that of no link is known, so that each counts as 0 s; NOTHING elsewhere."""
    condition = require.get(label_conditions.LATENCY)
    if condition is None or np.any(latencies(topology.links) > 0):
        return NOTHING
    return Reason.of(Code.LATENCY_UNKNOWN, condition=label_conditions.written(label_conditions.LATENCY, condition))


def slow_pairs(pairs: Pairs, condition: str) -> Bools:
    """n x n: which pairs of the usable nodes do not meet a condition on their latency in seconds, such as <=0.001.

    A pair has the higher latency of its two directions, each the sum over its links; of several paths at once the mean.
    A pair without a path does not meet it, a node with itself does. Cost: as `slow_to`.
    """
    return slow_to(pairs, range(len(pairs.usable)), condition)


def slow_to(pairs: Pairs, members: Sequence[int], condition: str) -> Bools:
    """n x m: the same of the pairs of each usable node and each member, a place among them.

    Cost: O(n m) for each level of a network without cycles, and on measured pairs; else O(n m path length)."""
    latency = _latencies(pairs, list(members))
    values, where = np.unique(latency, return_inverse=True)
    fails = np.array([not label_conditions.meets(repr(value), condition) for value in values.tolist()], dtype=bool)
    slow: Bools = fails[where].reshape(latency.shape)
    slow[list(members), np.arange(len(members))] = False
    return slow


def _latencies(pairs: Pairs, members: list[int]) -> Floats:
    if pairs.topology.kind == "pairs":
        found = pairs.on_crossbar(np.append(latencies(pairs.topology.links), np.inf))
        return np.maximum(found, found.T)[:, members]
    network = None if pairs.topology.directed else pairs.tree(bandwidth)
    if network is not None:
        return _over_tree(network, latencies(pairs.topology.links)[network.link], members)
    return _by_paths(pairs, members)


def _over_tree(network: Network, latency: Floats, members: list[int]) -> Floats:
    """Sums carried from the members through the network nodes, towards the root of each part and back from it."""
    n, m = network.count, len(members)
    place = {node: column for column, node in enumerate(members)}
    far = np.full((network.size, m), np.inf)
    u, v = network.u, network.v
    access = np.flatnonzero((u < n) & (v >= n))
    for at in access[np.isin(u[access], members)].tolist():
        column = place[int(u[at])]
        far[v[at], column] = min(far[v[at], column], latency[at])
    inner = (u >= n) & (v >= n)
    steps = rising_links(network.size, u[inner], v[inner], latency[inner])
    for child, parent, seconds in steps:
        np.minimum.at(far, parent, far[child] + seconds[:, None])
    for child, parent, seconds in reversed(steps):
        far[child] = np.minimum(far[child], far[parent] + seconds[:, None])
    found = np.full((n, m), np.inf)
    np.minimum.at(found, u[access], far[v[access]] + latency[access][:, None])
    for at in np.flatnonzero(v < n).tolist():
        for here, there in ((int(u[at]), int(v[at])), (int(v[at]), int(u[at]))):
            if there in place:
                found[here, place[there]] = min(found[here, place[there]], latency[at])
    return found


def _by_paths(pairs: Pairs, members: list[int]) -> Floats:
    names, routes = [node.id for node in pairs.usable], pairs.routes
    found = np.zeros((len(names), len(members)))
    for column, member in enumerate(members):
        there = names[member]
        for row, here in enumerate(names):
            if row != member:
                found[row, column] = max(_one_way(routes, here, there), _one_way(routes, there, here))
    return found


def _one_way(routes: Routes, source: str, target: str) -> float:
    path = routes.path(source, target)
    links = routes.topology.links
    return np.inf if path is None else sum(links[arc >> 1].latency * part for arc, part in path.loads)
