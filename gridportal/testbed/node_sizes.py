"""How large a node of the Grid is, by the labels of its topology: processors (`cpus`) and memory (`mem_gb`)."""

from __future__ import annotations

from dataclasses import dataclass

from gridportal.base.errors import InputError
from gridportal.network.topology import Node, Topology

_MOST_CPUS = 1024
_MOST_GB = 2.0**20
_GB = 2**30


@dataclass(frozen=True, slots=True)
class NodeSize:
    """`cpus`: as many ranks as that have a processor each; `memory`: bytes, None where no label says any."""

    cpus: int = 1
    memory: int | None = None


def sizes(topology: Topology) -> dict[str, NodeSize]:
    """The sizes of the compute nodes. Raises InputError for a label that is no such amount."""
    return {node.id: size_of(node) for node in topology.compute_nodes()}


def size_of(node: Node) -> NodeSize:
    """One processor where no label says more.

    >>> size_of(Node("n1")), size_of(Node("n2", labels={"cpus": "4", "mem_gb": "0.5"}))
    (NodeSize(cpus=1, memory=None), NodeSize(cpus=4, memory=536870912))
    """
    cpus = _amount(node, "cpus", f"a whole number from 1 to {_MOST_CPUS}") if "cpus" in node.labels else 1.0
    if not (cpus.is_integer() and 1 <= cpus <= _MOST_CPUS):
        raise InputError(f"cpus of {node.id}", node.labels["cpus"], f"a whole number from 1 to {_MOST_CPUS}")
    if "mem_gb" not in node.labels:
        return NodeSize(int(cpus))
    memory = _amount(node, "mem_gb", "GB above 0")
    if not 0 < memory <= _MOST_GB:
        raise InputError(f"mem_gb of {node.id}", node.labels["mem_gb"], "GB above 0")
    return NodeSize(int(cpus), round(memory * _GB))


def _amount(node: Node, label: str, accepted: str) -> float:
    try:
        return float(node.labels[label])
    except ValueError as error:
        raise InputError(f"{label} of {node.id}", node.labels[label], accepted) from error
