"""The part of a topology that a request may use, as arrays: usable compute nodes first, then network nodes.

Paths go through network nodes only: a compute node with two links does not forward (Pattern 2003, 2.4). Traffic on a
pair flows both ways, so a link with two directions is worth the lower one (Selection 1999, 3.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gridportal.network.link_columns import link_columns
from gridportal.network.narrowest import Worth
from gridportal.network.switch_hops import links_in_use
from gridportal.network.topology import Node, Topology

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Network:
    """A network without cycles: compute nodes are vertices 0..n-1 (n = count), network nodes n..size-1.

    u, v, w: ends and value of each link, which serves both directions; `link` is its place in the topology's links.
    """

    count: int
    size: int
    u: Ints
    v: Ints
    w: Floats
    link: Ints


class Groups:
    """Union-find over 0..size-1 with path halving."""

    def __init__(self, size: int) -> None:
        self.parent = list(range(size))

    def root(self, x: int) -> int:
        parent = self.parent
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    def join(self, a: int, b: int) -> bool:
        """Unite two groups; False when they were one already."""
        a, b = self.root(a), self.root(b)
        self.parent[a] = b
        return a != b


def build(topology: Topology, usable: Sequence[Node], value: Worth, floor: float = 0.0) -> Network | None:
    """The network among `usable` nodes, each link worth its `value`; links with less than `floor` bit/s are left
    out. None where there are cycles, measured pairs or fixed routes: then routes have to be asked, pair by pair.

    Of parallel links the first counts, as for gridportal.network.routes. Links that carry nothing close no cycle: by
    the rule `short` a fat tree is a tree. O(nodes + links), with cycles times the switches that have nodes.
    """
    if topology.kind == "pairs" or topology.routing.is_fixed:
        return None
    links = link_columns(topology)
    vertex, size = _vertices(topology, usable)
    u, v = vertex[links.source], vertex[links.target]
    inside = np.flatnonzero((u >= 0) & (v >= 0))
    kept = inside[_first_of_parallel(u[inside], v[inside], size, keep_direction=topology.directed)]
    if len(kept) < len(inside) and topology.routing.rule != "short":
        return None
    if not _is_forest(u[kept], v[kept], len(usable), size, directed=topology.directed):
        used = links_in_use(topology)
        if used is None:
            return None
        kept = kept[used[kept]]
        if not _is_forest(u[kept], v[kept], len(usable), size, directed=topology.directed):
            return None
    u, v = u[kept], v[kept]
    if floor > 0:
        fast = links.bandwidth[kept] >= floor
        u, v, kept = u[fast], v[fast], kept[fast]
    worth = value.of_all(links)[kept]
    if topology.directed:
        return _both_ways(Network(len(usable), size, u, v, worth, kept))
    return Network(len(usable), size, np.minimum(u, v), np.maximum(u, v), worth, kept)


def among(network: Network, places: Sequence[int]) -> Network:
    """The network with only these of its compute nodes, in this order, and what may lie between them. O(links) for
    each level of switches above those that have none of these nodes."""
    place = np.full(network.size, -1, dtype=np.int64)
    place[list(places)] = np.arange(len(places))
    place[network.count :] = np.arange(len(places), len(places) + network.size - network.count)
    u, v = place[network.u], place[network.v]
    size = len(places) + network.size - network.count
    kept = _between((u >= 0) & (v >= 0), u, v, len(places), size)
    low, high = np.minimum(u, v)[kept], np.maximum(u, v)[kept]
    return Network(len(places), size, low, high, network.w[kept], network.link[kept])


def _between(kept: NDArray[np.bool_], u: Ints, v: Ints, count: int, size: int) -> Ints:
    """Those of the kept links that do not end at a switch from which nothing goes on."""
    left = np.flatnonzero(kept)
    while True:
        a, b = u[left], v[left]
        ends = np.bincount(np.concatenate([a, b]), minlength=size) == 1
        ends[:count] = False
        further = ~(ends[a] | ends[b])
        if further.all():
            return left
        left = left[further]


def of_links(network: Network, kept: Ints) -> tuple[Network, Ints]:
    """The network of these of its links and their ends alone, in the same order, and the numbers that its compute nodes
    had before. O(links log links)."""
    u, v = network.u[kept], network.v[kept]
    before, ends = np.unique(np.concatenate([u, v]), return_inverse=True)
    count = int(np.searchsorted(before, network.count))
    u, v = ends[: len(kept)], ends[len(kept) :]
    return Network(count, len(before), u, v, network.w[kept], network.link[kept]), before[:count]


def _vertices(topology: Topology, usable: Sequence[Node]) -> tuple[Ints, int]:
    """The vertex of each of the topology's nodes, -1 for compute nodes that may not be used; and how many there are."""
    columns = link_columns(topology)
    vertex = np.full(len(topology.nodes), -1, dtype=np.int64)
    if usable is topology.compute_nodes():
        vertex[columns.compute] = np.arange(len(usable))
    else:
        vertex[[columns.place[node.id] for node in usable]] = np.arange(len(usable))
    size = len(usable) + len(columns.network)
    vertex[columns.network] = np.arange(len(usable), size)
    return vertex, size


def _first_of_parallel(u: Ints, v: Ints, size: int, *, keep_direction: bool) -> Ints:
    """Which of the links are the first between their two ends, in the order of the links."""
    low, high = (u, v) if keep_direction else (np.minimum(u, v), np.maximum(u, v))
    return np.sort(np.unique(low * size + high, return_index=True)[1])


def _is_forest(u: Ints, v: Ints, count: int, size: int, *, directed: bool) -> bool:
    """Whether two nodes have one path at most. Compute nodes with one link close no cycle, so need no look."""
    if directed:
        once = _first_of_parallel(u, v, size, keep_direction=False)
        u, v = u[once], v[once]
    if len(u) >= size:
        return False
    links = np.bincount(np.concatenate([u, v]), minlength=size)
    if (links[:count] <= 1).all():
        inner = (u >= count) & (v >= count)
        u, v = u[inner], v[inner]
    groups = Groups(size)
    return all(groups.join(a, b) for a, b in zip(u.tolist(), v.tolist(), strict=True))


def _both_ways(network: Network) -> Network:
    """Bidirectional links at the lower of both directions (Selection 1999, 3.3); on a forest those are the same links
    for both directions of every pair, so what has one direction only is left out."""
    u, v, w, link = network.u, network.v, network.w, network.link
    key = np.minimum(u, v) * network.size + np.maximum(u, v)
    there, back = np.flatnonzero(u < v), np.flatnonzero(u > v)
    _, first, second = np.intersect1d(key[there], key[back], assume_unique=True, return_indices=True)
    order = np.argsort(first)
    there, back = there[first[order]], back[second[order]]
    lower = (w[back] < w[there]) | ((w[back] == w[there]) & (link[back] < link[there]))
    used = np.where(lower, back, there)
    return Network(network.count, network.size, u[there], v[there], w[used], link[used])


def capped_links(network: Network, caps: Sequence[float] | None) -> Floats:
    """What the links are worth, each no more than the `caps` of the compute nodes at its ends."""
    if caps is None:
        return network.w
    limit = np.concatenate([np.asarray(caps, dtype=np.float64), np.full(network.size - network.count, np.inf)])
    ends: Floats = np.minimum(limit[network.u], limit[network.v])
    return np.minimum(network.w, ends)


def is_star_like(network: Network) -> bool:
    """Every compute node has one link at most: then path minima form an ultrametric."""
    count = np.bincount(np.concatenate([network.u, network.v]), minlength=network.size)
    return bool((count[: network.count] <= 1).all())
