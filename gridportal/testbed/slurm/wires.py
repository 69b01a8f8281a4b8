"""The control network: one wire from the fabric to every node, on which slurmctld and the nodes' slurmd talk.

Nodes cannot reach each other over it: the fabric forwards nothing, and a node's end has no address of its own, so no
program takes it for a network. Whatever goes from node to node, Slurm's own messages too, keeps to the shaped links.
"""

from __future__ import annotations

from collections.abc import Mapping

from gridportal.testbed.layout import Layout
from gridportal.testbed.network import ip
from gridportal.testbed.slurm.config import CONTROL_ADDRESS

DEVICE = "control0"


def build(layout: Layout, holders: Mapping[str, int]) -> None:
    """Add the control network to a Grid that stands; call it in the fabric's namespace."""
    ip(None, fabric_lines(layout, holders))
    for index, name in enumerate(layout.addresses):
        ip(holders[name], node_lines(layout, name, index))


def fabric_lines(layout: Layout, holders: Mapping[str, int]) -> list[str]:
    """The `ip` batch for the fabric: its address, and a wire and a route to each node."""
    lines = [f"addr add {CONTROL_ADDRESS}/32 dev lo"]
    for index, (name, address) in enumerate(layout.addresses.items()):
        ours, theirs = _mac(0, index), _mac(1, index)
        far = f"name {DEVICE} netns {holders[name]} address {theirs}"
        lines += [
            f"link add name c{index} address {ours} type veth peer {far}",
            f"link set c{index} up",
            f"neigh replace {address} lladdr {theirs} dev c{index} nud permanent",
            f"route replace {address}/32 dev c{index} src {CONTROL_ADDRESS}",
        ]
    return lines


def node_lines(layout: Layout, name: str, index: int) -> list[str]:
    """The `ip` batch for a node: its own address is that of its shaped device."""
    return [
        f"link set {DEVICE} up",
        f"neigh replace {CONTROL_ADDRESS} lladdr {_mac(0, index)} dev {DEVICE} nud permanent",
        f"route replace {CONTROL_ADDRESS}/32 dev {DEVICE} src {layout.addresses[name]}",
    ]


def _mac(end: int, index: int) -> str:
    return f"02:78:{end:02x}:00:{index >> 8 & 255:02x}:{index & 255:02x}"
