"""The value of every pair of compute nodes: the widest path through network nodes, the lower of both directions.

Source: Pattern 2003, 2.3 (network status graph) and 2.4 (a path can include network routers but no other node).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from scheduling.selection.core.usable_network import Floats, Groups, Ints, Network

NO_PATH = -np.inf


@dataclass(frozen=True)
class PairRates:
    """rates: n x n symmetric, value of each pair, -inf without a path and on the diagonal.

    links: n x n, place in the topology's links of the link that binds, -1 without a path.
    """

    rates: Floats
    links: Ints


def pair_rates(network: Network) -> PairRates:
    """All pairs of a network. Where there are several paths the widest counts: a network that routes otherwise must
    be given as measured pairs.

    Cost: O(n^2 + E log E) for two-way links, O(n E log E) for one-way links between network nodes.
    """
    n = network.count
    rates = np.full((n, n), NO_PATH)
    links = np.full((n, n), -1, dtype=np.int64)
    _direct(network, rates, links)
    if network.one_way:
        _one_way_paths(network, rates, links)
        rates, links = _lower_direction(rates, links)
    else:
        _two_way_paths(network, rates, links)
    np.fill_diagonal(rates, NO_PATH)
    np.fill_diagonal(links, -1)
    return PairRates(rates, links)


def _direct(network: Network, rates: Floats, links: Ints) -> None:
    n = network.count
    direct = (network.u < n) & (network.v < n)
    u, v = network.u[direct], network.v[direct]
    rates[u, v], links[u, v] = network.w[direct], network.link[direct]
    if not network.one_way:
        rates[v, u], links[v, u] = network.w[direct], network.link[direct]


def _two_way_paths(network: Network, rates: Floats, links: Ints) -> None:
    """One sweep over the links in falling order; a link that joins two parts is the bottleneck between them.

    Each end of a link at a compute node is a vertex of its own, so nothing is forwarded there.
    """
    n = network.count
    routed = np.flatnonzero((network.u >= n) | (network.v >= n))
    order = routed[np.argsort(-network.w[routed], kind="stable")]
    ends = (network.u[order].tolist(), network.v[order].tolist())
    groups = Groups(network.size + len(order))
    members: dict[int, list[int]] = {}
    for step, (place, a, b) in enumerate(zip(order.tolist(), *ends, strict=True)):
        if a < n or b < n:
            copy = network.size + step
            members[copy] = [min(a, b)]
            a, b = copy, max(a, b)
        a, b = groups.root(a), groups.root(b)
        if a == b:
            continue
        left, right = members.pop(a, []), members.pop(b, [])
        if left and right:
            _set_block(rates, links, left, right, float(network.w[place]), int(network.link[place]))
        groups.join(a, b)
        if len(left) < len(right):
            left, right = right, left
        left.extend(right)
        members[groups.root(a)] = left


def _set_block(rates: Floats, links: Ints, left: list[int], right: list[int], value: float, link: int) -> None:
    for rows, columns in ((left, right), (right, left)):
        block = np.ix_(rows, columns)
        wider = rates[block] < value
        rates[block] = np.where(wider, value, rates[block])
        links[block] = np.where(wider, link, links[block])


def _one_way_paths(network: Network, rates: Floats, links: Ints) -> None:
    n = network.count
    if network.size == n:
        return
    leaving: list[list[tuple[int, float, int]]] = [[] for _ in range(network.size)]
    columns = (network.u.tolist(), network.v.tolist(), network.w.tolist(), network.link.tolist())
    for u, v, w, link in zip(*columns, strict=True):
        if u >= n or v >= n:
            leaving[u].append((v, w, link))
    for source in range(n):
        for target, (value, link) in _widest_from(source, leaving, n).items():
            if value > rates[source, target]:
                rates[source, target], links[source, target] = value, link


def _widest_from(source: int, leaving: list[list[tuple[int, float, int]]], n: int) -> dict[int, tuple[float, int]]:
    """The widest path from `source` to each compute node: Dijkstra's search with max-min in place of sums."""
    queue = [(-np.inf, source, -1)]
    done: dict[int, tuple[float, int]] = {}
    while queue:
        negative, vertex, link = heapq.heappop(queue)
        if vertex in done:
            continue
        done[vertex] = (-negative, link)
        if vertex < n and vertex != source:
            continue
        for target, w, out in leaving[vertex]:
            if target not in done:
                heapq.heappush(queue, max((negative, target, link), (-w, target, out)))
    del done[source]
    return {vertex: found for vertex, found in done.items() if vertex < n}


def _lower_direction(rates: Floats, links: Ints) -> tuple[Floats, Ints]:
    """A bidirectional pair is worth its lower direction (Selection 1999, 3.3)."""
    back = rates > rates.T
    both = np.where(back, rates.T, rates)
    # The same link is named for both orders of a pair, also when the directions are equal.
    named = np.where(back, links.T, links)
    lower = np.triu(named, 1)
    return both, lower + lower.T
