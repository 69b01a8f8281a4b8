"""Whether pinned ranks have room on their nodes when all nodes are free: if not, there is nothing to wait for."""

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
from scheduling.selection.core.slots.node_slots import room_of


def check_pins(question: Request, asked: RankRequest, cluster: str) -> None:
    """Raises ImpossibleError, one sentence with the ranks and nodes, for pins that no free cluster could keep."""
    specification = question.specification
    if specification is None or not specification.pins:
        return  # so that most jobs cost no look at all nodes
    _check_requirements(question, specification, cluster)
    slots = {name: room.slots(asked) for name, room in rooms(cluster).items() if name not in specification.exclude}
    if not slots:
        return
    groups = tuple(replace(group, require={}, most=None) for group in specification.groups)
    pins_alone = replace(question, specification=replace(specification, groups=groups), slots=slots, require={})
    usable = [Node(name) for name in slots]
    crowd = crowding(pins_alone, room_of(pins_alone, usable), usable)
    if crowd is not None:
        raise ImpossibleError(
            f"This job can never start: {crowd}. Pin fewer ranks there, or let a node have more of them."
        )


def _check_requirements(question: Request, specification: ApplicationSpecification, cluster: str) -> None:
    """Raises ImpossibleError for a rank none of whose nodes has the labels that are asked for."""
    if not question.require and not any(group.require for group in specification.groups):
        return
    labels = {node.name: node.labels for node in selectors.compute_states(cluster)}
    of_ranks = {rank: group for group in specification.groups for rank in specification.members(group.name)}
    for rank, names in specification.pinned().items():
        own = of_ranks[rank].require.items() if rank in of_ranks else ()
        asked = label_conditions.merge([*question.require.items(), *own])
        if not names or any(name not in labels or label_conditions.all_met(labels[name], asked) for name in names):
            continue
        raise ImpossibleError(f"This job can never start: rank {rank} is pinned to {_unmet(names, labels, asked)}.")


def _unmet(names: Sequence[str], labels: Mapping[str, Mapping[str, str]], asked: Mapping[str, str]) -> str:
    """The nodes and what they lack.

    >>> _unmet(["n2"], {"n2": {"mem_gb": "8"}}, {"mem_gb": ">=16"})
    'n2, which does not meet mem_gb>=16: it has mem_gb=8'
    >>> _unmet(["n2", "n3"], {"n2": {}, "n3": {}}, {"mem_gb": ">=16"})
    'n2 or n3, and none of these meets mem_gb>=16'
    """
    if len(names) > 1:
        conditions = " and ".join(label_conditions.written(*pair) for pair in asked.items())
        return f"{' or '.join(names)}, and none of these meets {conditions}"
    has = label_conditions.with_speed(labels[names[0]], 1.0)
    unmet = {label: each for label, each in asked.items() if not label_conditions.all_met(has, {label: each})}
    conditions = " and ".join(label_conditions.written(*pair) for pair in unmet.items())
    shown = " and ".join(f"{label}={has[label]}" if label in has else f"no label {label}" for label in unmet)
    return f"{names[0]}, which does not meet {conditions}: it has {shown}"
