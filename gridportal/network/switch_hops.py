"""Where switches send what is meant for others, for all of them at once: shortest paths over the switches alone.

The same rule as gridportal.network.routes, for networks whose compute nodes all hang on one switch by one link each and
that go by the rules `short` or `ecmp` alone; so what holds between two switches holds for all their nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gridportal.network.link_columns import link_columns
from gridportal.network.link_table import LinkTable
from gridportal.network.topology import Topology

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
T = TypeVar("T")
#: So many switches with nodes are looked at together: arrays are links times these.
TOGETHER = 128
_FAR = 1 << 30


@dataclass(frozen=True)
class SwitchHops:
    """Switches and arcs between them by number. switches: the place of each among the topology's nodes. tail, head,
    arc: the ends of each arc and its number in gridportal.network.routes, sorted so that of the arcs of a switch the
    one that the short rule takes comes first. home: of each compute node its switch, -1 without one; up, down: the arcs
    of its link. entries: the switches with nodes. kept: what was found between entries, by what it is."""

    switches: Ints
    tail: Ints
    head: Ints
    arc: Ints
    home: Ints
    up: Ints
    down: Ints
    entries: Ints
    kept: dict[str, Floats] = field(default_factory=dict)

    def closer(self) -> Iterator[tuple[Ints, NDArray[np.bool_]]]:
        """Some of the entries at a time, and by arc (rows) and entry whether the arc is on a shortest path there."""
        starts = np.flatnonzero(np.diff(self.tail, prepend=-1))
        for first in range(0, len(self.entries), TOGETHER):
            some = self.entries[first : first + TOGETHER]
            distance = self._distances(some, starts)
            yield some, (distance[self.head] + 1 == distance[self.tail]) & (distance[self.head] < _FAR)

    def _distances(self, entries: Ints, starts: Ints) -> NDArray[np.int32]:
        """By switch and entry how many links lie between them."""
        distance = np.full((len(self.switches), len(entries)), _FAR, dtype=np.int32)
        distance[entries, np.arange(len(entries))] = 0
        reached, steps = distance == 0, 0
        while reached.any() and len(starts):
            steps += 1
            further = np.zeros_like(reached)
            further[self.tail[starts]] = np.logical_or.reduceat(reached[self.head], starts, axis=0)
            reached = further & (distance == _FAR)
            distance[reached] = steps
        return distance

    def first(self, closer: Flags) -> Ints:
        """By switch and entry the row of the arc that the short rule takes, -1 without one."""
        found = np.full((len(self.switches), closer.shape[1]), -1, dtype=np.int64)
        starts = np.flatnonzero(np.diff(self.tail, prepend=-1))
        if len(starts):
            numbers = np.arange(len(self.tail), dtype=np.int32)[:, None]
            rows = np.where(closer, numbers, np.int32(len(self.tail)))
            least = np.minimum.reduceat(rows, starts, axis=0)
            found[self.tail[starts]] = np.where(least < len(self.tail), least, -1)
        return found

    def links_in_use(self, count: int) -> Flags:
        """Whether each of the topology's `count` links carries anything by the short rule; the nodes' own do."""
        used = np.zeros(len(self.tail), dtype=bool)
        for _, closer in self.closer():
            first = self.first(closer)
            here = np.zeros(first.shape, dtype=bool)
            here[self.entries] = True
            while here.any():
                switch, entry = np.nonzero(here & (first >= 0))
                rows = first[switch, entry]
                used[rows] = True
                here = np.zeros(first.shape, dtype=bool)
                here[self.head[rows], entry] = True
        arcs = np.concatenate([self.arc[used], self.up[self.up >= 0], self.down[self.down >= 0]])
        found = np.zeros(count, dtype=bool)
        found[arcs >> 1] = True
        return found

    def narrowest(self, worth: Floats) -> Floats:
        """Entry to entry (rows to columns) the least worth on the way by the short rule, -inf without one; `worth` of
        each arc by its number."""
        value = worth[self.arc]
        number = np.full(len(self.switches), -1, dtype=np.int64)
        number[self.entries] = np.arange(len(self.entries))
        found = np.full((len(self.entries), len(self.entries)), -np.inf)
        for some, closer in self.closer():
            first = self.first(closer)
            least = np.full(first.shape, np.inf)
            here = np.broadcast_to(np.arange(len(self.switches))[:, None], first.shape)
            columns = np.broadcast_to(np.arange(len(some)), first.shape)
            at_end = here == some[None, :]
            while True:
                rows = first[here, columns]
                going = (rows >= 0) & ~at_end
                if not going.any():
                    break
                least = np.where(going, np.minimum(least, value[rows]), least)
                here = np.where(going, self.head[rows], here)
                at_end = here == some[None, :]
            least[~at_end] = -np.inf
            found[:, number[some]] = least[self.entries]
        return found

    def row_of(self, arcs: Ints) -> Ints:
        """The row of each arc by its number, -1 where it is not between switches."""
        rows = np.full(int(max(self.arc.max(initial=-1), arcs.max(initial=-1))) + 1, -1, dtype=np.int64)
        rows[self.arc] = np.arange(len(self.arc))
        found: Ints = rows[arcs]
        return found

    @cached_property
    def arc_shares(self) -> ArcShares:
        """What each arc carries of the flows over it, made when first asked for."""
        least, most = np.full(len(self.arc), np.inf), np.zeros(len(self.arc))
        pairs, parts = np.zeros(len(self.arc), dtype=np.int64), set[float]()
        for _, _, rows, flow in self.shares():
            np.minimum.at(least, rows, flow)
            np.maximum.at(most, rows, flow)
            pairs += np.bincount(rows, minlength=len(self.arc))
            parts.update(np.unique(flow).tolist())
        return ArcShares(least, most, pairs, tuple(sorted(parts)))

    def shares(self) -> Iterator[tuple[int, Ints, Ints, Floats]]:
        """By the rule `ecmp`, for each entry and each step on the ways to it: (the entry, the switches that send, rows
        of arcs, parts of what each sends on them)."""
        count = len(self.switches)
        for some, closer in self.closer():
            for column, entry in enumerate(some.tolist()):
                rows = np.flatnonzero(closer[:, column])
                start = np.searchsorted(self.tail[rows], np.arange(count + 1))
                source: Ints = self.entries[self.entries != entry]
                here: Ints = source
                part: Floats = np.ones(len(here))
                while len(here):
                    begin, many = start[here], start[here + 1] - start[here]
                    each = np.repeat(np.arange(len(here)), many)
                    before = np.concatenate(([0], np.cumsum(many)[:-1]))
                    taken = rows[np.repeat(begin - before, many) + np.arange(len(each))]
                    flow = (part / np.maximum(many, 1))[each]
                    yield entry, source[each], taken, flow
                    keys, back = np.unique(source[each] * count + self.head[taken], return_inverse=True)
                    part = np.asarray(np.bincount(back, flow, minlength=len(keys)), dtype=np.float64)
                    source, here = keys // count, keys % count
                    going = here != entry
                    source, here, part = source[going], here[going], part[going]


@dataclass(frozen=True)
class ArcShares:
    """By row of an arc, over all pairs of entries whose flows cross it by the rule `ecmp`: the least and the largest
    part of a flow, and how many pairs; and all parts that there are."""

    least: Floats
    most: Floats
    pairs: Ints
    parts: tuple[float, ...]


def switch_hops(topology: Topology) -> SwitchHops | None:
    """The hops of a topology, made when they are first asked for; None as `_hops` says."""
    return topology.derived(_kept_hops)


def _kept_hops(topology: Topology) -> SwitchHops | None:
    return _once(topology, "hops", _hops)


def _once(topology: Topology, name: str, find: Callable[[Topology], T]) -> T:
    """What depends on the links and the names and kinds of nodes alone: once for the same table of links, which many
    topologies of a large cluster share, each with other loads."""
    if topology.routing.is_fixed or not isinstance(topology.links, LinkTable):
        return find(topology)
    nodes = tuple((node.id, node.kind) for node in topology.nodes)
    key = topology.directed, topology.kind, topology.routing.rule, nodes
    return topology.links.once(name, key, lambda: find(topology))


def links_in_use(topology: Topology) -> Flags | None:
    """Whether each link carries anything by the rule `short`; None where that is not known of switches alone."""
    return topology.derived(_kept_links_in_use)


def _kept_links_in_use(topology: Topology) -> Flags | None:
    return _once(topology, "in use", _links_in_use)


def _links_in_use(topology: Topology) -> Flags | None:
    hops = switch_hops(topology) if topology.routing.rule == "short" else None
    return None if hops is None else hops.links_in_use(len(topology.links))


def _hops(topology: Topology) -> SwitchHops | None:
    """None where pairs go other ways (fixed paths, tables, hashes, measured pairs), or a
    compute node has other than one link to one switch. O(nodes + links)."""
    if topology.kind == "pairs" or topology.routing.is_fixed or topology.routing.rule == "ecmp-hash":
        return None
    columns = link_columns(topology)
    ends = np.stack([columns.source, columns.target], axis=1)
    tail, head = ends.ravel(), ends[:, ::-1].ravel()
    arcs = np.arange(len(tail))
    if topology.directed:
        arcs = arcs[::2]
    tail, head = tail[arcs], head[arcs]
    count = len(topology.nodes)
    number = np.full(count, -1, dtype=np.int64)
    number[columns.network] = np.arange(len(columns.network))
    compute = columns.compute
    out, into = np.bincount(tail, minlength=count)[compute], np.bincount(head, minlength=count)[compute]
    home, up, down = (np.full(count, -1, dtype=np.int64) for _ in range(3))
    up[tail[number[tail] < 0]] = arcs[number[tail] < 0]
    down[head[number[head] < 0]] = arcs[number[head] < 0]
    if (out > 1).any() or (into > 1).any() or (out != into).any():
        return None
    linked = compute[out == 1]
    other = np.full(count, -1, dtype=np.int64)
    other[tail[number[tail] < 0]] = head[number[tail] < 0]
    back = np.full(count, -1, dtype=np.int64)
    back[head[number[head] < 0]] = tail[number[head] < 0]
    if (number[other[linked]] < 0).any() or (other[linked] != back[linked]).any():
        return None
    home[linked] = number[other[linked]]
    inner = (number[tail] >= 0) & (number[head] >= 0)
    tail, head, arcs = tail[inner], head[inner], arcs[inner]
    order = np.lexsort((arcs, head, number[tail]))
    return SwitchHops(
        columns.network,
        number[tail[order]],
        number[head[order]],
        arcs[order],
        home[compute],
        up[compute],
        down[compute],
        np.unique(home[linked]),
    )
