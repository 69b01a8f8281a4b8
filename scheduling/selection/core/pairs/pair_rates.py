"""The value of every pair of compute nodes: the narrowest link of its route, the lower of both directions.

Source: Pattern 2003, 2.3 (network status graph) and 2.4 (a path can include network routers but no other node);
Selection 1999, 3.3 (a fixed path is taken for all communication of a pair).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from gridportal.network.link_columns import link_columns
from gridportal.network.link_table import LinkTable, pair_places
from gridportal.network.narrowest import Worth, bandwidth, narrowest
from gridportal.network.routes import Routes
from gridportal.network.topology import Node, Topology
from scheduling.selection.core.trees import usable_network
from scheduling.selection.core.trees.switch_tree import SwitchTree, switch_tree
from scheduling.selection.core.trees.usable_network import Floats, Groups, Ints, Network

NO_PATH = -np.inf
T = TypeVar("T")


class Pairs:
    """What the pairs among `usable` nodes are worth, by the portal's one answer to which way traffic goes."""

    def __init__(self, topology: Topology, usable: Sequence[Node]) -> None:
        self.topology, self.usable = topology, usable
        self._derived: dict[Callable[[Pairs], Any], Any] = {}

    @classmethod
    def of(cls, topology: Topology, usable: Sequence[Node]) -> Pairs:
        """The same as those that were asked for before, where all compute nodes are usable."""
        nodes = topology.compute_nodes()
        return topology.derived(_of_all) if len(usable) == len(nodes) else cls(topology, usable)

    def derived(self, find: Callable[[Pairs], T]) -> T:
        """What `find` makes of these pairs: found when it is first asked for, and kept with them."""
        if find not in self._derived:
            self._derived[find] = find(self)
        found: T = self._derived[find]
        return found

    @cached_property
    def routes(self) -> Routes:
        """Made when it is first asked: trees do without."""
        return self.topology.derived(Routes)

    @cached_property
    def switches(self) -> SwitchTree:
        """The switches as nested parts, made when first asked for."""
        return switch_tree(self.topology, [node.id for node in self.usable], self.tree(bandwidth), self.routes)

    def tree(self, value: Worth, floor: float = 0.0) -> Network | None:
        """The network as arrays where it has no cycles; else None."""
        if self.topology.directed:  # of the two directions another one may be the lower by another value
            return usable_network.build(self.topology, self.usable, value, floor)
        known = self._tree
        if known is None:
            return None
        kept = known.w >= floor
        worth = value.of_all(link_columns(self.topology))[known.link]
        return replace(known, u=known.u[kept], v=known.v[kept], w=worth[kept], link=known.link[kept])

    @cached_property
    def _tree(self) -> Network | None:
        return usable_network.build(self.topology, self.usable, bandwidth)

    def among(self, places: Sequence[int]) -> Pairs:
        """The same for some of the nodes."""
        found = Pairs(self.topology, [self.usable[place] for place in places])
        if "_crossbar" in self.__dict__:
            found.__dict__["_crossbar"] = self._crossbar[np.ix_(places, places)]
        if "routes" in self.__dict__:
            found.__dict__["routes"] = self.routes
        if self.__dict__.get("_tree") is not None:
            found.__dict__["_tree"] = usable_network.among(self.__dict__["_tree"], places)
        return found

    def rates(self, value: Worth, floor: float = 0.0) -> Floats:
        """n x n symmetric: the value of each pair, -inf without a path, with less than `floor` bit/s and on the
        diagonal. Cost: O(n^2 + E log E) on trees and measured pairs, else that of gridportal.network.narrowest."""
        if value is bandwidth and floor <= 0 and self._tree_rates is not None:
            return self._tree_rates[0]
        network = self.tree(value, floor)
        if network is not None:
            return tree_rates(network)[0]
        found = self._directed(value)
        if floor > 0:
            found = np.where(self._directed(bandwidth) >= floor, found, NO_PATH)
        rates: Floats = np.minimum(found, found.T)
        return rates

    def bindings(self, edges: Sequence[tuple[int, int]], value: Worth = bandwidth) -> list[int]:
        """The place, among the topology's links, of the one that is worth least on the route of each edge (places in
        `usable`); of both directions that of the slower one, of equals the first. -1 without a route."""
        if self.topology.kind == "pairs":
            return [self._binding_of_pair(edge, value) for edge in edges]
        known = self._tree_rates if value is bandwidth else self._rates_on_tree(value)
        if known is None:
            return [self._binding(self.usable[a].id, self.usable[b].id, value) for a, b in edges]
        return [int(known[1][edge]) for edge in edges]

    @cached_property
    def _tree_rates(self) -> tuple[Floats, Ints] | None:
        return self._rates_on_tree(bandwidth)

    def _rates_on_tree(self, value: Worth) -> tuple[Floats, Ints] | None:
        network = self.tree(value)
        return None if network is None else tree_rates(network)

    def _binding(self, a: str, b: str, value: Worth) -> int:
        paths = self.routes.path(a, b), self.routes.path(b, a)
        if paths[0] is None or paths[1] is None:
            return -1
        links = self.topology.links
        loads = (*paths[0].loads, *paths[1].loads)
        return min(loads, key=lambda load: value(links[load[0] >> 1], load[1]))[0] >> 1

    def _binding_of_pair(self, edge: tuple[int, int], value: Worth) -> int:
        places = int(self._crossbar[edge]), int(self._crossbar[edge[::-1]])
        worth = value.of_all(link_columns(self.topology))
        return -1 if -1 in places else min(places, key=lambda place: float(worth[place]))

    @cached_property
    def _crossbar(self) -> Ints:
        return crossbar(self.topology, self.usable)

    def on_crossbar(self, of_links: Floats) -> Floats:
        """n x n, of measured pairs: what each pair has, from a value for every link and last the one for no link."""
        return np.asarray(of_links[self._crossbar])

    def _directed(self, value: Worth) -> Floats:
        if self.topology.kind == "pairs":
            return self.on_crossbar(np.append(value.of_all(link_columns(self.topology)), NO_PATH))
        return narrowest(self.routes, [node.id for node in self.usable], value)


def _of_all(topology: Topology) -> Pairs:
    return Pairs(topology, topology.compute_nodes())


def crossbar(topology: Topology, usable: Sequence[Node]) -> Ints:
    """n x n: where each pair's link stands in the topology's links, -1 without one. Every link is the path of its own
    pair; of several the first. O(n^2 + links), and O(n^2) when it is asked of the same table of links again."""
    links = link_columns(topology)
    if isinstance(topology.links, LinkTable):
        whole, names = topology.links.pair_places(directed=topology.directed), topology.links.names
        at = {name: number for number, name in enumerate(names)}
        wanted = [at[node.id] for node in usable]
        return whole if wanted == list(range(len(names))) else whole[np.ix_(wanted, wanted)]
    vertex = np.full(len(links.place), -1, dtype=np.int64)
    vertex[[links.place[node.id] for node in usable]] = np.arange(len(usable))
    return pair_places(vertex[links.source], vertex[links.target], len(usable), directed=topology.directed)


def tree_rates(network: Network) -> tuple[Floats, Ints]:
    """All pairs of a network without cycles: their values, and the places in the topology's links of the links that
    bind, -1 without a path. O(n^2 + E log E)."""
    n = network.count
    rates = np.full((n, n), NO_PATH)
    links = np.full((n, n), -1, dtype=np.int64)
    direct = (network.u < n) & (network.v < n)
    for u, v in ((network.u[direct], network.v[direct]), (network.v[direct], network.u[direct])):
        rates[u, v], links[u, v] = network.w[direct], network.link[direct]
    _sweep(network, rates, links)
    np.fill_diagonal(rates, NO_PATH)
    np.fill_diagonal(links, -1)
    return rates, links


def _sweep(network: Network, rates: Floats, links: Ints) -> None:
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
    """What the pairs between two lists of nodes are worth, where they are not worth as much yet."""
    rows, columns = np.array(left)[:, None], np.array(right)[None, :]
    known = rates[rows, columns]
    if known.max() < value:  # as it is but where nodes have several links
        rates[rows, columns] = rates[columns, rows] = value
        links[rows, columns] = links[columns, rows] = link
        return
    wider = known < value
    rows, columns = np.broadcast_to(rows, wider.shape)[wider], np.broadcast_to(columns, wider.shape)[wider]
    rates[rows, columns] = rates[columns, rows] = value
    links[rows, columns] = links[columns, rows] = link
