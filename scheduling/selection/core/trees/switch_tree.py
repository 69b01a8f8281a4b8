"""The switches of a network as a tree of nested parts, each with the links that lead out of it.

What flows between two parts crosses the links on the borders of both. On a network without cycles a part is what hangs
on one link, so this tells all; else parts are switches and what is joined without the switches further from the nodes,
and only an upper bound and good placements to start from follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gridportal.network.link_columns import link_columns
from gridportal.network.routes import Routes
from gridportal.network.switch_hops import SwitchHops, switch_hops
from gridportal.network.topology import Topology
from scheduling.selection.core.trees.switch_groups import close_switches
from scheduling.selection.core.trees.usable_network import Groups, Ints, Network, is_star_like


@dataclass(frozen=True)
class Border:
    """The arcs that lead out of a part, and those into it (see gridportal.network.routes). `even`: every flow over the
    border is spread over all arcs of a direction alike; else a flow takes one of them."""

    out: Ints
    into: Ints
    even: bool = False


@dataclass(frozen=True)
class SwitchTree:
    """Parts 0..; parent: the part around each, -1 for what is whole. home: the innermost part of each usable node, of
    which `ports` are the arcs (out, in). order: parts, inner ones first. is_exact: every border is one link."""

    parent: list[int]
    borders: list[Border | None]
    home: Ints
    ports: list[Border]
    is_exact: bool
    order: list[int] = field(init=False)
    children: list[list[int]] = field(init=False)
    own: list[list[int]] = field(init=False)
    chains: list[tuple[int, ...]] = field(init=False)

    def __post_init__(self) -> None:
        children: list[list[int]] = [[] for _ in self.parent]
        for part, above in enumerate(self.parent):
            if above >= 0:
                children[above].append(part)
        stack = [part for part, above in enumerate(self.parent) if above < 0]
        order: list[int] = []
        while stack:
            part = stack.pop()
            order.append(part)
            stack += children[part]
        own: list[list[int]] = [[] for _ in self.parent]
        for node, part in enumerate(self.home.tolist()):
            own[part].append(node)
        chains: list[tuple[int, ...]] = [()] * len(self.parent)
        for part in order:
            if self.parent[part] >= 0:
                chains[part] = (*chains[self.parent[part]], part)
        object.__setattr__(self, "order", order[::-1])
        object.__setattr__(self, "children", children)
        object.__setattr__(self, "own", own)
        object.__setattr__(self, "chains", chains)

    def leaves(self) -> list[int]:
        """The usable nodes so that those of every part stand side by side."""
        found: list[int] = []
        stack = [part for part, above in enumerate(self.parent) if above < 0][::-1]
        while stack:
            part = stack.pop()
            found += self.own[part]
            stack += self.children[part][::-1]
        return found


def switch_tree(topology: Topology, names: Sequence[str], network: Network | None, routes: Routes) -> SwitchTree:
    """The parts around the usable nodes called `names`; `network`: the same without cycles, where it has none.

    Cost: O(nodes + links) without cycles, else times the number of kinds of switches by distance.
    """
    if network is not None and is_star_like(network) and not _direct(network):
        return _of_forest(topology, network, routes)
    return _of_levels(routes, [routes.place[name] for name in names])


def _direct(network: Network) -> bool:
    return bool(((network.u < network.count) & (network.v < network.count)).any())


def _of_forest(topology: Topology, network: Network, routes: Routes) -> SwitchTree:
    n = network.count
    switches = network.size - n
    inner = np.flatnonzero(network.u >= n)
    beside: list[list[tuple[int, int]]] = [[] for _ in range(switches)]
    for link, u, v in zip(
        inner.tolist(), (network.u[inner] - n).tolist(), (network.v[inner] - n).tolist(), strict=True
    ):
        beside[u].append((v, link))
        beside[v].append((u, link))
    access = np.flatnonzero((network.u < n) & (network.v >= n))
    home = np.full(n, switches, dtype=np.int64)
    home[network.u[access]] = network.v[access] - n
    weight = np.bincount(home, minlength=switches + 1).tolist()
    parent, above = _hung_up(beside, weight)
    columns = link_columns(topology)
    place = np.concatenate([columns.network, [-1]])
    borders: list[Border | None] = [
        None if link < 0 else _of_link(topology, routes, int(network.link[link]), int(place[part]))
        for part, link in enumerate(above)
    ]
    nothing = np.zeros(0, dtype=np.int64)
    ports = [Border(nothing, nothing)] * n
    node_place = columns.source[network.link[access]], columns.target[network.link[access]]
    switch_place = place[home[network.u[access]]]
    for node, link, a, b, s in zip(
        network.u[access].tolist(),
        network.link[access].tolist(),
        *(x.tolist() for x in node_place),
        switch_place.tolist(),
        strict=True,
    ):
        ports[node] = _of_link(topology, routes, link, b if a == s else a)
    return SwitchTree([*parent, -1], [*borders, None], home, ports, is_exact=True)


def _of_link(topology: Topology, routes: Routes, link: int, below: int) -> Border:
    """The border of what hangs on a link by the node at place `below`."""
    columns = link_columns(topology)
    a, b = int(columns.source[link]), int(columns.target[link])
    if topology.directed:
        other = b if a == below else a
        out = next(arc for arc in routes.leaving[below] if routes.head[arc] == other)
        into = next(arc for arc in routes.leaving[other] if routes.head[arc] == below)
        return Border(np.array([out]), np.array([into]))
    out = 2 * link + (a != below)
    return Border(np.array([out]), np.array([out ^ 1]))


def _hung_up(beside: list[list[tuple[int, int]]], weight: list[int]) -> tuple[list[int], list[int]]:
    """Parent of every switch and the number of its link there (-1), every tree hung up in the middle of its nodes."""
    count = len(beside)
    parent, above = [-2] * count, [-1] * count
    for start in range(count):
        if parent[start] != -2:
            continue
        members = _walk(start, beside, parent, above)
        below = {switch: weight[switch] for switch in members}
        for switch in reversed(members):
            if parent[switch] >= 0:
                below[parent[switch]] += below[switch]
        middle = next(s for s in reversed(members) if 2 * below[s] >= below[start])
        for switch in members:
            parent[switch], above[switch] = -2, -1
        _walk(middle, beside, parent, above)
    return parent, above


def _walk(start: int, beside: list[list[tuple[int, int]]], parent: list[int], above: list[int]) -> list[int]:
    parent[start] = -1
    queue = [start]
    for here in queue:
        for there, link in beside[here]:
            if parent[there] == -2:
                parent[there], above[there] = here, link
                queue.append(there)
    return queue


def _of_levels(routes: Routes, nodes: Sequence[int]) -> SwitchTree:
    """Parts that are joined without the switches at a distance from the nodes or further; innermost single switches,
    then those that stand close together."""
    head, tail = np.array(routes.head, dtype=np.int64), np.array(routes.tail, dtype=np.int64)
    places, forwards = np.array(nodes, dtype=np.int64), np.array(routes.forwards)
    there = forwards.copy()
    there[places] = True
    arcs = np.flatnonzero((tail >= 0) & there[head] & there[tail])
    level = _levels(head[arcs], tail[arcs], forwards, places)
    ports = [
        Border(np.array(routes.leaving[place], dtype=np.int64), np.array(routes.arriving[place], dtype=np.int64))
        for place in nodes
    ]
    groups = Groups(len(forwards))
    for place, port in zip(nodes, ports, strict=True):
        if len(port.out) == len(port.into) == 1 and head[port.out[0]] == tail[port.into[0]]:
            groups.join(place, int(head[port.out[0]]))
    parts = _Parts(places, head[arcs], tail[arcs], arcs)
    parts.add(groups)
    with_nodes = level[head[arcs]] == 1, level[tail[arcs]] == 1
    beside = with_nodes[0] & with_nodes[1] & forwards[head[arcs]] & forwards[tail[arcs]]
    for pair in close_switches(head[arcs[beside]], tail[arcs[beside]]):
        groups.join(*pair)
    parts.add(groups)
    for distance in range(1, int(level[forwards & (level < len(forwards))].max(initial=0)) + 1):
        near = (level[head[arcs]] <= distance) & (level[tail[arcs]] <= distance)
        for a, b in zip(head[arcs[near]].tolist(), tail[arcs[near]].tolist(), strict=True):
            groups.join(a, b)
        parts.add(groups)
    tree = SwitchTree(parts.parent, parts.borders, parts.home, ports, is_exact=False)
    return _evened(tree, routes.topology, places)


def _evened(tree: SwitchTree, topology: Topology, nodes: Ints) -> SwitchTree:
    """The same tree as an exact one where paths share every flow over a border evenly (ECMP) and no others cross."""
    hops = switch_hops(topology)
    if topology.routing.rule != "ecmp" or hops is None:
        return tree
    number = np.full(len(topology.nodes), -1, dtype=np.int64)
    number[link_columns(topology).compute] = np.arange(len(link_columns(topology).compute))
    borders: list[Border | None] = []
    for border, switches in zip(tree.borders, _inside(tree, hops.home[number[nodes]].tolist()), strict=True):
        crossing = len(switches) * (len(hops.entries) - len(switches))
        if border is None or not crossing:
            borders.append(None)
            continue
        if not all(_is_even(hops, arcs, crossing) for arcs in (border.out, border.into)):
            return tree
        borders.append(Border(border.out, border.into, even=True))
    return SwitchTree(tree.parent, borders, tree.home, tree.ports, is_exact=True)


def _inside(tree: SwitchTree, switches: Sequence[int]) -> list[set[int]]:
    """The switches of the nodes in each part."""
    inside: list[set[int]] = [set() for _ in tree.parent]
    for home, switch in zip(tree.home.tolist(), switches, strict=True):
        inside[home].add(switch)
    for part in tree.order:
        if tree.parent[part] >= 0:
            inside[tree.parent[part]] |= inside[part]
    return inside


def _is_even(hops: SwitchHops, arcs: Ints, crossing: int) -> bool:
    """Whether every flow of so many pairs is spread evenly over the arcs, and no other pair's is on them."""
    rows = hops.row_of(arcs)
    shares = hops.arc_shares
    if not len(arcs) or (rows < 0).any():
        return False
    whole = shares.least[rows] * len(arcs) == 1.0, shares.most[rows] * len(arcs) == 1.0
    return bool(whole[0].all() and whole[1].all() and (shares.pairs[rows] == crossing).all())


class _Parts:
    """Collects the parts of one level after the other, inner ones first."""

    def __init__(self, nodes: Ints, head: Ints, tail: Ints, arcs: Ints) -> None:
        self.nodes, self.head, self.tail, self.arcs = nodes, head, tail, arcs
        self.parent: list[int] = []
        self.borders: list[Border | None] = []
        self.home = self.inside = np.zeros(0, dtype=np.int64)

    def add(self, groups: Groups) -> None:
        """The groups with nodes in them, around those of the level before."""
        roots = np.array([groups.root(place) for place in range(len(groups.parent))])
        own, number = np.unique(roots[self.nodes], return_inverse=True)
        first = len(self.parent)
        part = np.full(len(roots), -1, dtype=np.int64)
        part[own] = np.arange(len(own))
        borders = self._borders(part[roots], len(own))
        if first and len(own) == len(np.unique(self.inside)):
            return  # the same parts again
        self.parent += [-1] * len(own)
        self.borders += borders
        if first:
            for before, after in zip(self.inside.tolist(), (first + number).tolist(), strict=True):
                self.parent[before] = after
        else:
            self.home = number
        self.inside = first + number

    def _borders(self, part: Ints, count: int) -> list[Border | None]:
        found = []
        for ends, others in ((self.tail, self.head), (self.head, self.tail)):
            crossing = np.flatnonzero((part[ends] >= 0) & (part[ends] != part[others]))
            order = crossing[np.argsort(part[ends[crossing]], kind="stable")]
            found.append(np.split(self.arcs[order], np.cumsum(np.bincount(part[ends[order]], minlength=count))[:-1]))
        return [Border(out, into) if len(out) + len(into) else None for out, into in zip(*found, strict=True)]


def _levels(head: Ints, tail: Ints, forwards: np.ndarray, nodes: Ints) -> Ints:
    """How many links every switch is from the nearest of the nodes, which have 0."""
    level = np.full(len(forwards), len(forwards) + 1, dtype=np.int64)
    level[nodes] = 0
    frontier = np.zeros(len(forwards), dtype=bool)
    frontier[nodes] = True
    distance = 0
    while frontier.any():
        distance += 1
        reached = np.zeros(len(forwards), dtype=bool)
        reached[head[frontier[tail]]] = True
        frontier = reached & forwards & (level > distance)
        level[frontier] = distance
    return level
