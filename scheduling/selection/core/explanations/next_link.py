"""What a better link would buy: the links that hold the slowest pairs of a group, and what binds once they do not.

Source: ours, after Pattern 2003, 2.4: the lowest bandwidth path determines a collective step, so nothing is won by any
other link before these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from gridportal.network.link_columns import LinkColumns, link_columns
from gridportal.network.narrowest import Worth, bandwidth
from gridportal.network.topology import Link, Topology
from scheduling.jobs.core.explanation import NextLink
from scheduling.jobs.core.link_ends import LinkEnds
from scheduling.selection.core.explanations.talking_nodes import talking_nodes
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.placement import Selection
from scheduling.selection.core.trees.usable_network import Floats

#: So many links that hold a group at the same rate are looked for at most.
MOST_LINKS = 64


def next_link(topology: Topology, selection: Selection) -> NextLink | None:
    """What the same nodes would gain by better links in the place of those that bind; of pairs one at a time. None for
    a group without pairs, with a pair without a path, and where all pairs talk at once.

    >>> import random
    >>> from gridportal.network.topology import parse
    >>> from scheduling.selection.core.selection import Request, select
    >>> links = [{"source": x, "target": "s", "capacity": w} for x, w in (("a", 9), ("b", 4), ("c", 8))]
    >>> net = parse({"nodes": [*({"id": x} for x in "abc"), {"id": "s", "kind": "network"}], "links": links})
    >>> chosen = select(net, Request(3, "communication"), rng=random.Random(0), clock=lambda: 0.0)
    >>> next_link(net, chosen)
    NextLink(links=(('b', 's'),), bandwidth=4.0, then=8.0, binding=('c', 's'))
    """
    chosen = selection.candidates[0]
    if selection.flows or chosen.bottleneck is None or chosen.bottleneck.link is None:
        return None
    members = tuple(dict.fromkeys(chosen.nodes))
    by_id = {node.id: node for node in topology.compute_nodes()}
    group = Pairs(topology, [by_id[name] for name in members])
    return _raised(group, talking_nodes(chosen.nodes, selection.pattern), chosen.bottleneck.bandwidth)


def _raised(group: Pairs, ends: Sequence[tuple[int, int]], now: float) -> NextLink:
    """Raised one round after the other: a pair over a link that was raised may be held at the same rate by another."""
    raised: set[int] = set()
    while True:
        value = _without(group.topology, raised)
        rates = group.rates(value)
        lowest = min(float(rates[pair]) for pair in ends)
        if lowest == np.inf:
            return NextLink(_ends(group, raised), now)
        held = [pair for pair in ends if rates[pair] == lowest]
        if lowest > now or len(raised) >= MOST_LINKS:
            return NextLink(_ends(group, raised), now, lowest, _ends(group, group.bindings(held[:1], value))[0])
        raised.update(_both_ways(group.topology, group.bindings(held, value)))


def _both_ways(topology: Topology, links: Sequence[int]) -> set[int]:
    """With their other directions, where each has a link of its own: who lays a better cable has both."""
    if not topology.directed:
        return set(links)
    columns = link_columns(topology)
    found = set(links)
    for number in links:
        back = (columns.source == columns.target[number]) & (columns.target == columns.source[number])
        found.update(np.flatnonzero(back)[:1].tolist())  # of parallel links the first counts
    return found


def _ends(group: Pairs, links: Iterable[int]) -> tuple[LinkEnds, ...]:
    found = (group.topology.links[place] for place in sorted(links))
    return tuple((link.source, link.target) for link in found)


def _without(topology: Topology, raised: Collection[int]) -> Worth:
    """The bandwidth of links, without an end for these (places among the topology's links)."""
    if not raised:
        return bandwidth
    ends = {(topology.links[place].source, topology.links[place].target) for place in raised}
    places = sorted(raised)

    def of(link: Link, part: float) -> float:
        return np.inf if (link.source, link.target) in ends else bandwidth(link, part)

    def of_all(links: LinkColumns) -> Floats:
        rates: Floats = links.bandwidth.copy()
        rates[places] = np.inf
        return rates

    return Worth(of, of_all)
