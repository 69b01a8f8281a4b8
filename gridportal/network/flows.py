"""Flow queries: what each of several flows would get if they were sent together, and what holds it back.

Source: Selection 1999, 2.2: flow queries give the bandwidth between pairs of nodes and account for the sharing of
links by multiple flows; 3.4 names just that as what node selection by pairs leaves out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gridportal.base.errors import InputError
from gridportal.network.max_min import Claim, Filled, fill
from gridportal.network.routes import Path, Routes, Routing
from gridportal.network.sharing import sharing
from gridportal.network.topology import Link, Topology

Held = Literal["link", "demand", "no path"]
Pair = tuple[str, str]
#: Beyond these the rates of others would be lost in rounding.
LEAST_WEIGHT, MOST_WEIGHT = 0.001, 1000.0


@dataclass(frozen=True, slots=True)
class Flow:
    """Traffic from one compute node to another. demand: bit/s that it wants at most; weight: 2 counts as two flows."""

    source: str
    target: str
    demand: float = math.inf
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class FlowRate:
    """What a flow would get.

    bandwidth in bit/s; low and high: the same with every link at the low or the high end of what is known of it (equal
    to it where nothing is). latency: seconds one way. path: the nodes on the way, its ends included; empty without one.
    held: what holds it, a link, its own demand, or that there is no path; binding: that link, in the direction of the
    flow. several: another path is as short; only the rule ecmp uses it, where `path` is the first of those that
    share the flow. measured_at: Unix seconds of the oldest figure on the path, None when one was never measured;
    origins: where its figures come from.
    """

    source: str
    target: str
    bandwidth: float
    low: float
    high: float
    latency: float | None
    path: tuple[str, ...]
    held: Held
    binding: Pair | None = None
    several: bool = False
    measured_at: float | None = None
    origins: tuple[str, ...] = ()


def flow_query(
    topology: Topology,
    flows: Sequence[Flow],
    *,
    routing: Routing | None = None,
    half_duplex: bool = False,
    latencies: Mapping[Pair, float] | None = None,
) -> tuple[FlowRate, ...]:
    """The max-min fair rate of every flow when all are sent together, in their order.

    Finds: the one allocation in which no flow can have more without another that has no more (per weight) having less,
    over the links' directions, with the traffic that is there already as gridportal.network.sharing has it. A flow
    from a to b shares nothing with one from b to a, unless a link carries both directions on one medium
    (`half_duplex`).
    On a topology of kind "pairs" every ordered pair has a path of its own, so flows share only when they are alike.
    Does not promise: that TCP is fair (round-trip times differ), that compute nodes keep up, or that a network goes by
    the routing that its topology states.
    `routing`: another source of paths, as gridportal.network.logical has it. `latencies`: measured end to end, which
    count before the sum of the links'. Cost: O(F * length * log L) besides the paths.
    Raises InputError for a node that is not there or is no compute node, and for a demand that is no number above 0
    or a weight outside 0.001 to 1000.

    >>> from gridportal.network.topology import parse
    >>> links = [{"source": x, "target": "s", "capacity": w} for x, w in (("a", 9.0), ("b", 4.0), ("c", 9.0))]
    >>> t = parse({"nodes": [*({"id": x} for x in "abc"), {"id": "s", "kind": "network"}], "links": links})
    >>> [(r.bandwidth, r.binding) for r in flow_query(t, [Flow("a", "b"), Flow("a", "c")])]
    [(4.0, ('s', 'b')), (5.0, ('a', 's'))]
    """
    check_flows(topology, flows)
    routing = routing or Routes(topology)
    paths = [routing.path(flow.source, flow.target) for flow in flows]
    carried = _Carried(topology, flows, paths, half_duplex)
    filled = carried.fill(lambda link: link.bandwidth)
    low, high = carried.fill_ends(filled)
    return tuple(
        _answer(flow, path, carried, (filled, low, high), number, latencies or {})
        for number, (flow, path) in enumerate(zip(flows, paths, strict=True))
    )


def check_flows(topology: Topology, flows: Sequence[Flow]) -> None:
    """Raise InputError for the first flow that cannot be asked about."""
    compute = {node.id for node in topology.nodes if node.kind == "compute"}
    for number, flow in enumerate(flows):
        for end in ("source", "target"):
            if getattr(flow, end) not in compute:
                raise InputError(f"flows[{number}].{end}", getattr(flow, end), _listed(compute))
        if flow.source == flow.target:
            raise InputError(f"flows[{number}].target", flow.target, "a node other than the source")
        for name in ("demand", "weight"):
            value = getattr(flow, name)
            if not value > 0:
                raise InputError(f"flows[{number}].{name}", value, "a number above 0")
        if not LEAST_WEIGHT <= flow.weight <= MOST_WEIGHT:
            raise InputError(
                f"flows[{number}].weight", flow.weight, f"a number from {LEAST_WEIGHT} to {MOST_WEIGHT:.0f}"
            )


def _listed(known: set[str]) -> str:
    shown = sorted(known)[:10]
    return (
        "the name of a compute node: " + ", ".join(shown) + (f" and {len(known) - 10} more" if len(known) > 10 else "")
    )


class _Carried:
    """The flows as claims over the parts of the links that they cross; each direction of a link is a constraint of its
    own, and the traffic that is there and yields is one more claim on it."""

    def __init__(
        self, topology: Topology, flows: Sequence[Flow], paths: Sequence[Path | None], half_duplex: bool
    ) -> None:
        self.flows, self.paths = flows, paths
        arcs = {arc for path in paths if path for arc, _ in path.loads}
        self.links = {place: topology.links[place] for place in {arc >> 1 for arc in arcs}}
        self.parts: list[Link] = []
        self.arcs: list[int] = []
        self.over: dict[int, tuple[int, ...]] = {}
        numbers: dict[int, tuple[int, ...]] = {}
        for arc in (arc for path in paths if path for arc, _ in path.loads):
            if arc in self.over:
                continue
            medium = arc & ~1 if half_duplex else arc
            if medium not in numbers:
                parts = self.links[arc >> 1].parts()
                numbers[medium] = tuple(range(len(self.parts), len(self.parts) + len(parts)))
                self.parts += parts
                self.arcs += [arc] * len(parts)
            self.over[arc] = numbers[medium]
        self.claims = [self._claim(flow, path) for flow, path in zip(flows, paths, strict=True)]

    def _claim(self, flow: Flow, path: Path | None) -> Claim:
        if path is None:
            return Claim((), flow.weight, flow.demand)
        crossed = [(number, part) for arc, part in path.loads for number in self.over[arc]]
        parts = tuple(part for _, part in crossed) if path.spread else ()
        return Claim(tuple(number for number, _ in crossed), flow.weight, flow.demand, parts)

    def ends(self, arc: int) -> Pair:
        """From where to where a flow crosses a link on this arc."""
        link = self.links[arc >> 1]
        return (link.target, link.source) if arc & 1 else (link.source, link.target)

    def fill(self, bandwidth: Callable[[Link], float]) -> Filled:
        room, others = [], []
        for number, part in enumerate(self.parts):
            value = bandwidth(part)
            shared = sharing(part if value == part.bandwidth else replace(part, bandwidth=value))
            room.append(shared.room)
            if shared.yields:
                others.append(Claim((number,), shared.others, shared.others_cap))
        return fill(room, [*self.claims, *others])

    def fill_ends(self, middle: Filled) -> tuple[Filled, Filled]:
        """The same at the low and at the high end of every link's figure."""
        if all(part.low is None and part.high is None for part in self.parts):
            return middle, middle
        low = self.fill(lambda link: link.bandwidth if link.low is None else link.low)
        return low, self.fill(_highest)


def _highest(link: Link) -> float:
    return link.bandwidth if link.high is None else min(link.high, max(link.capacity, link.bandwidth))


def _answer(
    flow: Flow,
    path: Path | None,
    carried: _Carried,
    filled: tuple[Filled, Filled, Filled],
    number: int,
    latencies: Mapping[Pair, float],
) -> FlowRate:
    if path is None:
        return FlowRate(flow.source, flow.target, 0.0, 0.0, 0.0, None, (), "no path")
    links = [carried.links[arc >> 1] for arc in path.arcs]
    nodes = [flow.source, *(carried.ends(arc)[1] for arc in path.arcs)]
    all_links = [carried.links[arc >> 1] for arc, _ in path.loads]
    rates = [one.rates[number] for one in filled]
    binding = filled[0].binding[number]
    at = [link.measured_at for link in all_links]
    return FlowRate(
        flow.source,
        flow.target,
        rates[0],
        min(rates),
        max(rates),
        latencies.get((flow.source, flow.target), sum(link.latency for link in links)),
        tuple(nodes),
        "demand" if binding < 0 else "link",
        None if binding < 0 else carried.ends(next(arc for arc, _ in path.loads if binding in carried.over[arc])),
        path.several,
        None if None in at else min(one for one in at if one is not None),
        tuple(sorted({link.origin for link in all_links} - {""})),
    )
