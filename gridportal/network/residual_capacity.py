"""What links leave to one more stream, from what passes between nodes: who sends to whom, and how much.

Counters of interfaces say how full a link is, but on a full one a new stream gets a share all the same, as large as
those of the others. Agents tell the bytes to every peer, so that one look says how many share a link, also where no
agent sits: between routers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

from gridportal.network.rounds import Parts, parts_of
from gridportal.network.topology import Topology

Pair = tuple[str, str]
#: A pair with less than this fraction of a link is no stream that shares it.
_STREAM = 0.02


def left(topology: Topology, flows: Mapping[Pair, float], staying: float = 1.0) -> dict[Pair, float]:
    """Bit/s for one more stream on each link, by its ends as in the topology; of both directions the lower.

    `flows` are the bit/s that pass from node to node. A link that k of them share leaves what they do not use, or one
    part of k + 1, whichever is more (max-min fairness). Pairs without a way, or of unknown nodes, count for nothing.

    `staying` is the part of the streams that will still be there for most of the time that is asked about; the others
    will have ended, and as many will have come between nodes that nobody can foretell. So the rest of them is taken to
    be spread over all ordered pairs of nodes: links that many pairs need leave less, even those that are idle now.

    >>> from gridportal.network.topology import parse
    >>> star = parse({"nodes": [{"id": "a"}, {"id": "b"}, {"id": "s", "kind": "network"}], "links": [
    ...     {"source": "a", "target": "s", "capacity": 90}, {"source": "b", "target": "s", "capacity": 100}]})
    >>> left(star, {("a", "b"): 90.0})
    {('a', 's'): 45.0, ('b', 's'): 50.0}
    """
    parts, known = parts_of(topology), {node.id for node in topology.compute_nodes()}
    capacities = {(link.source, link.target): link.capacity for link in topology.links}
    used: dict[Pair, float] = {}
    streams: dict[Pair, int] = {}
    many: set[Pair] = set()
    for (source, target), rate in flows.items():
        if source == target or not {source, target} <= known or rate <= 0:
            continue
        for way, part in parts(source, target):
            used[way] = used.get(way, 0.0) + rate * part
            capacity = capacities.get(way, capacities.get(way[::-1], 0.0))
            if rate * part >= _STREAM * capacity:
                streams[way] = streams.get(way, 0) + 1
                many.add((source, target))
    crossed = _crossed(sorted(known), parts) if staying < 1 and many else {}

    def leaves(way: Pair, capacity: float) -> float:
        share = capacity / (streams[way] + 1) if streams.get(way) else 0.0
        now = max(capacity - used.get(way, 0.0), share)
        if not crossed:
            return now
        if now <= 0:
            return 0.0  # pairs too small to be streams fill it
        others = staying * (capacity / now - 1) + (1 - staying) * len(many) * crossed.get(way, 0.0)
        return capacity / (1 + others)

    found = {}
    for ends, capacity in capacities.items():
        directions = [ends] if topology.directed else [ends, ends[::-1]]
        found[ends] = min(leaves(way, capacity) for way in directions)
    return found


def _crossed(names: Sequence[str], parts: Parts) -> dict[Pair, float]:
    """Of all ordered pairs of nodes the part that needs each direction of a link. O(n^2 * length of a path)."""
    pairs = list(permutations(names, 2))
    counted: dict[Pair, float] = {}
    for pair in pairs:
        for way, part in parts(*pair):
            counted[way] = counted.get(way, 0.0) + part
    return {way: count / len(pairs) for way, count in counted.items()}
