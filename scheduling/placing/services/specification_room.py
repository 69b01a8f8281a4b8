"""Whether the nodes, all of them free, can keep pins and conditions of groups: if not, there is nothing to wait for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gridportal.base.errors import ImpossibleError
from gridportal.network.topology import Node
from monitoring.clusters import selectors
from scheduling.jobs.core import label_conditions
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.placing.selectors.rooms import rooms
from scheduling.selection.core.placement import Request
from scheduling.selection.core.slots.crowded_nodes import crowding
from scheduling.selection.core.slots.node_slots import meets_all, room_of


def check_specification_room(question: Request, asked: RankRequest, cluster: str) -> None:
    """Raises ImpossibleError, one sentence with the ranks and nodes, for pins and conditions of groups that the cluster
    could not keep with all its nodes free."""
    specification = question.specification
    if specification is None or not (specification.pins or any(group.require for group in specification.groups)):
        return  # so that most jobs cost no look at all nodes
    nodes = {node.id: node for node in selectors.compute_nodes(cluster) if node.id not in specification.exclude}
    if not nodes:
        return
    _check_pinned(question, specification, nodes)
    slots = {name: room.slots(asked) for name, room in rooms(cluster).items() if name in nodes}
    groups = tuple(replace(group, most=None) for group in specification.groups)
    bare = replace(question, specification=replace(specification, groups=groups), slots=slots)
    usable = [node for node in nodes.values() if meets_all(node, question.require.items())]
    crowd = crowding(bare, room_of(bare, usable), usable)
    if crowd is not None:
        raise ImpossibleError(
            f"This job can never start: {crowd}. Let more ranks be on a node, or let them be on more nodes."
        )


def _check_pinned(question: Request, specification: ApplicationSpecification, nodes: Mapping[str, Node]) -> None:
    """Raises ImpossibleError for a rank none of whose nodes has the labels that are asked for."""
    of_ranks = {rank: group for group in specification.groups for rank in specification.members(group.name)}
    for rank, names in specification.pinned().items():
        own = of_ranks[rank].require.items() if rank in of_ranks else ()
        asked = label_conditions.merge([*question.require.items(), *own])
        if not names or any(name not in nodes or meets_all(nodes[name], asked.items()) for name in names):
            continue
        raise ImpossibleError(f"This job can never start: rank {rank} is pinned to {_unmet(names, nodes, asked)}.")


def _unmet(names: Sequence[str], nodes: Mapping[str, Node], asked: Mapping[str, str]) -> str:
    """The nodes and what they lack.

    >>> nodes = {"n2": Node("n2", labels={"mem_gb": "8"}), "n3": Node("n3")}
    >>> _unmet(["n2"], nodes, {"mem_gb": ">=16"})
    'n2, which does not meet mem_gb>=16: it has mem_gb=8'
    >>> _unmet(["n2", "n3"], nodes, {"mem_gb": ">=16"})
    'n2 or n3, and none of these meets mem_gb>=16'
    """
    if len(names) > 1:
        conditions = " and ".join(label_conditions.written(*pair) for pair in asked.items())
        return f"{' or '.join(names)}, and none of these meets {conditions}"
    has = label_conditions.with_speed(nodes[names[0]].labels, nodes[names[0]].speed)
    unmet = {label: each for label, each in asked.items() if not label_conditions.all_met(has, {label: each})}
    conditions = " and ".join(label_conditions.written(*pair) for pair in unmet.items())
    shown = " and ".join(f"{label}={has[label]}" if label in has else f"no label {label}" for label in unmet)
    return f"{names[0]}, which does not meet {conditions}: it has {shown}"
