"""Whether pinned ranks have room on their nodes when all nodes are free: if not, there is nothing to wait for."""

from __future__ import annotations

from dataclasses import replace

from gridportal.base.errors import ImpossibleError
from gridportal.network.topology import Node
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
