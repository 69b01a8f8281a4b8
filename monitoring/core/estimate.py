"""From rates measured between pairs of nodes to the available bandwidth of every link on the way.

A pair's transfer is as fast as the slowest link of its path, so each link has at least the rate of every pair that
crosses it: the estimate is the largest such rate, at most the link's peak. It is exact for a link that is the slowest
of some measured path; of a link that is nowhere the slowest it says only that it was never in the way, which is
what selection needs: the smallest estimate along a path is never below the rate measured end to end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from monitoring.core.measurement import PairRate
from monitoring.core.topology import Topology

Ends = tuple[str, str]


def link_bandwidths(topology: Topology, pairs: Iterable[PairRate]) -> dict[Ends, float]:
    """Available bit/s of each link that a measured pair crosses, by (source, target) as in `topology.links`.

    O(targets * links + length of all paths). A pair without a path is passed over.

    >>> from monitoring.core.topology import parse
    >>> star = parse({"nodes": [{"id": "a"}, {"id": "b"}, {"id": "s", "kind": "network"}], "links": [
    ...     {"source": "a", "target": "s", "capacity": 9}, {"source": "s", "target": "b", "capacity": 9}]})
    >>> link_bandwidths(star, [PairRate("a", "b", 4.0)])
    {('a', 's'): 4.0, ('s', 'b'): 4.0}
    """
    peaks = {(link.source, link.target): link.capacity for link in topology.links}
    best: dict[Ends, float] = {}
    ways: dict[str, dict[str, Ends]] = {}
    for pair in pairs:
        if pair.target not in ways:
            ways[pair.target] = _ways_to(topology, pair.target)
        for link in path(ways[pair.target], pair.source, pair.target):
            best[link] = max(best.get(link, 0.0), min(pair.bandwidth, peaks[link]))
    return best


def path_links(topology: Topology, source: str, target: str) -> list[Ends]:
    """The links from `source` to `target`, as they are written in the topology; empty when there is no way."""
    return path(_ways_to(topology, target), source, target)


def path(ways: Mapping[str, Ends], source: str, target: str) -> list[Ends]:
    """Follow `ways` (the first link towards `target` from every node) from `source` on."""
    links: list[Ends] = []
    here = source
    while here != target:
        if here not in ways:
            return []
        link = ways[here]
        links.append(link)
        here = link[1] if link[0] == here else link[0]
    return links


def _ways_to(topology: Topology, target: str) -> dict[str, Ends]:
    """For every node the first link of its shortest path (fewest links) to `target`, through network nodes only."""
    network = {node.id for node in topology.nodes if node.kind == "network"}
    arriving: dict[str, list[tuple[str, Ends]]] = {}
    for link in topology.links:
        ends = (link.source, link.target)
        arriving.setdefault(link.target, []).append((link.source, ends))
        if not topology.directed:
            arriving.setdefault(link.source, []).append((link.target, ends))
    ways: dict[str, Ends] = {}
    queue = deque([target])
    while queue:
        here = queue.popleft()
        if here != target and here not in network:
            continue
        for there, ends in arriving.get(here, ()):
            if there != target and there not in ways:
                ways[there] = ends
                queue.append(there)
    return ways
