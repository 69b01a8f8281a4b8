"""From rates measured between pairs of nodes to the available bandwidth of every link on the way.

A pair's transfer is as fast as the slowest link of its path, so each link has at least the rate of every pair that
crosses it: the estimate is the largest such rate, at most the link's peak. It is exact for a link that is the slowest
of some measured path; of a link that is nowhere the slowest it says only that it was never in the way, which is
what selection needs: the smallest estimate along a path is never below the rate measured end to end.

Where that is certain, because the fastest pairs over a link had the whole peak of a narrower link on their way, nothing
speaks against the link's own peak, and it counts as idle: a trunk that is wider than the links at its ends. No path's
smallest estimate changes by more than measurements scatter, but two flows that share the trunk get what it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gridportal.network.routes import Routes
from gridportal.network.sweep_result import PairRate, Together
from gridportal.network.topology import Topology

Ends = tuple[str, str]
#: Rates within this fraction of each other are equal to one short transfer.
NEAR = 0.95


@dataclass(frozen=True, slots=True)
class LinkRate:
    """What pairs show of a link: bit/s of the fastest that crosses it, the number of that pair, and whether the link
    counts as idle because something else held all pairs that were as fast."""

    rate: float
    pair: int
    idle: bool


def link_rates(topology: Topology, pairs: Sequence[tuple[Ends, float]]) -> dict[int, LinkRate]:
    """By place in `topology.links` what the pairs (their ends, bit/s) show of each link that one of them crosses.

    Where several paths share a flow (ECMP) a link has shown its part of the rate.
    A pair without a path, or whose nodes are not there, is passed over. O(length of all paths) besides the routes.
    """
    routes = Routes(topology)
    ways = [_parts(routes, *ends) for ends, _ in pairs]
    fastest: dict[int, tuple[float, int]] = {}
    for number, (parts, (_, rate)) in enumerate(zip(ways, pairs, strict=True)):
        for place, part in parts:
            if place not in fastest or fastest[place][0] < rate * part:
                fastest[place] = (rate * part, number)
    idle = set(fastest)
    for parts, (_, rate) in zip(ways, pairs, strict=True):
        peaks = [topology.links[place].capacity / part for place, part in parts]
        narrowest = min(peaks, default=0.0)
        for (place, part), peak in zip(parts, peaks, strict=True):
            held_elsewhere = narrowest < peak and rate >= NEAR * narrowest
            if not held_elsewhere and rate * part >= NEAR * fastest[place][0]:
                idle.discard(place)
    return {place: LinkRate(rate, number, place in idle) for place, (rate, number) in fastest.items()}


def link_bandwidths(
    topology: Topology, pairs: Iterable[PairRate], together: Iterable[Together] = ()
) -> dict[Ends, float]:
    """Available bit/s of each link that a measured pair crosses, by (source, target) as in `topology.links`.

    What transfers at once told of a link (gridportal.network.joint_flows) counts before what pairs alone show of it.

    >>> from gridportal.network.topology import parse
    >>> star = parse({"nodes": [{"id": "a"}, {"id": "b"}, {"id": "s", "kind": "network"}], "links": [
    ...     {"source": "a", "target": "s", "capacity": 9}, {"source": "s", "target": "b", "capacity": 9}]})
    >>> link_bandwidths(star, [PairRate("a", "b", 4.0)])
    {('a', 's'): 4.0, ('s', 'b'): 4.0}
    """
    best: dict[Ends, float] = {}
    shown = link_rates(topology, [((pair.source, pair.target), pair.bandwidth) for pair in pairs])
    for place, found in sorted(shown.items()):
        link = topology.links[place]
        ends = (link.source, link.target)
        rate = link.capacity if found.idle else min(found.rate, link.capacity)
        best[ends] = max(best.get(ends, 0.0), rate)
    return _with_together(topology, best, tuple(together))


def _with_together(topology: Topology, best: dict[Ends, float], together: Sequence[Together]) -> dict[Ends, float]:
    """A link that was filled has what passed, the least of its directions; another has at least what passed."""
    filled: set[Ends] = set()
    for measured in sorted(together, key=lambda measured: measured.filled):
        ends = (measured.source, measured.target)
        if ends not in best and not topology.directed:
            ends = (measured.target, measured.source)
        if ends not in best:
            continue
        if not measured.filled:
            best[ends] = max(best[ends], measured.bandwidth)
        else:
            best[ends] = min(best[ends], measured.bandwidth) if ends in filled else measured.bandwidth
            filled.add(ends)
    return best


def path_links(topology: Topology, source: str, target: str) -> list[Ends]:
    """The links from `source` to `target`, as they are written in the topology; empty when there is no way."""
    links = (topology.links[place] for place, _ in _parts(Routes(topology), source, target))
    return [(link.source, link.target) for link in links]


def _parts(routes: Routes, source: str, target: str) -> list[tuple[int, float]]:
    """The places of the links on the way, each with the part of the flow that it carries."""
    if source not in routes.place or target not in routes.place:
        return []
    path = routes.path(source, target)
    return [(arc >> 1, part) for arc, part in path.loads] if path else []
