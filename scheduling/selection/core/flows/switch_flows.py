"""The flows on a network of switches with cycles, where every compute node hangs on one switch by one link and each
pair has one path: what two switches cross is looked up once for all their nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from gridportal.network.link_columns import link_columns
from gridportal.network.switch_hops import SwitchHops, switch_hops
from scheduling.selection.core.flows.border_flows import whole_flows
from scheduling.selection.core.flows.flow_loads import Edges, FlowModel, TreeFlows
from scheduling.selection.core.flows.link_crossings import LinkCrossings
from scheduling.selection.core.flows.way_table import MOST_SWITCHES, WayTable
from scheduling.selection.core.trees.switch_tree import SwitchTree
from scheduling.selection.core.trees.usable_network import Ints


class SwitchFlows:
    """As LinkCrossings, by arcs. `home`: of each usable node the number of its switch among the entries of `hops`."""

    def __init__(self, crossings: LinkCrossings, hops: SwitchHops, compute: Ints, home: Ints) -> None:
        self.crossings, self.caps = crossings, crossings.caps
        self._hops, self._home = hops, home
        self.up, self.down = hops.up[compute], hops.down[compute]

    def pair(self, a: int, b: int) -> tuple[int, ...] | None:
        """The arcs that both directions of a pair cross."""
        return self.crossings.pair(a, b)

    def rate(self, crossed: int, flows: int) -> float:
        """What each of so many flows gets on an arc."""
        return self.crossings.rate(crossed, flows)

    @cached_property
    def ways(self) -> WayTable | None:
        """None where some switches have no way to others."""
        return _table(self._hops, self._home)

    def lets_through(self, level: float) -> Ints:
        """How many flows every arc of `ways` lets through at a level."""
        if self.ways is None:
            return np.zeros(0, dtype=np.int64)
        return whole_flows(self.crossings.most_flows(self.ways.names, level))

    def lowest(self, group: Sequence[int], edges: Edges) -> float:
        """What the slowest flow gets, all pairs at once."""
        ways = self.ways
        if ways is None:
            return self.crossings.lowest(group, edges)
        at, ends = np.array(group), np.array(edges).reshape(-1, 2)
        a, b = at[ends[:, 0]], at[ends[:, 1]]
        a, b = a[a != b], b[a != b]
        counts = ways.crossings(a, b)
        nodes, flows = np.unique(np.concatenate([a, b]), return_counts=True)
        arcs = np.concatenate([ways.names[counts > 0], self.up[nodes], self.down[nodes]])
        many = np.concatenate([counts[counts > 0], flows, flows])
        rates = (self.rate(*each) for each in zip(arcs.tolist(), many.tolist(), strict=True))
        return min(*rates, math.inf, *(self.caps[node] for node in group))


def flow_model(tree: SwitchTree, crossings: LinkCrossings) -> FlowModel:
    """By the parts of the tree where these tell all, else by links: from a table of switches, or path by path."""
    return TreeFlows(tree, crossings) if tree.is_exact else switch_flows(crossings) or crossings


def switch_flows(crossings: LinkCrossings) -> SwitchFlows | None:
    """None where not every usable node hangs on one switch, paths are not the short ones, or there are too many
    switches for a table."""
    topology = crossings.routes.topology
    hops = switch_hops(topology) if topology.routing.rule == "short" else None
    if hops is None or len(hops.entries) > MOST_SWITCHES:
        return None
    columns = link_columns(topology)
    number = np.full(len(topology.nodes), -1, dtype=np.int64)
    number[columns.compute] = np.arange(len(columns.compute))
    compute: Ints = number[[columns.place[node.id] for node in crossings.usable]]
    switch = hops.home[compute]
    if (switch < 0).any():
        return None
    entry = np.full(len(hops.switches), -1, dtype=np.int64)
    entry[hops.entries] = np.arange(len(hops.entries))
    return SwitchFlows(crossings, hops, compute, entry[switch])


def _table(hops: SwitchHops, home: Ints) -> WayTable | None:
    """One walk along the first arcs from all entries to some of them at a time."""
    count = len(hops.entries)
    number = np.full(len(hops.switches), -1, dtype=np.int64)
    number[hops.entries] = np.arange(count)
    keys, arcs = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for some, closer in hops.closer():
        first = hops.first(closer)
        here = np.repeat(hops.entries[:, None], len(some), axis=1)
        while (here != some[None, :]).any():
            source, column = np.nonzero(here != some[None, :])
            rows = first[here[source, column], column]
            if (rows < 0).any():
                return None
            target = number[some[column]]
            keys += [source * count + target, target * count + source]
            arcs += [hops.arc[rows]] * 2
            here[source, column] = hops.head[rows]
    return WayTable.of(home, count, np.concatenate(keys), np.concatenate(arcs))
