"""How long it takes to read data from the nodes that hold it to those that need it: the reads, simulated on a network.

Source: Migration 2003, 8.3: with the number of panels, their sizes and their places, and the bandwidths between
machines, the cost of redistribution is found by simulating the reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.network.flows import MOST_WEIGHT, Flow, flow_query
from gridportal.network.routes import Routes
from gridportal.network.topology import Topology
from gridportal.runtime.srs.redistribution import Message

Pair = tuple[str, str]
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


def _rates(topology: Topology, routes: Routes, pairs: Sequence[Pair], readers: Mapping[Pair, int]) -> dict[Pair, float]:
    flows = [Flow(*pair, weight=min(MOST_WEIGHT, readers.get(pair, 1))) for pair in pairs]
    answers = flow_query(topology, flows, routing=routes)
    for flow, answer in zip(flows, answers, strict=True):
        if answer.bandwidth <= 0:
            raise ImpossibleError(
                f"Nothing gets from {flow.source} to {flow.target}: there is no path with bandwidth left."
            )
    return dict(zip(pairs, (answer.bandwidth for answer in answers), strict=True))
