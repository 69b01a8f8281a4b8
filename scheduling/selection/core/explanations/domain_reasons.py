"""Why the ranks on the chosen nodes may not stand on another one: what their group asks for, or their pins."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from gridportal.base.reasons import Code, Reason
from gridportal.network.topology import Node
from scheduling.jobs.core import label_conditions
from scheduling.jobs.core.application_specification import ApplicationSpecification, RankGroup
from scheduling.selection.core.slots.node_slots import meets_all


class DomainReasons:
    """Of nodes that have room, and still may take the place of no chosen node.

    >>> asked = ApplicationSpecification.read({"pins": {"0": "n1", "1": "n2"}})
    >>> DomainReasons(asked).reason(Node("n3")).facts
    {'nodes': ['n1', 'n2']}
    """

    def __init__(self, asked: ApplicationSpecification | None) -> None:
        self._asked = asked or ApplicationSpecification()

    def reason(self, node: Node) -> Reason:
        """The condition of a group that may be there by its pins, else the nodes that are named in pins."""
        for group in self._asked.groups:
            if self._is_open(group, node):
                for pair in group.require.items():
                    if not meets_all(node, [pair]):
                        return lacks(node, *pair)
        named = [name for name in self._named if name != node.id]
        if not named:
            return Reason.of(Code.NODE_NOT_FOR_ITS_RANKS)
        return Reason.of(Code.NODE_NOT_PINNED, nodes=named)

    @cached_property
    def _named(self) -> Sequence[str]:
        """All nodes to which something is pinned."""
        return list(dict.fromkeys(name for pin in self._asked.pins for name in pin.nodes))

    @cached_property
    def _pins(self) -> dict[str, frozenset[str] | None]:
        """By group the nodes on which its ranks may be by their pins; None for all nodes."""
        pinned = self._asked.pinned()
        found: dict[str, frozenset[str] | None] = {}
        for group in self._asked.groups:
            ranks = [pinned.get(rank) for rank in self._asked.members(group.name)]
            everywhere = any(names is None for names in ranks)
            found[group.name] = None if everywhere else frozenset(name for names in ranks for name in names or ())
        return found

    def _is_open(self, group: RankGroup, node: Node) -> bool:
        names = self._pins[group.name]
        return names is None or node.id in names


def lacks(node: Node, label: str, condition: str) -> Reason:
    """That a node does not meet a condition, with what it has."""
    has = label_conditions.with_speed(node.labels, node.speed).get(label)
    written = label_conditions.written(label, condition)
    return Reason.of(Code.NODE_LACKS, condition=written, label=label, has=has)
