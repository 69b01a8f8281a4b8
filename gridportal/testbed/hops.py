"""Which way the Grid's packets go: shortest paths by hops that pass through network nodes only."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import pairwise

from gridportal.testbed.layout import Layout, Wire


@dataclass(frozen=True, slots=True)
class Hop:
    """Where a host sends what is meant for compute node `destination`: out of `device`, to hardware address `mac`."""

    destination: str
    device: str
    mac: str


def next_wires(layout: Layout, destination: str) -> dict[str, Wire]:
    """For every node that can reach `destination`, the first wire of its shortest path (breadth first, O(wires))."""
    touching: dict[str, list[Wire]] = {}
    for wire in layout.wires:
        touching.setdefault(wire.a.owner, []).append(wire)
        touching.setdefault(wire.b.owner, []).append(wire)
    first: dict[str, Wire] = {}
    queue = deque([destination])
    while queue:
        here = queue.popleft()
        if here != destination and here in layout.addresses:
            continue
        own = layout.inside(here) if layout.inside(here) not in (here, destination) else None
        for wire in touching.get(here, ()):
            there = wire.other(here).owner
            if there != destination and there not in first and own in (None, there):
                first[there] = wire
                queue.append(there)
    return first


def hops(layout: Layout) -> dict[str, list[Hop]]:
    """The forwarding table of every compute node and router, by its name."""
    table: dict[str, list[Hop]] = {space: [] for space in layout.spaces}
    for destination in layout.addresses:
        first = next_wires(layout, destination)
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
