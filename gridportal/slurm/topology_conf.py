"""Slurm's topology.conf as a Topology: the tree of switches that its administrators have described already."""

from __future__ import annotations

from gridportal.network.importers.draft import build
from gridportal.network.importers.slurm_conf import draft, link_speed
from gridportal.network.topology import Topology

__all__ = ["link_speed", "parse"]


def parse(
    text: str, *, default_capacity: float, cluster_nodes: frozenset[str] | None = None, name: str = "slurm"
) -> Topology:
    """The topology in a topology.conf. Every link carries the LinkSpeed of the switch above it.

    `default_capacity` in bit/s, where LinkSpeed is missing or no number; `cluster_nodes`: the cluster's node names,
    when they are to be checked. Raises InputError that names the line, and the node or switch that is unknown, missing
    or listed twice. Parts that nothing joins are for the caller to judge: Slurm accepts them.

    >>> t = parse("SwitchName=s1 Nodes=n[1-2] LinkSpeed=100\\nSwitchName=top Switches=s1", default_capacity=1e9)
    >>> [(link.source, link.target, link.capacity) for link in t.links]
    [('s1', 'n1', 100000000.0), ('s1', 'n2', 100000000.0), ('top', 's1', 1000000000.0)]
    """
    drafted = draft(text, name, cluster_nodes)
    if drafted.problems:
        raise drafted.problems[0]
    return build(drafted, capacity=default_capacity)
