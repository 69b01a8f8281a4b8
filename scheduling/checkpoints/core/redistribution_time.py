"""How long it takes to read data from the nodes that hold it to those that need it: the reads, simulated on a network.

Source: Migration 2003, 8.3: with the number of panels, their sizes and their places, and the bandwidths between
machines, the cost of redistribution is found by simulating the reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.network.flows import MOST_WEIGHT, Flow, flow_query
from gridportal.network.routes import Routes
from gridportal.network.topology import Topology
from gridportal.runtime.srs.redistribution import Message

Pair = tuple[str, str]
#: From asking a depot for something to its first bytes.
ROUND_TRIPS = 3
#: Reads that end within this fraction of a step end together.
_TOGETHER = 1e-9


def bytes_between(messages: Sequence[Message], old: Sequence[str], new: Sequence[str]) -> dict[Pair, int]:
    """Bytes from node to node, of ranks that stand on `old[source]` and `new[target]`; also from a node to itself.

    Raises InputError where there are fewer nodes than ranks.
    """
    for field, nodes, ranks in (
        ("nodes-from", old, 1 + max((each.source for each in messages), default=-1)),
        ("nodes-to", new, 1 + max((each.target for each in messages), default=-1)),
    ):
        if len(nodes) < ranks:
            raise InputError(field, ",".join(nodes), f"a node for each of the {ranks} ranks")
    moved: dict[Pair, int] = {}
    for each in messages:
        pair = (old[each.source], new[each.target])
        moved[pair] = moved.get(pair, 0) + each.bytes
    return moved


def seconds(topology: Topology, moved: Mapping[Pair, int], readers: Mapping[Pair, int]) -> float:
    """Seconds until all of `moved` (bytes between nodes) is read when all reads begin at once.

    `readers`: how many ranks read over a pair of nodes, each a flow of its own. Links are shared max-min; whenever a
    read is over the others share anew. What stays on its node takes no time of the network. Does not promise: that
    depots and disks keep up. Cost: O(pairs) flow queries, each over the pairs that are left.
    Raises ImpossibleError for a pair without a path, InputError for a node that is not there.

    >>> from gridportal.network.topology import parse
    >>> links = [{"source": x, "target": "s", "capacity": 8e6} for x in "abc"]
    >>> t = parse({"nodes": [*({"id": x} for x in "abc"), {"id": "s", "kind": "network"}], "links": links})
    >>> seconds(t, {("a", "b"): 1_000_000, ("a", "c"): 3_000_000}, {})
    4.0
    """
    routes = Routes(topology)
    left = {pair: 8.0 * size for pair, size in moved.items() if pair[0] != pair[1] and size > 0}
    passed = 0.0
    while left:
        rates = _rates(topology, routes, list(left), readers)
        step = min(bits / rates[pair] for pair, bits in left.items())
        passed += step
        left = {
            pair: bits - rates[pair] * step
            for pair, bits in left.items()
            if bits / rates[pair] > step * (1 + _TOGETHER)
        }
    return passed


@dataclass(frozen=True, slots=True)
class ArrayMove:
    """What reading one array moves: bytes and reading ranks by pair of nodes."""

    moved: Mapping[Pair, int]
    readers: Mapping[Pair, int]


def array_move(messages: Sequence[Message], old: Sequence[str], new: Sequence[str]) -> ArrayMove:
    """Of ranks that stand on `old[source]` and `new[target]`. Raises InputError where there are fewer nodes."""
    moved = bytes_between(messages, old, new)
    return ArrayMove(moved, Counter((old[each.source], new[each.target]) for each in messages))


def reading_seconds(topology: Topology, arrays: Sequence[ArrayMove], serving: Mapping[str, float]) -> float:
    """Seconds to read several arrays, one after the other as SRS does, each by all ranks at once from depots.

    `serving`: bit/s that the processors of a node can serve beside what else runs there. Each array begins with
    `ROUND_TRIPS` on the longest path that it takes: the connection, the proof of the key and the first request.

    >>> from gridportal.network.topology import parse
    >>> links = [{"source": x, "target": "s", "capacity": 8e6, "latency": 0.01} for x in "ab"]
    >>> t = parse({"nodes": [*({"id": x} for x in "ab"), {"id": "s", "kind": "network"}], "links": links})
    >>> move = ArrayMove({("a", "b"): 1_000_000}, {})
    >>> [round(reading_seconds(t, [move], serving), 2) for serving in ({}, {"a": 4e6})]
    [1.12, 2.12]
    """
    limited = _served(topology, serving)
    return sum(_opening(topology, each.moved) + seconds(limited, each.moved, each.readers) for each in arrays)


def _served(topology: Topology, serving: Mapping[str, float]) -> Topology:
    """The links of a node let no more through than it can serve."""
    links = [
        replace(
            link,
            bandwidth=min([link.bandwidth, *(serving[end] for end in (link.source, link.target) if end in serving)]),
        )
        for link in topology.links
    ]
    return replace(topology, links=tuple(links))


def _opening(topology: Topology, moved: Mapping[Pair, int]) -> float:
    pairs = [pair for pair in moved if pair[0] != pair[1]]
    answers = flow_query(topology, [Flow(*pair) for pair in pairs]) if pairs else ()
    return ROUND_TRIPS * 2.0 * max((answer.latency or 0.0 for answer in answers), default=0.0)


def _rates(topology: Topology, routes: Routes, pairs: Sequence[Pair], readers: Mapping[Pair, int]) -> dict[Pair, float]:
    flows = [Flow(*pair, weight=min(MOST_WEIGHT, readers.get(pair, 1))) for pair in pairs]
    answers = flow_query(topology, flows, routing=routes)
    for flow, answer in zip(flows, answers, strict=True):
        if answer.bandwidth <= 0:
            raise ImpossibleError(
                f"Nothing gets from {flow.source} to {flow.target}: there is no path with bandwidth left."
            )
    return dict(zip(pairs, (answer.bandwidth for answer in answers), strict=True))
