"""Telemetry of a Slurm cluster: nodes, partitions, reservations and switches as Slurm tells of them.

Slurm measures no network. Bandwidths are the links' capacities, unless Slurm runs on an emulated Grid that can probe.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from gridportal.base.available_cpu import available_cpu
from gridportal.network.sweep_result import ClusterFacts, Look, Measurement, NodeLoad, NodeState
from gridportal.network.topology import Link, Node, Topology
from gridportal.slurm.nodes import SlurmNode
from monitoring.telemetry.adapters.base import Telemetry

_UNMEASURED = "Bandwidths are the capacities of the links: nothing measures them on this cluster."


class SlurmSource(Protocol):
    """What asks Slurm: the backend of scheduling, which speaks its language, offers all of this."""

    def nodes(self) -> Sequence[SlurmNode]: ...
    def offers(self) -> Mapping[str, Any]: ...
    def tree(self) -> Topology | None: ...
    def busy_until(self) -> Mapping[str, float | None]: ...
    def version(self) -> tuple[str, str, str]: ...


@dataclass(frozen=True)
class SlurmTelemetry:
    """Asks `source`; where `grid` is given, that measures the network and the loads. `capacity` in bit/s. `probed`:
    agents of the nodes measure the network."""

    source: SlurmSource
    capacity: float
    grid: Telemetry | None = None
    probed: bool = False
    clock: Callable[[], float] = time.time

    def facts(self) -> ClusterFacts:
        """Nodes of Slurm in the tree of switches; a star where nobody has described one."""
        nodes = self.source.nodes()
        name, version, warning = self.source.version()
        offers = dict(self.source.offers()) | _offers(nodes)
        if self.grid is not None:
            below = self.grid.facts()
            topology = joined(below.topology, nodes, name)
            return ClusterFacts(
                topology, f"slurm {version}, {below.mode}"[:30], _joined(warning, below.warning), offers
            )
        tree = self.source.tree()
        topology = joined(tree, nodes, name) if tree is not None else star(nodes, name, self.capacity)
        unmeasured = "" if self.probed else _UNMEASURED
        return ClusterFacts(
            topology, f"slurm {version}"[:30], _joined(warning, unmeasured, unlinked_warning(topology)), offers
        )

    def measure(self) -> Measurement:
        """A sweep of the Grid below, else only the loads."""
        if self.grid is not None:
            return self.grid.measure()
        at = self.clock()
        loads = self.look().loads
        return Measurement(at=at, seconds=self.clock() - at, bytes=0, pairs=(), loads=loads)

    def look(self) -> Look:
        """Loads, and which nodes are closed or busy and until when."""
        nodes = self.source.nodes()
        until = self.source.busy_until() if any(_full(node) for node in nodes) else {}
        loads = self.grid.look().loads if self.grid is not None else tuple(_load(node) for node in nodes)
        names = {node.name for node in nodes}
        return Look(
            tuple(load for load in loads if load.node in names),
            tuple(_state(node, until.get(node.name)) for node in nodes),
        )


def star(nodes: Sequence[SlurmNode], name: str, capacity: float) -> Topology:
    """Every node on one switch."""
    links = tuple(Link("network", node.name, capacity, capacity) for node in nodes)
    every = (*(Node(node.name) for node in nodes), Node("network", "network"))
    return Topology(name, False, "links", every, links)


def joined(tree: Topology, nodes: Sequence[SlurmNode], name: str) -> Topology:
    """The tree with exactly the compute nodes that Slurm has; one that no switch has stands alone."""
    names = {node.name for node in nodes}
    kept = [node for node in tree.nodes if node.kind == "network" or node.id in names]
    there = {node.id for node in kept}
    new = tuple(Node(node.name) for node in nodes if node.name not in there)
    links = tuple(link for link in tree.links if link.source in there and link.target in there)
    return replace(tree, name=name, nodes=(*kept, *new), links=links)


def unlinked_warning(topology: Topology) -> str:
    """A warning about compute nodes without a link; empty when there is none."""
    linked = {end for link in topology.links for end in (link.source, link.target)}
    lonely = [node.id for node in topology.compute_nodes() if node.id not in linked]
    return (
        f"No switch of the topology has {', '.join(lonely[:5])}, so no job of several nodes uses them."
        if lonely
        else ""
    )


def _offers(nodes: Sequence[SlurmNode]) -> dict[str, Any]:
    return {
        "features": _sorted(feature for node in nodes for feature in node.features),
        "gres": _sorted(part.partition("(")[0] for node in nodes for part in node.gres.split(",")),
        "memory": max((node.memory for node in nodes if node.memory), default=None),
    }


def _sorted(names: Iterable[str]) -> list[str]:
    return sorted({name for name in names if name})


def _load(node: SlurmNode) -> NodeLoad:
    """The load average shared out over the node's processors; a node that does not tell counts as idle."""
    load = (node.cpu_load or 0.0) / max(1, node.cpus)
    return NodeLoad(node.name, available_cpu(load), load)


def _state(node: SlurmNode, until: float | None) -> NodeState:
    facts = {
        "state": "+".join((node.state, *node.flags)),
        "partitions": list(node.partitions),
        "features": list(node.features),
        "gres": node.gres,
        "memory": node.memory,
        "cpus": node.cpus,
        "cpus_allocated": node.allocated_cpus,
        "memory_allocated": node.allocated_memory,
        "gres_used": re.sub(r"\([^()]*\)", "", node.gres_used),
        "reserved": "RESERVED" in node.flags,
        "unsure": node.unsure,
    }
    busy = _full(node)
    return NodeState(node.name, _closed(node), busy, until if busy else None, facts)


def _full(node: SlurmNode) -> bool:
    return node.state == "ALLOCATED" or "COMPLETING" in node.flags or 0 < node.cpus <= node.allocated_cpus


def _closed(node: SlurmNode) -> str:
    """Why the node takes no jobs, in words."""
    if node.usable:
        return ""
    state = "+".join((node.state, *node.flags)).lower()
    return f"Slurm has it as {state}" + (f": {node.reason}." if node.reason else ".")


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
