"""The nodes and links of a topology as arrays, for algorithms that go over all of them at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gridportal.network.link_table import LinkTable
from gridportal.network.topology import Topology

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LinkColumns:
    """Places count from 0 in the topology's nodes.

    place: of each node, by name. compute, network: the places of the nodes of each kind, rising. source, target: the
    places of the ends of each link, in the topology's order; capacity, bandwidth: of each link, bit/s. effective_cpu:
    of each compute node.
    """

    place: Mapping[str, int]
    compute: Ints
    network: Ints
    source: Ints
    target: Ints
    capacity: NDArray[np.float64]
    bandwidth: NDArray[np.float64]
    effective_cpu: NDArray[np.float64]

    @classmethod
    def of(cls, topology: Topology) -> LinkColumns:
        """The columns of a topology. O(nodes + links).

        >>> from gridportal.network.topology import parse
        >>> net = parse({"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "b", "target": "a", "capacity": 9}]})
        >>> LinkColumns.of(net).source.tolist()
        [1]
        """
        links = topology.links
        place = {node.id: index for index, node in enumerate(topology.nodes)}
        forwards = np.fromiter((node.kind == "network" for node in topology.nodes), np.bool_, len(place))
        kinds = place, np.flatnonzero(~forwards), np.flatnonzero(forwards)
        cpu = np.array([node.effective_cpu for node in topology.compute_nodes()], dtype=np.float64)
        if isinstance(links, LinkTable):
            there = np.fromiter((place.get(name, -1) for name in links.names), np.int64, len(links.names))
            return cls(*kinds, there[links.source], there[links.target], links.capacity, links.bandwidth, cpu)
        return cls(
            *kinds,
            np.fromiter((place[link.source] for link in links), np.int64, len(links)),
            np.fromiter((place[link.target] for link in links), np.int64, len(links)),
            np.fromiter((link.capacity for link in links), np.float64, len(links)),
            np.fromiter((link.bandwidth for link in links), np.float64, len(links)),
            cpu,
        )

    def capacity_between(self, a: str, b: str) -> float | None:
        """Of the link between two nodes, either way, the last of several; None without one. O(links)."""
        ends = self.place.get(a, -1), self.place.get(b, -1)
        forth = (self.source == ends[0]) & (self.target == ends[1])
        back = (self.source == ends[1]) & (self.target == ends[0])
        found = np.flatnonzero(forth | back)
        return float(self.capacity[found[-1]]) if len(found) else None


def link_columns(topology: Topology) -> LinkColumns:
    """The columns of a topology, made when they are first asked for."""
    return topology.derived(LinkColumns.of)
