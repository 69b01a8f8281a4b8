"""Telemetry of this machine as a cluster: its load. There is no network between its nodes to choose by."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gridportal.base.available_cpu import available_cpu
from gridportal.base.errors import BackendError
from gridportal.network.sweep_result import ClusterFacts, Look, Measurement, NodeLoad
from gridportal.network.topology import Link, Node, Topology

_NO_NETWORK = "All its nodes are one machine: there is no network to choose by, so any of them are as good."


@dataclass(frozen=True)
class LocalTelemetry:
    """`names`: a node for each rank that may run at a time. `capacity` in bit/s is what all links between them have."""

    name: str
    names: Sequence[str]
    capacity: float
    clock: Callable[[], float] = time.time

    def facts(self) -> ClusterFacts:
        """Every node on one network node, which stands for the machine."""
        links = tuple(Link("machine", name, self.capacity, self.capacity) for name in self.names)
        nodes = (*map(Node, self.names), Node("machine", "network"))
        return ClusterFacts(Topology(self.name, False, "links", nodes, links), "this machine", _NO_NETWORK, {})

    def measure(self) -> Measurement:
        """The loads; nothing is sent."""
        return Measurement(at=self.clock(), seconds=0.0, bytes=0, pairs=(), loads=self.look().loads)

    def look(self) -> Look:
        """The machine's load average of the last minute (/proc/loadavg), shared out over its processors."""
        try:
            load = os.getloadavg()[0] / len(os.sched_getaffinity(0))
        except OSError as error:
            raise BackendError(f"The load of this machine cannot be read: {error}.") from error
        return Look(tuple(NodeLoad(name, available_cpu(load), load) for name in self.names))
