"""The part of a topology that a request may use, as arrays: usable compute nodes first, then network nodes.

Paths go through network nodes only: a compute node with two links does not forward (Pattern 2003, 2.4). Traffic on a
pair flows both ways, so a link with two directions is worth the lower one (Selection 1999, 3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gridportal.network.topology import Link, Node, Topology

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Value = Callable[[Link], float]


@dataclass(frozen=True)
class Network:
    """Compute nodes are vertices 0..n-1 (n = count), network nodes n..size-1.

    u, v, w: ends and value of each link; `link` is its place in the topology's links. With `one_way` a link serves
    u -> v only, else both directions.
    """

    count: int
    size: int
    u: Ints
    v: Ints
    w: Floats
    link: Ints
    one_way: bool


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


def build(topology: Topology, usable: Sequence[Node], value: Value, floor: float = 0.0) -> Network:
    """The network among `usable` nodes, each link worth `value(link)`.

    Links with less than `floor` bit/s are left out."""
    place = {node.id: i for i, node in enumerate(usable)}
    for node in topology.nodes:
        if node.kind == "network":
            place[node.id] = len(place)
    kept = [
        (place[link.source], place[link.target], value(link), index)
        for index, link in enumerate(topology.links)
        if link.bandwidth >= floor and link.source in place and link.target in place
    ]
    best = _best_of_parallel(kept, keep_direction=topology.directed)
    one_way = topology.directed
    if topology.directed and _is_forest(best, len(place)):
        best, one_way = _both_ways(best), False
    u, v, w, link = zip(*best, strict=True) if best else ((), (), (), ())
    return Network(
        len(usable),
        len(place),
        np.array(u, dtype=np.int64),
        np.array(v, dtype=np.int64),
        np.array(w, dtype=np.float64),
        np.array(link, dtype=np.int64),
        one_way,
    )


_Wire = tuple[int, int, float, int]


def _best_of_parallel(wires: list[_Wire], *, keep_direction: bool) -> list[_Wire]:
    found: dict[tuple[int, int], _Wire] = {}
    for u, v, w, link in wires:
        key = (u, v) if keep_direction or u < v else (v, u)
        held = found.get(key)
        if held is None or held[2] < w:
            found[key] = (key[0], key[1], w, link)
    return list(found.values())


def _is_forest(wires: list[_Wire], size: int) -> bool:
    groups = Groups(size)
    return all(groups.join(a, b) for a, b in {(min(u, v), max(u, v)) for u, v, _, _ in wires})


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
    """Every compute node has one link at most: then path minima form an ultrametric, whatever the network nodes do."""
    if network.one_way:
        return False
    count = np.bincount(np.concatenate([network.u, network.v]), minlength=network.size)
    return bool((count[: network.count] <= 1).all())


def cycles_avoid_compute_nodes(network: Network) -> bool:
    """No cycle passes through a compute node: then a group of mutually reachable nodes hangs on one connected part."""
    if network.one_way:
        return False
    n = network.count
    groups = Groups(network.size)
    inner = (network.u >= n) & (network.v >= n)
    for a, b in zip(network.u[inner].tolist(), network.v[inner].tolist(), strict=True):
        groups.join(a, b)
    outer = zip(network.u[~inner].tolist(), network.v[~inner].tolist(), strict=True)
    return all(groups.join(a, b) for a, b in outer)
