"""Which way the Grid's packets go: as the portal's routes say, so that what it measures is what it foretells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from gridportal.network.routes import Routes
from gridportal.network.topology import Link
from gridportal.testbed.layout import Layout, Wire, undirected


@dataclass(frozen=True, slots=True)
class Hop:
    """Where a host sends what is meant for compute node `destination`: out of `device`, to hardware address `mac`."""

    destination: str
    device: str
    mac: str


def next_wires(layout: Layout, destination: str, routes: Routes | None = None) -> dict[str, Wire]:
    """For every node that can reach `destination`, the first wire of its way there, by the portal's own routes.

    `routes`: those of the layout, for whoever asks about many destinations. O(nodes)."""
    between = {frozenset((wire.a.owner, wire.b.owner)): wire for wire in layout.wires}
    if layout.topology.kind == "pairs":
        (switch,) = layout.switches
        ends = {name: switch for name in layout.addresses if name != destination} | {switch: destination}
        return {here: between[frozenset((here, there))] for here, there in ends.items()}
    routes = routes or _routes(layout)
    first: dict[str, Wire] = {}
    for node, arc in zip(layout.topology.nodes, routes.towards(destination), strict=True):
        here = layout.outside(node.id)
        if here != node.id and (arc >= 0 or node.id == destination):
            first[here if node.id == destination else node.id] = between[frozenset((here, node.id))]
        if arc >= 0:
            there = layout.outside(layout.topology.nodes[routes.head[arc]].id)
            first[here] = between[frozenset((here, there))]
    return first


def _routes(layout: Layout) -> Routes:
    """Of the wires, which carry both directions also where the file has a link for one of them only."""
    links = tuple(Link(a, b, 1.0, 1.0) for a, b in undirected(layout.topology.links))
    return Routes(replace(layout.topology, directed=False, links=links))


def hops(layout: Layout) -> dict[str, list[Hop]]:
    """The forwarding table of every compute node and router, by its name."""
    table: dict[str, list[Hop]] = {space: [] for space in layout.spaces}
    routes = None if layout.topology.kind == "pairs" else _routes(layout)
    for destination in layout.addresses:
        first = next_wires(layout, destination, routes)
        for space in layout.spaces:
            if space in first and _allowed(layout, space, destination):
                arrival = _arrival(layout, first, space, destination)
                table[space].append(Hop(destination, first[space].port(space).device, arrival))
    return table


def path(layout: Layout, source: str, target: str) -> list[tuple[str, str]]:
    """The directed links from `source` to `target`; for a crossbar the pair itself. Empty when there is no way."""
    if layout.topology.kind == "pairs":
        return [(source, target)] if (source, target) in layout.rates else []
    first = next_wires(layout, target)
    stops = [source]
    while stops[-1] != target:
        if stops[-1] not in first:
            return []
        stops.append(first[stops[-1]].other(stops[-1]).owner)
    names = [layout.inside(stop) for stop in stops]
    return [(here, there) for here, there in pairwise(names) if here != there]


def _arrival(layout: Layout, first: dict[str, Wire], space: str, destination: str) -> str:
    """The hardware address of the first host that is not a switch on the way to `destination`."""
    port = first[space].other(space)
    while port.owner in layout.switches:
        port = first[port.owner].other(port.owner)
    return port.mac


def _allowed(layout: Layout, source: str, destination: str) -> bool:
    return layout.topology.kind != "pairs" or (source, destination) in layout.rates
