"""From a topology to addresses, devices and wires: a pure plan of the Grid that network.py then builds.

Every compute node has one address; every wire is a veth pair. A switch is a bridge in the fabric namespace, a router a
forwarding namespace of its own. A compute node with several links gets a gateway, a router of its own, so that programs
find one device and one address; nobody else's traffic passes a gateway. In a topology of kind "pairs" all compute nodes
hang on one switch, the crossbar.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gridportal.base.errors import InputError
from gridportal.network.topology import Link, Topology
from gridportal.testbed.node_sizes import NodeSize, sizes

CROSSBAR = "crossbar"
_LIMIT = 4000
_RATES = (10e3, 100e9)  # bit/s that `tc` can shape
_SPEEDS = (0.001, 1000.0)
_GATEWAY = "@door"  # no node may have an @ in its name
_End = tuple[str, str, float | None, float | None]


@dataclass(frozen=True, slots=True)
class Port:
    """One end of a wire: the `owner`'s network device and its hardware address."""

    owner: str
    device: str
    mac: str


@dataclass(frozen=True, slots=True)
class Wire:
    """A veth pair. Rates in bit/s for each direction; None where the wire itself is not shaped."""

    a: Port
    b: Port
    rate_ab: float | None
    rate_ba: float | None

    def port(self, owner: str) -> Port:
        """The end that belongs to `owner`."""
        return self.a if self.a.owner == owner else self.b

    def other(self, owner: str) -> Port:
        """The end that does not belong to `owner`."""
        return self.b if self.a.owner == owner else self.a


@dataclass(frozen=True, slots=True)
class Layout:
    """The plan of a Grid. `rates` holds bit/s per directed link of the topology (undirected: both ways); `sizes` are
    those of the compute nodes."""

    topology: Topology
    addresses: Mapping[str, str]
    switches: tuple[str, ...]
    routers: tuple[str, ...]
    wires: tuple[Wire, ...]
    rates: Mapping[tuple[str, str], float]
    gateways: Mapping[str, str]
    sizes: Mapping[str, NodeSize]

    @property
    def cpus(self) -> dict[str, int]:
        """How many processors each compute node has."""
        return {name: size.cpus for name, size in self.sizes.items()}

    def outside(self, name: str) -> str:
        """Where the links of node `name` end: at its gateway where it has one."""
        return self.gateways.get(name, name)

    def inside(self, space: str) -> str:
        """The node that a gateway belongs to; anything else is itself."""
        return space.removesuffix(_GATEWAY)

    @property
    def spaces(self) -> tuple[str, ...]:
        """Everything with a namespace of its own: compute nodes, then routers."""
        return (*self.addresses, *self.routers)


def plan(topology: Topology) -> Layout:
    """The layout of `topology`. InputError for what no Grid can be built from."""
    addresses, of_nodes = _addresses(topology), sizes(topology)
    _check_numbers(topology)
    if topology.routing.rule != "short" or topology.routing.paths:
        accepted = "short, with tables or without: hosts of the Grid forward by the target alone"
        raise InputError("graph.routing", topology.routing.rule, accepted)
    rates = directed_rates(topology)
    if topology.kind == "pairs":
        _only_pairs(topology)
        ends: list[_End] = [(name, CROSSBAR, None, None) for name in addresses]
        return Layout(topology, addresses, (CROSSBAR,), (), _wires(ends, {CROSSBAR}), rates, {}, of_nodes)
    switches = _switches(topology)
    routers = tuple(n.id for n in topology.nodes if n.kind == "network" and n.id not in switches)
    gateways = _gateways(topology)
    wires: list[_End] = [(name, gateway, None, None) for name, gateway in gateways.items()]
    for a, b in undirected(topology.links):
        forth, back = rates.get((a, b), 0.0), rates.get((b, a), 0.0)
        wires.append((gateways.get(a, a), gateways.get(b, b), forth or back, back or forth))
    routers += tuple(gateways.values())
    return Layout(topology, addresses, switches, routers, _wires(wires, set(switches)), rates, gateways, of_nodes)


def directed_rates(topology: Topology) -> dict[tuple[str, str], float]:
    """Bit/s available per direction."""
    rates = {(link.source, link.target): link.bandwidth for link in topology.links}
    if not topology.directed:
        rates |= {(link.target, link.source): link.bandwidth for link in topology.links}
    return rates


def capacities(topology: Topology) -> dict[tuple[str, str], float]:
    """Peak bit/s per direction."""
    peaks = {(link.source, link.target): link.capacity for link in topology.links}
    if not topology.directed:
        peaks |= {(link.target, link.source): link.capacity for link in topology.links}
    return peaks


def shared_paths(topology: Topology) -> dict[tuple[str, str], float]:
    """Peak bit/s of each part of the network that other people's traffic enters: of both directions at once, but where
    the file has each direction for itself."""
    peaks = capacities(topology)
    return peaks if topology.directed else {pair: peaks[pair] for pair in undirected(topology.links)}


def undirected(links: Iterable[Link]) -> list[tuple[str, str]]:
    """Each pair of linked nodes once, in file order and in the direction that the file names first."""
    seen: dict[frozenset[str], tuple[str, str]] = {}
    for link in links:
        seen.setdefault(frozenset((link.source, link.target)), (link.source, link.target))
    return list(seen.values())


def _addresses(topology: Topology) -> dict[str, str]:
    compute = topology.compute_nodes()
    if not 1 <= len(compute) <= _LIMIT:
        raise InputError("topology", f"{len(compute)} compute nodes", f"1 to {_LIMIT} compute nodes")
    for node in compute:
        if not all(c.isalnum() or c in "-." for c in node.id) or len(node.id) > 60:
            raise InputError("node id", node.id, "a host name of letters, digits, - and .")
    return {node.id: f"10.77.{i // 250}.{i % 250 + 1}" for i, node in enumerate(compute)}


def _check_numbers(topology: Topology) -> None:
    for index, link in enumerate(topology.links):
        if not _RATES[0] <= link.capacity <= _RATES[1]:
            raise InputError(f"links[{index}].capacity", link.capacity, "10 kbit/s to 100 Gbit/s (1e4 to 1e11)")
    for index, node in enumerate(topology.nodes):
        if not _SPEEDS[0] <= node.speed <= _SPEEDS[1]:
            raise InputError(f"nodes[{index}].speed", node.speed, f"{_SPEEDS[0]:g} to {_SPEEDS[1]:g}")


def _only_pairs(topology: Topology) -> None:
    for node in topology.nodes:
        if node.kind == "network":
            raise InputError("nodes", node.id, "compute nodes only where graph.kind is pairs")


def _gateways(topology: Topology) -> dict[str, str]:
    count = Counter(name for pair in undirected(topology.links) for name in pair)
    return {node.id: node.id + _GATEWAY for node in topology.compute_nodes() if count[node.id] > 1}


def _switches(topology: Topology) -> tuple[str, ...]:
    """Which network nodes are bridges: those that say so, else all, unless bridges would then form a loop."""
    network = {node.id: node for node in topology.nodes if node.kind == "network"}
    between = [(a, b) for a, b in undirected(topology.links) if a in network and b in network]
    default = "router" if _loops(between) else "switch"
    switches = tuple(name for name, node in network.items() if node.labels.get("role", default) == "switch")
    if _loops([(a, b) for a, b in between if a in switches and b in switches]):
        raise InputError("role", "switch", "router for at least one network node of every loop of switches")
    return switches


def _loops(edges: Iterable[tuple[str, str]]) -> bool:
    root: dict[str, str] = {}

    def find(name: str) -> str:
        while root.get(name, name) != name:
            name = root[name]
        return name

    for a, b in edges:
        if find(a) == find(b):
            return True
        root[find(a)] = find(b)
    return False


def _wires(ends: list[_End], switches: set[str]) -> tuple[Wire, ...]:
    numbers = itertools.count()
    devices: dict[str, int] = {}

    def port(owner: str) -> Port:
        number = next(numbers)
        index = devices[owner] = devices.get(owner, -1) + 1
        device = f"p{number}" if owner in switches else f"eth{index}"
        return Port(owner, device, f"02:77:00:{number >> 16 & 255:02x}:{number >> 8 & 255:02x}:{number & 255:02x}")

    return tuple(Wire(port(a), port(b), ab, ba) for a, b, ab, ba in ends)
