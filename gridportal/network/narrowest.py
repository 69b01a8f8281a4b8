"""Of every pair of nodes what the narrowest link of its path is worth, all pairs at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gridportal.network.link_columns import LinkColumns, link_columns
from gridportal.network.routes import Core, Routes
from gridportal.network.sharing import sharing
from gridportal.network.switch_hops import SwitchHops, switch_hops
from gridportal.network.topology import Link, Topology

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Worth:
    """What a link is worth to a flow of which it carries a part. `of`: of one link and a part (1.0: all of the flow);
    `of_all`: the same of all links and the whole flow, in their order."""

    of: Callable[[Link, float], float]
    of_all: Callable[[LinkColumns], Floats]

    def __call__(self, link: Link, part: float = 1.0) -> float:
        return self.of(link, part)


def _bandwidth(link: Link, part: float) -> float:
    return link.bandwidth if part == 1.0 else sharing(link).rate(part)


#: Bit/s that one more flow gets of a link, if only this part of it crosses the link.
bandwidth = Worth(_bandwidth, lambda links: links.bandwidth)


def narrowest(routes: Routes, names: Sequence[str], worth: Worth) -> Floats:
    """From each of the nodes (rows) to each other (columns) the least worth among the links of the path; -inf where
    there is none, and on the diagonal.

    Cost: O(n^2) and what a search from each switch with nodes takes, where every node hangs on one switch; O(n^2 +
    searches * nodes) where nodes forward by the target alone; else n^2 paths.

    >>> from gridportal.network.topology import parse
    >>> links = [{"source": x, "target": "s", "capacity": w} for x, w in (("a", 9), ("b", 4), ("c", 8))]
    >>> t = parse({"nodes": [*({"id": x} for x in "abc"), {"id": "s", "kind": "network"}], "links": links})
    >>> narrowest(Routes(t), ["a", "b", "c"], bandwidth)[0].tolist()
    [-inf, 4.0, 8.0]
    """
    hops = switch_hops(routes.topology)
    if hops is not None:
        return _over_switches(routes, hops, names, worth)
    if routes.by_target:
        return _ByTarget(routes, names, worth).rates()
    rates = np.full((len(names), len(names)), -np.inf)
    links = routes.topology.links
    kept: dict[tuple[int, float], float] = {}
    for i, source in enumerate(names):
        for j, target in enumerate(names):
            path = routes.path(source, target) if i != j else None
            for load in path.loads if path else ():
                if load not in kept:
                    kept[load] = worth(links[load[0] >> 1], load[1])
            if path:
                rates[i, j] = min(kept[load] for load in path.loads)
    return rates


def _over_switches(routes: Routes, hops: SwitchHops, names: Sequence[str], worth: Worth) -> Floats:
    """Between their switches once, whichever nodes are on them, and over the links of the nodes."""
    topology = routes.topology
    columns = link_columns(topology)
    number = np.full(len(topology.nodes), -1, dtype=np.int64)
    number[columns.compute] = np.arange(len(columns.compute))
    nodes = number[[columns.place[name] for name in names]]
    whole = np.repeat(worth.of_all(columns), 2)
    inner = _between_switches(topology, hops, worth)
    entry = np.full(len(hops.switches), 0, dtype=np.int64)
    entry[hops.entries] = np.arange(len(hops.entries))
    linked = hops.home[nodes] >= 0
    if not len(hops.entries) or not linked.any():
        return np.full((len(names), len(names)), -np.inf)
    homes = entry[hops.home[nodes]]
    rates = inner[np.ix_(homes, homes)]
    np.minimum(rates, np.where(linked, whole[hops.up[nodes]], -np.inf)[:, None], out=rates)
    np.minimum(rates, np.where(linked, whole[hops.down[nodes]], -np.inf)[None, :], out=rates)
    np.fill_diagonal(rates, -np.inf)
    return rates


def _between_switches(topology: Topology, hops: SwitchHops, worth: Worth) -> Floats:
    """Kept with the topology for the bandwidth, which everybody asks for again and again."""
    kept = hops.kept.get("bandwidth") if worth is bandwidth else None
    if kept is not None:
        return kept
    whole = np.repeat(worth.of_all(link_columns(topology)), 2)
    found = hops.narrowest(whole) if topology.routing.rule == "short" else _shared(topology, hops, worth)
    if worth is bandwidth:
        hops.kept["bandwidth"] = found
    return found


def _shared(topology: Topology, hops: SwitchHops, worth: Worth) -> Floats:
    """The same between switches where each flow is shared by several paths (ECMP)."""
    number = np.full(len(hops.switches), -1, dtype=np.int64)
    number[hops.entries] = np.arange(len(hops.entries))
    count = len(hops.entries)
    found = np.full((count, count), -np.inf)
    least = np.full((count, count), np.inf)
    known: dict[float, Floats] = {}
    links = [topology.links[arc >> 1] for arc in hops.arc.tolist()]
    for entry, sources, rows, parts in hops.shares():
        column = number[entry]
        values = np.empty(len(rows))
        for part in np.unique(parts).tolist():
            if part not in known:
                known[part] = np.array([worth(link, part) for link in links])
            where = parts == part
            values[where] = known[part][rows[where]]
        np.minimum.at(least, (number[sources], column), values)
        reached = hops.head[rows] == entry
        found[number[sources[reached]], column] = 0.0
    np.fill_diagonal(found, 0.0)
    reached_all: Floats = np.where(found == 0.0, least, -np.inf)
    return reached_all


class _ByTarget:
    """Column by column: what each network node passes on to the target, then what each source gets to its first one.

    Targets on the same switches share all but their last link."""

    def __init__(self, routes: Routes, names: Sequence[str], worth: Worth) -> None:
        self.routes, self.core = routes, routes.finder if isinstance(routes.finder, Core) else Core(routes)
        self.places = [routes.place[name] for name in names]
        self.worth = np.repeat(worth.of_all(link_columns(routes.topology)), 2)
        self.switches = [place for place, forwards in enumerate(routes.forwards) if forwards]
        self.first: dict[tuple[int, ...], tuple[Floats, NDArray[np.int64]]] = {}
        self.inner: dict[tuple[int, ...], tuple[Floats, NDArray[np.int64]]] = {}

    def rates(self) -> Floats:
        rates = np.full((len(self.places), len(self.places)), -np.inf)
        column = {place: j for j, place in enumerate(self.places)}
        if self.switches:
            for place, j in column.items():
                up, head = self._first(place)
                rates[:, j] = np.minimum(up, self._passed_on(place)[head])
        for i, place in enumerate(self.places):
            for arc in reversed(self.routes.leaving[place]):
                j = column.get(self.routes.head[arc], -1)
                if j >= 0:
                    rates[i, j] = self.worth[arc]
        np.fill_diagonal(rates, -np.inf)
        return rates

    def _first(self, target: int) -> tuple[Floats, NDArray[np.int64]]:
        """Of every source the worth of the link to the first network node on its way, and that node."""
        entries = self.core.entries_of(target)
        if entries not in self.first:
            arcs = [self.core.search(target).closer(place)[:1] for place in self.places]
            up = np.array([self.worth[arc[0]] if arc else -np.inf for arc in arcs])
            self.first[entries] = up, np.array([self.routes.head[arc[0]] if arc else 0 for arc in arcs], dtype=np.int64)
        return self.first[entries]

    def _passed_on(self, target: int) -> Floats:
        """By place what the path from a network node to the target is worth."""
        if self.core.rules.tables:
            return self._by_tables(target)
        entries = self.core.entries_of(target)
        if entries not in self.inner:
            self.inner[entries] = self._to_entries(target)
        way, entry = self.inner[entries]
        last = np.full(self.core.count, -np.inf)
        for place in entries:
            last[place] = self.worth[self.core.following(place, target)[0]]
        passed: Floats = np.minimum(way, last[entry])
        return passed

    def _to_entries(self, target: int) -> tuple[Floats, NDArray[np.int64]]:
        """Of every network node what its way to the nearest switch of the target is worth, and which switch that is."""
        search = self.core.search(target)
        way = np.full(self.core.count, -np.inf)
        entry = np.zeros(self.core.count, dtype=np.int64)
        for place in sorted(self.switches, key=lambda place: search.distance[place]):
            if search.distance[place] == 0:
                way[place], entry[place] = np.inf, place
                continue
            for arc in search.closer(place)[:1]:
                there = self.routes.head[arc]
                way[place], entry[place] = min(self.worth[arc], way[there]), entry[there]
        return way, entry

    def _by_tables(self, target: int) -> Floats:
        way = np.full(self.core.count, -np.inf)
        done = {target: np.inf}
        for start in self.switches:
            arcs: dict[int, int] = {}
            here = start
            while here not in done and here not in arcs:
                following = self.core.following(here, target)
                if not following:
                    break
                arcs[here] = following[0]
                here = self.routes.head[arcs[here]]
            value = done.get(here, -np.inf)
            for place in reversed(arcs):
                value = done[place] = min(value, self.worth[arcs[place]])
            done.setdefault(start, value)
            way[start] = done[start]
        return way
