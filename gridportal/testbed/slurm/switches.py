"""The topology.conf of a Grid whose compute nodes hang on switches: what a cluster's administrators would write."""

from __future__ import annotations

from gridportal.network.topology import Link
from gridportal.testbed.layout import Layout

TOP = "top"


def topology_conf(layout: Layout) -> str:
    """A leaf switch per network node with compute nodes, all below one top switch; LinkSpeed in Mbit/s.

    Slurm knows trees only, whose switches hold either nodes or switches: what lies between the leaves becomes `top`,
    with the capacity of the narrowest link there. Empty where a compute node hangs on no switch or on several.
    """
    network = {node.id for node in layout.topology.nodes if node.kind == "network"}
    leaves: dict[str, list[Link]] = {}
    for node in layout.topology.compute_nodes():
        own = [link for link in layout.topology.links if node.id in (link.source, link.target)]
        above = {end for link in own for end in (link.source, link.target) if end in network}
        if len(above) != 1 or any({link.source, link.target} - above != {node.id} for link in own):
            return ""
        leaves.setdefault(above.pop(), []).append(own[0])
    lines = [_line(name, "Nodes", [_other(link, name) for link in own], own) for name, own in leaves.items()]
    between = [link for link in layout.topology.links if {link.source, link.target} <= network]
    if len(leaves) > 1:
        lines.append(_line(TOP, "Switches", list(leaves), between))
    return "".join(lines)


def _line(name: str, kind: str, below: list[str], links: list[Link]) -> str:
    speed = f" LinkSpeed={min(link.capacity for link in links) / 1e6:g}" if links else ""
    return f"SwitchName={name} {kind}={','.join(below)}{speed}\n"


def _other(link: Link, name: str) -> str:
    return link.target if link.source == name else link.source
