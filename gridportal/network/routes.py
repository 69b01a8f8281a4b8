"""Which links the traffic between two nodes takes, through network nodes only: the one answer that everybody asks for.

Source: Pattern 2003, 2.4 (a path can include network routers but not other computation nodes); Selection 1999, 3.3
(networks with cycles route statically, so one fixed path carries all the traffic of a pair).
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gridportal.network.topology import Topology

_Ints = NDArray[np.int64]
_FAR = 1 << 60
Spread = tuple[tuple[int, float], ...]
_Parts = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Path:
    """The way of one flow. arcs: its links in order, each as 2 * (place in topology.links), plus 1 when it is taken
    from target to source. several: another path is as short. spread: the part of the flow on every arc, where it
    is shared over several paths (`arcs` is then the first of them); empty where `arcs` carry all of it."""

    arcs: tuple[int, ...]
    several: bool = False
    spread: Spread = ()

    @property
    def loads(self) -> Spread:
        """Every arc on the way with the part of the flow that it carries."""
        return self.spread or tuple((arc, 1.0) for arc in self.arcs)


class Routing(Protocol):
    """Whoever knows the way between two nodes."""

    def path(self, source: str, target: str) -> Path | None:
        """None when there is none."""
        ...


class Routes:
    """The way between any two nodes, by the topology's `routing` (gridportal.network.routing_rules).

    What is fixed counts first: the path of a pair, then the tables of switches. Else the fewest links, and of several
    such paths at every node the neighbour that stands first among the topology's nodes (of parallel links the first):
    the path between two nodes is always the same, and paths to one node never part again once they have met. With the
    rule `ecmp-hash` a hash of source and target picks one of the next links at every node, with `ecmp` each of them
    carries an even part. Every parallel link is a link of its own, which no rule counts twice.
    `Path.several` says that there were other paths as short.
    Cost: O(nodes + links) to make; on trees O(length) a path; else one search over the network nodes for each switch
    that has a target, which O(length * degree) a path follow.

    >>> from gridportal.network.topology import parse
    >>> t = parse({"nodes": [{"id": "a"}, {"id": "b"}, {"id": "s", "kind": "network"}], "links": [
    ...     {"source": "a", "target": "s", "capacity": 9}, {"source": "b", "target": "s", "capacity": 9}]})
    >>> Routes(t).path("a", "b").arcs
    (0, 3)
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
        #: Of each node the arcs that lead to network nodes, the first of the topology's nodes first.
        self.inward = [
            sorted((arc for arc in arcs if self.forwards[self.head[arc]]), key=lambda arc: self.head[arc])
            for arcs in self.leaving
        ]
        is_tree = not topology.routing.is_fixed and _is_tree(self)
        self.finder: _Tree | Core = _Tree(self) if is_tree else Core(self)

    @property
    def by_target(self) -> bool:
        """Whether every node forwards by the target alone, so that `towards` tells all."""
        return self.topology.routing.rule == "short" and not self.topology.routing.paths

    def path(self, source: str, target: str) -> Path | None:
        """The way from one node to another; None when there is none. KeyError for a node that is not there."""
        return self.finder.path(self.place[source], self.place[target])

    def towards(self, target: str) -> list[int]:
        """By place of a node the arc on which it sends what is meant for `target`, -1 without one (`by_target`)."""
        core = self.finder if isinstance(self.finder, Core) else Core(self)
        b = self.place[target]
        following = (core.following(here, b) for here in range(len(self.forwards)))
        return [arcs[0] if arcs else -1 for arcs in following]

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


class Core:
    """A network with cycles, one-way links or fixed routes: one search backwards from the switches of each target,
    kept.

    The arcs between network nodes are grouped by the node that they lead to."""

    def __init__(self, routes: Routes) -> None:
        self.routes = routes
        self.rules = routes.topology.routing
        self.count = len(routes.forwards)
        self.searches: dict[tuple[int, ...], Search] = {}
        self.entries: dict[int, tuple[int, ...]] = {}
        self.beside: dict[int, dict[int, list[int]]] = {}
        self.inner_ways: dict[tuple[int, tuple[int, ...]], tuple[tuple[int, ...], bool]] = {}
        self.inner_spreads: dict[tuple[_Parts, tuple[int, ...]], tuple[Spread, _Parts]] = {}
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
        names = self.routes.topology.nodes
        fixed = self.rules.paths.get((names[a].id, names[b].id))
        if fixed is not None:
            return self._fixed(fixed)
        if not self.rules.tables and self.rules.rule != "ecmp-hash":
            return self._between_switches(a, b)
        arcs: list[int] = []
        several, here = False, a
        while here != b and len(arcs) <= self.count:
            following = self.following(here, b)
            if not following:
                return None
            several |= len(following) > 1
            arcs.append(following[self._turn(a, b, here) % len(following)])
            here = self.routes.head[arcs[-1]]
        if here != b:
            return None
        return Path(tuple(arcs), several, self._spread(a, b) if several and self.rules.rule == "ecmp" else ())

    def _between_switches(self, a: int, b: int) -> Path | None:
        """The way to the first switch, then what all flows between two switches take, then to the node itself."""
        if a == b:
            return Path((), False, ())
        first = self.following(a, b)
        if not first:
            return None
        here = self.routes.head[first[0]]
        arcs, several = ((), False) if here == b else self._inner_way(here, b)
        several |= len(first) > 1
        last = [] if here == b else self._arcs(self.routes.head[arcs[-1]] if arcs else here, b)
        if here != b and not last:
            return None
        several |= len(last) > 1
        return Path(
            (first[0], *arcs, *last[:1]), several, self._spread(a, b) if several and self.rules.rule == "ecmp" else ()
        )

    def _inner_way(self, here: int, b: int) -> tuple[tuple[int, ...], bool]:
        """The arcs from a switch to the first on its way that node b hangs on, and whether others were as short."""
        key = here, self.entries_of(b)
        if key not in self.inner_ways:
            arcs: list[int] = []
            several = False
            while here not in key[1] and (following := self.search(b).closer(here)):
                several |= len(following) > 1
                arcs.append(following[0])
                here = self.routes.head[arcs[-1]]
            self.inner_ways[key] = tuple(arcs), several
        return self.inner_ways[key]

    def following(self, here: int, b: int) -> list[int]:
        """The arcs on which a node may send what is meant for node b, the one that the short rule takes first."""
        if here == b:
            return []
        table = self.rules.tables.get(self.routes.topology.nodes[here].id)
        if table is not None:
            following = table.get(self.routes.topology.nodes[b].id)
            return [] if following is None else self._arcs(here, self.routes.place.get(following, -1))[:1]
        return self._arcs(here, b) or self.search(b).closer(here)

    def search(self, b: int) -> Search:
        """The search for node b, which all nodes on the same switches share."""
        entries = self.entries_of(b)
        if entries not in self.searches:
            self.searches[entries] = Search(self, entries)
        return self.searches[entries]

    def entries_of(self, b: int) -> tuple[int, ...]:
        """The network nodes with a link to node b."""
        if b not in self.entries:
            tails = {self.routes.tail[arc] for arc in self.routes.arriving[b]}
            self.entries[b] = tuple(sorted(tail for tail in tails if self.routes.forwards[tail]))
        return self.entries[b]

    def _arcs(self, a: int, b: int) -> list[int]:
        """The arcs from one node to its neighbour, in the order of the file."""
        if a not in self.beside:
            self.beside[a] = {}
            for arc in self.routes.leaving[a]:
                self.beside[a].setdefault(self.routes.head[arc], []).append(arc)
        return self.beside[a].get(b, [])

    def _fixed(self, names: Sequence[str]) -> Path | None:
        """A path by its nodes; None where the topology has lost a node or a link of it."""
        places = [self.routes.place.get(name, -1) for name in names]
        steps = [self._arcs(*step)[:1] for step in pairwise(places) if min(step) >= 0]
        return Path(tuple(arc for step in steps for arc in step)) if sum(map(len, steps)) == len(names) - 1 else None

    def _turn(self, a: int, b: int, here: int) -> int:
        """Which of several next links a pair takes at a node, by the same hash on every machine."""
        if self.rules.rule != "ecmp-hash":
            return 0
        names = self.routes.topology.nodes
        return zlib.crc32(f"{names[a].id}\0{names[b].id}\0{names[here].id}".encode())

    def _spread(self, a: int, b: int) -> Spread:
        """The even parts of a flow on every arc: what comes to a node leaves it in equal parts.

        Between switches all flows to nodes on the same ones take the same ways, so that is worked out once.
        """
        if self.rules.tables:
            return self._inner({a: 1.0}, b)[0]
        first, level = self._step({a: 1.0}, b)
        key = tuple(level.items()), self.entries_of(b)
        if key not in self.inner_spreads:
            self.inner_spreads[key] = self._inner(level, b, until=frozenset(key[1]))
        inner, last = self.inner_spreads[key]
        return (*first, *inner, *self._step(dict(last), b)[0])

    def _inner(self, level: dict[int, float], b: int, until: Collection[int] = ()) -> tuple[Spread, _Parts]:
        """The loads from some nodes on, each of which has a part of the flow, and the parts that arrive at `until`."""
        loads: dict[int, float] = {}
        for _ in range(self.count):
            if all(node in until for node in level):
                break
            step, level = self._step(level, b)
            for arc, part in step:
                loads[arc] = loads.get(arc, 0.0) + part
        return tuple(loads.items()), tuple(level.items())

    def _step(self, level: dict[int, float], b: int) -> tuple[Spread, dict[int, float]]:
        """The parts on the arcs out of some nodes, and the nodes before node b to which these lead."""
        loads: list[tuple[int, float]] = []
        following: dict[int, float] = {}
        for here, part in level.items():
            arcs = self.following(here, b)
            for arc in arcs:
                loads.append((arc, part / len(arcs)))
                there = self.routes.head[arc]
                following[there] = following.get(there, 0.0) + part / len(arcs)
        following.pop(b, None)
        return tuple(loads), following


class Search:
    """How far every network node is from the nearest of the `entries`, the switches that have the target."""

    def __init__(self, core: Core, entries: Sequence[int]) -> None:
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
        self.known: dict[int, list[int]] = {}

    def closer(self, here: int) -> list[int]:
        """The arcs to the network nodes that are nearest to the target; none where nothing leads there."""
        if here not in self.known:
            self.known[here] = self._closer(here)
        return self.known[here]

    def _closer(self, here: int) -> list[int]:
        heads = self.routes.head
        inner = self.routes.inward[here]
        least = min([self.distance[heads[arc]] for arc in inner], default=_FAR)
        return [arc for arc in inner if self.distance[heads[arc]] == least] if least < _FAR else []
