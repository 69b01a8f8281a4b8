"""Topologies from the files that clusters have: our own, GraphML, Slurm's topology.conf, the output of
ibnetdiscover."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from gridportal.base.errors import GridPortalError
from gridportal.network.importers import graphml, ibnetdiscover, node_link, slurm_conf
from gridportal.network.importers.draft import Draft, build, check
from gridportal.network.topology import Topology

Format = Literal["node-link", "graphml", "topology.conf", "ibnetdiscover"]
_READERS: dict[Format, Callable[[str, str], Draft]] = {
    "node-link": node_link.draft,
    "graphml": graphml.draft,
    "topology.conf": slurm_conf.draft,
    "ibnetdiscover": ibnetdiscover.draft,
}
_IB = re.compile(r'^(Switch|Ca|Rt)\s+\d+\s+"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file gave: how it was read, everything that is wrong in sentences, the topology when nothing is."""

    format: Format
    problems: tuple[GridPortalError, ...]
    nodes: int
    links: int
    topology: Topology | None

    def believed(self) -> Topology:
        """The topology; the first problem is raised when there is one."""
        if self.topology is None:
            raise self.problems[0]
        return self.topology


def read(text: str, name: str, *, nodes: Collection[str] | None = None, capacity: float | None = None) -> Imported:
    """Read a topology file of any of the four formats, told apart by their content, and check it whole.

    `nodes`: the compute nodes that the cluster has, when they are to be compared. `capacity` in bit/s is for links of
    which the file gives none; without it each of them is a problem. Nothing is guessed, nothing raised.
    """
    found = format_of(text)
    draft = _READERS[found](text, name)
    problems = check(draft, nodes=nodes, capacity=capacity)
    topology = None if problems else build(draft, capacity=capacity)
    return Imported(found, tuple(problems), len(draft.nodes), len(draft.links), topology)


def format_of(text: str) -> Format:
    """How a file is to be read.

    >>> format_of(' {"nodes": []}'), format_of('Switch 36 "S-1"'), format_of("SwitchName=s Nodes=n1")
    ('node-link', 'ibnetdiscover', 'topology.conf')
    """
    first = text.lstrip("\ufeff \t\r\n")[:1]
    if first in ("{", "["):
        return "node-link"
    if first == "<":
        return "graphml"
    return "ibnetdiscover" if _IB.search(text) else "topology.conf"
