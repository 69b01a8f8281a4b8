"""The part of a topology that a request may use, as arrays: usable compute nodes first, then network nodes.

Paths go through network nodes only: a compute node with two links does not forward (Pattern 2003, 2.4). Traffic on a
pair flows both ways, so a link with two directions is worth the lower one (Selection 1999, 3.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gridportal.network.narrowest import Worth
from gridportal.network.topology import Node, Topology

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
    """The network among `usable` nodes, each link worth `value(link, 1.0)`; links with less than `floor` bit/s are left
    out. None where there are cycles, measured pairs or fixed routes: then routes have to be asked, pair by pair.

    Of parallel links the first counts, as for gridportal.network.routes. O(nodes + links).
    """
    if topology.kind == "pairs" or topology.routing.is_fixed:
        return None
    place = {node.id: i for i, node in enumerate(usable)}
    for node in topology.nodes:
        if node.kind == "network":
            place[node.id] = len(place)
    inside = [
        (place[link.source], place[link.target], index)
        for index, link in enumerate(topology.links)
        if link.source in place and link.target in place
    ]
    first = _first_of_parallel(inside, keep_direction=topology.directed)
    if len(first) < len(inside) and topology.routing.rule != "short":
        return None
    if not _is_forest(first, len(usable), len(place), directed=topology.directed):
        return None
    links = topology.links
    wires = [(u, v, value(links[i], 1.0), i) for u, v, i in first if links[i].bandwidth >= floor]
    if topology.directed:
        wires = _both_ways(wires)
    u, v, w, link = zip(*wires, strict=True) if wires else ((), (), (), ())
    return Network(
        len(usable),
        len(place),
        np.array(u, dtype=np.int64),
        np.array(v, dtype=np.int64),
        np.array(w, dtype=np.float64),
        np.array(link, dtype=np.int64),
    )


_Ends = tuple[int, int, int]
_Wire = tuple[int, int, float, int]


def _first_of_parallel(ends: list[_Ends], *, keep_direction: bool) -> list[_Ends]:
    found: dict[tuple[int, int], _Ends] = {}
    for u, v, link in ends:
        key = (u, v) if keep_direction or u < v else (v, u)
        found.setdefault(key, (*key, link))
    return list(found.values())


def _is_forest(ends: list[_Ends], count: int, size: int, *, directed: bool) -> bool:
    """Whether two nodes have one path at most. Compute nodes with one link close no cycle, so need no look."""
    pairs = [(min(u, v), max(u, v)) for u, v, _ in ends] if directed else [(u, v) for u, v, _ in ends]
    pairs = list(dict.fromkeys(pairs)) if directed else pairs
    if len(pairs) >= size:
        return False
    inner = [pair for pair in pairs if pair[0] >= count]
    outer = {a for a, _ in pairs if a < count}
    closed = len(outer) == len(pairs) - len(inner) and all(b >= count for a, b in pairs if a < count)
    groups = Groups(size)
    return all(groups.join(a, b) for a, b in (inner if closed else pairs))


def _both_ways(wires: list[_Wire]) -> list[_Wire]:
    """Bidirectional links at the lower of both directions (Selection 1999, 3.3); on a forest those are the same links
    for both directions of every pair, so what has one direction only is left out."""
    back = {(u, v): (w, link) for u, v, w, link in wires}
    found = []
    for u, v, w, link in wires:
        other = back.get((v, u))
        if u < v and other is not None:
            found.append((u, v, *min((w, link), other)))
    return found


def is_star_like(network: Network) -> bool:
    """Every compute node has one link at most: then path minima form an ultrametric."""
    count = np.bincount(np.concatenate([network.u, network.v]), minlength=network.size)
    return bool((count[: network.count] <= 1).all())
