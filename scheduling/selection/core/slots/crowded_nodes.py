"""Which groups and pins of a specification ask for too few nodes, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gridportal.base.rank_places import numbered
from gridportal.network.topology import Node
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.selection.core.placement import Request
from scheduling.selection.core.slots.seating import crowded
from scheduling.selection.core.slots.slot_room import Room

#: So many nodes are named.
_MOST_NAMED = 5


def crowding(request: Request, room: Room, usable: Sequence[Node]) -> str | None:
    """The ranks that are too many for the nodes they may run on, as the end of a sentence; None where there are none.

    >>> groups = [{"name": "server", "count": 1}, {"name": "clients", "count": 2}]
    >>> pins = {"server": "n1", "clients": ["n1", "n2"]}
    >>> spec = ApplicationSpecification.read({"groups": groups, "pins": pins})
    >>> from scheduling.selection.core.slots.node_slots import room_of
    >>> nodes = [Node("n1"), Node("n2"), Node("n3")]
    >>> asked = Request(None, "compute", specification=spec)
    >>> crowding(asked, room_of(asked, nodes), nodes)
    'the groups server and clients may run on n1 and n2 alone, which have room for 2 of their 3 ranks'
    """
    if request.specification is None or room.domains is None:
        return None
    crowd = crowded(room, request.rank_count)
    if crowd is None:
        return None
    who = _joined(list(_parts(request.specification, crowd.ranks)))
    where = _joined(_some([usable[node].id for node in crowd.nodes])) or "no node"
    has = "has" if len(crowd.nodes) == 1 else "have"
    many = len(crowd.ranks)
    ranks = f"{crowd.slots} of their {many} ranks" if many > 1 else "no rank"
    return f"{who} may run on {where} alone, which {has} room for {ranks}"


def _parts(specification: ApplicationSpecification, ranks: Sequence[int]) -> Iterator[str]:
    """The ranks by their groups, a group that is all there by its name."""
    if not specification.groups:
        yield numbered(ranks)
        return
    inside = set(ranks)
    whole = [group.name for group in specification.groups if inside.issuperset(specification.members(group.name))]
    if whole:
        yield f"the group{'s' if len(whole) > 1 else ''} {_joined(whole)}"
    parts = {group.name: sorted(inside & set(specification.members(group.name))) for group in specification.groups}
    for name, part in parts.items():
        if part and name not in whole:
            yield f"{numbered(part)} of {name}"


def _some(names: Sequence[str]) -> list[str]:
    if len(names) <= _MOST_NAMED:
        return list(names)
    return [*names[: _MOST_NAMED - 1], f"{len(names) - _MOST_NAMED + 1} more"]


def _joined(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
