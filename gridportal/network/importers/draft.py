"""What a topology file says before it is believed: nodes and wires, and a sentence for everything that is wrong."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from gridportal.base.errors import GridPortalError, ImpossibleError, InputError
from gridportal.network.link_table import LinkTable
from gridportal.network.routing_rules import RoutingRules, parse_rules
from gridportal.network.topology import NAMES, Kind, Link, Node, Topology, can_be_called

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Wire:
    """A link as a file gives it: capacity, available bandwidth (bit/s) and latency (s) may be missing; `where` names
    its place in the file."""

    source: str
    target: str
    where: str
    capacity: float | None = None
    bandwidth: float | None = None
    latency: float = 0.0
    used: float | None = None


@dataclass(slots=True)
class Draft:
    """A topology on its way in. routing: as `graph.routing` of a topology file has it. problems: what is wrong, in the
    order of the file; each is one sentence. table: instead of wires, where there are many and each has a capacity."""

    name: str
    nodes: list[Node] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    directed: bool = False
    kind: Kind = "links"
    routing: Any = None
    problems: list[GridPortalError] = field(default_factory=list)
    table: LinkTable | None = None

    @property
    def links(self) -> Sequence[Wire | Link]:
        """Its wires, or the links of its table."""
        return self.wires if self.table is None else self.table


def check(draft: Draft, *, nodes: Collection[str] | None, capacity: float | None) -> list[GridPortalError]:
    """Everything that is wrong: what its reader found, nodes that the cluster does not have or the file leaves out
    (`nodes`, where known), compute nodes without a way to the others, wires without a capacity (bit/s) when none is
    given for them all. Nothing is guessed."""
    nameless = [InputError("node", node.id, NAMES) for node in draft.nodes if not can_be_called(node.id)]
    problems = [*draft.problems, *nameless]
    if nameless:  # further sentences would have such names in them
        return problems
    compute = [node.id for node in draft.nodes if node.kind == "compute"]
    if not compute and not problems:
        problems.append(ImpossibleError(f"The topology {draft.name} has no compute node."))
    if nodes is not None:
        problems += _unknown(compute, nodes)
    problems += _without_capacity(draft, capacity) + _apart(draft, compute)
    try:
        rules(draft)
    except InputError as error:
        problems.append(error)
    return problems


def rules(draft: Draft) -> RoutingRules:
    """How its traffic goes. Raises InputError."""
    kinds = {node.id: node.kind for node in draft.nodes}
    ends = ((link.source, link.target) for link in draft.links)
    return parse_rules(draft.routing, kinds, ends, directed=draft.directed, kind=draft.kind)


def build(draft: Draft, *, capacity: float | None) -> Topology:
    """The topology of a draft without problems; `capacity` for the wires that have none."""
    if draft.table is not None:
        table = draft.table.without_measurements()
        return Topology(draft.name, draft.directed, draft.kind, tuple(draft.nodes), table, rules(draft))
    links = []
    for wire in draft.wires:
        peak = wire.capacity or capacity
        if peak is None:
            raise InputError(wire.where, None, "a capacity in bit/s")
        available = peak if wire.bandwidth is None else wire.bandwidth
        links.append(Link(wire.source, wire.target, peak, available, wire.latency, used=wire.used))
    return Topology(draft.name, draft.directed, draft.kind, tuple(draft.nodes), tuple(links), rules(draft))


def names(every: Sequence[str]) -> str:
    """Names in a sentence.

    >>> names(["n1", "n2", "n3"])
    'n1, n2 and n3'
    """
    shown = list(every[:_SHOWN])
    if len(every) > _SHOWN:
        shown.append(f"{len(every) - _SHOWN} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _unknown(compute: Sequence[str], cluster_nodes: Collection[str]) -> list[GridPortalError]:
    there, listed = set(cluster_nodes), set(compute)
    strange = [name for name in compute if name not in there]
    missing = sorted(there - listed)
    problems: list[GridPortalError] = []
    if strange:
        verb = "is in the file and not a node" if len(strange) == 1 else "are in the file and not nodes"
        problems.append(ImpossibleError(f"{names(strange)} {verb} of the cluster."))
    if missing:
        verb = "is a node" if len(missing) == 1 else "are nodes"
        problems.append(ImpossibleError(f"{names(missing)} {verb} of the cluster and not in the file."))
    return problems


def _without_capacity(draft: Draft, capacity: float | None) -> list[GridPortalError]:
    """One sentence for each place in the file, not for each wire."""
    if capacity is not None:
        return []
    places: dict[str, list[str]] = {}
    for wire in draft.wires:
        if wire.capacity is None:
            places.setdefault(wire.where, []).append(f"{wire.source} - {wire.target}")
    return [
        ImpossibleError(
            f"{where}: no capacity is known of {'the link' if len(ends) == 1 else 'the links'} {names(ends)}."
        )
        for where, ends in places.items()
    ]


def _apart(draft: Draft, compute: Sequence[str]) -> list[GridPortalError]:
    """A sentence for each part with compute nodes that has no way to the largest one; one for loose network nodes."""
    network = [node.id for node in draft.nodes if node.kind == "network"]
    group = {node.id: node.id for node in draft.nodes}
    for link in draft.links:
        if link.source in group and link.target in group:
            group[_root(group, link.source)] = _root(group, link.target)
    parts: dict[str, list[str]] = {}
    for name in compute:
        parts.setdefault(_root(group, name), []).append(name)
    largest = max(parts.values(), key=len, default=[])
    problems: list[GridPortalError] = [
        ImpossibleError(f"{names(part)} {'has' if len(part) == 1 else 'have'} no way to {names(largest)}.")
        for part in parts.values()
        if part is not largest
    ]
    loose = [name for name in network if _root(group, name) not in parts]
    if loose:
        are = "is a network node" if len(loose) == 1 else "are network nodes"
        problems.append(ImpossibleError(f"{names(loose)} {are} with no way to any compute node."))
    return problems


def _root(group: dict[str, str], name: str) -> str:
    while group[name] != name:
        group[name] = group[group[name]]
        name = group[name]
    return name
