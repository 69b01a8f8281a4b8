"""How much of a processor a rank gets on a node."""

from __future__ import annotations

from gridportal.network.topology import Node


def effective_cpu(node: Node) -> float:
    """Available computation of each rank as a fraction of the reference node, whose speed is 1 (Selection 1999, 3.3).

    Slots are processors, and `cpu` is what one more process on each processor gets (gridportal.base.available_cpu): so
    it is the same for one rank on the node and for as many as it has slots.
    """
    return node.cpu * node.speed
