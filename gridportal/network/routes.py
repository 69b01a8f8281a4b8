"""Which links the traffic between two nodes takes: the fewest links, through network nodes only, always the same ones.

Source: Pattern 2003, 2.4 (a path can include network routers but not other computation nodes); Selection 1999, 3.3
(networks with cycles route statically, so one fixed path carries all the traffic of a pair).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gridportal.network.topology import Topology

_Ints = NDArray[np.int64]
_FAR = 1 << 60


@dataclass(frozen=True, slots=True)
class Path:
    """The way of one flow. arcs: its links in order, each as 2 * (place in topology.links), plus 1 when it is taken
    from target to source. several: another path has as few links, and is not used."""

    arcs: tuple[int, ...]
    several: bool = False


class Routing(Protocol):
    """Whoever knows the way between two nodes."""

    def path(self, source: str, target: str) -> Path | None:
        """None when there is none."""
        ...


class Routes:
    """Shortest paths in number of links. At every node the first link in the file's order that leads closer is taken,
    so the path between two nodes is always the same, and paths to one node never part again once they have met.

    Where several paths are equally short a real network may spread its traffic over them (ECMP, adaptive routing);
    here one path carries all, as with static routing, and `Path.several` says that there were others.
    Cost: O(nodes + links) to make; on trees O(length) a path; else one search over the network nodes for each switch
    that has a target, which O(length * degree) a path follow.

    >>> from gridportal.network.topology import parse
    >>> t = parse({"nodes": [{"id": "a"}, {"id": "b"}, {"id": "s", "kind": "network"}], "links": [
    ...     {"source": "a", "target": "s", "capacity": 9}, {"source": "b", "target": "s", "capacity": 9}]})
    >>> Routes(t).path("a", "b")
    Path(arcs=(0, 3), several=False)
    """

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.place = {node.id: i for i, node in enumerate(topology.nodes)}
        self.forwards = [node.kind == "network" for node in topology.nodes]
        self.tail, self.head = _ends(topology, self.place)
        self.leaving: list[list[int]] = [[] for _ in topology.nodes]
        self.arriving: list[list[int]] = [[] for _ in topology.nodes]
        for arc in range(len(self.tail)):
            if self.tail[arc] >= 0:
                self.leaving[self.tail[arc]].append(arc)
                self.arriving[self.head[arc]].append(arc)
        #: Of each node the arcs that lead to network nodes.
        self.inward = [[arc for arc in arcs if self.forwards[self.head[arc]]] for arcs in self.leaving]
        self.finder: _Tree | _Core = _Tree(self) if _is_tree(self) else _Core(self)

    def path(self, source: str, target: str) -> Path | None:
        """The way from one node to another; None when there is none. KeyError for a node that is not there."""
        return self.finder.path(self.place[source], self.place[target])

    def nodes(self, source: str, path: Path) -> tuple[str, ...]:
        """The names of the nodes on a path, the source first."""
        names = self.topology.nodes
        return (source, *(names[self.head[arc]].id for arc in path.arcs))


def _ends(topology: Topology, place: dict[str, int]) -> tuple[list[int], list[int]]:
    """Tail and head of every arc; of a directed link the arc backwards is not there (-1)."""
    tail, head = [], []
    for link in topology.links:
        a, b = place[link.source], place[link.target]
        tail += [a, -1 if topology.directed else b]
        head += [b, -1 if topology.directed else a]
    return tail, head


def _is_tree(routes: Routes) -> bool:
    """Whether there is at most one path between any two nodes, compute nodes have one neighbour at most, and every
    link can be used both ways."""
    pairs = {(a, b) for a, b in zip(routes.tail, routes.head, strict=True) if a >= 0}
    if len(pairs) != sum(a >= 0 for a in routes.tail) or any((b, a) not in pairs for a, b in pairs):
        return False
    if any(len(arcs) > 1 and not forwards for arcs, forwards in zip(routes.leaving, routes.forwards, strict=True)):
        return False
    parent = list(range(len(routes.forwards)))
    for a, b in pairs:
        if a > b:
            continue
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a == b:
            return False
        parent[a] = b
    return True


class _Tree:
    """A forest hung up at one node of each part: the path between two nodes climbs to where their ways up meet."""

    def __init__(self, routes: Routes) -> None:
        count = len(routes.forwards)
        self.parent, self.root, self.depth = [-1] * count, [-1] * count, [0] * count
        self.up, self.down = [-1] * count, [-1] * count
        for start in sorted(range(count), key=lambda node: (not routes.forwards[node], node)):
            if self.root[start] >= 0:
                continue
            self.root[start] = start
            queue = [start]
            for here in queue:
                for arc in routes.leaving[here]:
                    there = routes.head[arc]
                    if self.root[there] < 0:
                        self.root[there], self.parent[there] = start, here
                        self.depth[there], self.down[there] = self.depth[here] + 1, arc
                        queue.append(there)
                    elif there == self.parent[here]:
                        self.up[here] = arc

    def path(self, a: int, b: int) -> Path | None:
        if self.root[a] != self.root[b]:
            return None
        rise, fall = [], []
        while a != b:
            if self.depth[a] >= self.depth[b]:
                rise.append(self.up[a])
                a = self.parent[a]
            else:
                fall.append(self.down[b])
                b = self.parent[b]
        return Path((*rise, *reversed(fall)))


class _Core:
    """A network with cycles or one-way links: one search backwards from the switches of each target, kept.

    The arcs between network nodes are grouped by the node that they lead to."""

    def __init__(self, routes: Routes) -> None:
        self.routes = routes
        self.count = len(routes.forwards)
        self.searches: dict[tuple[int, ...], _Search] = {}
        inner = [
            arc
            for arc, (a, b) in enumerate(zip(routes.tail, routes.head, strict=True))
            if a >= 0 and routes.forwards[a] and routes.forwards[b]
        ]
        heads = np.array([routes.head[arc] for arc in inner], dtype=np.int64)
        order = np.argsort(heads, kind="stable")
        self.tails = np.array([routes.tail[arc] for arc in inner], dtype=np.int64)[order]
        self.start = np.searchsorted(heads[order], np.arange(self.count + 1))

    def before(self, nodes: _Ints) -> _Ints:
        """The network nodes with an arc to one of `nodes`, with repetitions."""
        start, end = self.start[nodes], self.start[nodes + 1]
        length = end - start
        places = np.repeat(start - np.concatenate(([0], np.cumsum(length)[:-1])), length) + np.arange(length.sum())
        found: _Ints = self.tails[places]
        return found

    def path(self, a: int, b: int) -> Path | None:
        routes = self.routes
        last = [arc for arc in routes.leaving[a] if routes.head[arc] == b]
        if last:
            return Path((last[0],), len(last) > 1)
        entries = tuple(sorted({routes.tail[arc] for arc in routes.arriving[b] if routes.forwards[routes.tail[arc]]}))
        if entries not in self.searches:
            self.searches[entries] = _Search(self, entries)
        way = self.searches[entries].walk(a)
        if way is None:
            return None
        last = [arc for arc in routes.leaving[routes.head[way.arcs[-1]]] if routes.head[arc] == b]
        return Path((*way.arcs, last[0]), way.several or len(last) > 1)


class _Search:
    """How far every network node is from the nearest of the `entries`, the switches that have the target."""

    def __init__(self, core: _Core, entries: Sequence[int]) -> None:
        self.routes = core.routes
        found = np.full(core.count, _FAR, dtype=np.int64)
        once = np.zeros(core.count, dtype=np.int64)
        frontier = np.array(entries, dtype=np.int64)
        found[frontier] = 0
        level = 0
        while len(frontier):
            level += 1
            reached = core.before(frontier)
            fresh = reached[found[reached] == _FAR]
            found[fresh] = level
            once[fresh] = np.arange(len(fresh))
            frontier = fresh[once[fresh] == np.arange(len(fresh))]
        self.distance: list[int] = found.tolist()
        self.closer: dict[int, tuple[int, bool]] = {}

    def walk(self, source: int) -> Path | None:
        """From `source` to one of the entries; None when no way leads there."""
        arcs: list[int] = []
        several, here = False, source
        while not arcs or self.distance[here]:
            if here not in self.closer:
                self.closer[here] = self._closer(here)
            arc, more = self.closer[here]
            if arc < 0:
                return None
            arcs.append(arc)
            several |= more
            here = self.routes.head[arc]
        return Path(tuple(arcs), several)

    def _closer(self, here: int) -> tuple[int, bool]:
        """The first arc to a network node that is nearest to the target (-1: none), and whether there are others."""
        heads = self.routes.head
        inner = self.routes.inward[here]
        least = min([self.distance[heads[arc]] for arc in inner], default=_FAR)
        best = [arc for arc in inner if self.distance[heads[arc]] == least]
        return (best[0], len(best) > 1) if least < _FAR else (-1, False)
