"""One processor of a node is one: a process alone on a node of two gets half of the node's part of the machine.

A node's quota holds for the whole node. Where processors are parts of a core, a run of one rank would get all of a
larger node's, and a second job beside it would seem to take half of its speed away. So runs and busy processes have a
group of their own below the node's, with a quota of as many processors as they have ranks, and that many weights.
Where a processor is a whole core no process can take more than one, and nothing needs to be held.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gridportal.testbed import cgroups


@dataclass(frozen=True, slots=True)
class NodeProcessors:
    """The control group of each node that limits its processors, how many it has, and how much of a core each is."""

    groups: Mapping[str, Path] = field(default_factory=dict)
    cpus: Mapping[str, int] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)

    def own_group(self, node: str, name: str, processes: int) -> Path | None:
        """The group `name` below the node's for so many processes, of one thread each. None where nothing has to be
        held, or the kernel refuses."""
        within, cpus, part = self.groups.get(node), self.cpus.get(node, 1), self.parts.get(node, 1.0)
        if within is None or cpus == 1 or part >= 1.0:
            return None
        own = within / name
        try:
            cgroups.hand_on(within, "cpu")
            own.mkdir(exist_ok=True)
            cgroups.hold(own, min(processes, cpus) * part, processes)
        except OSError:
            removed(own)
            return None
        return own


NO_PROCESSORS = NodeProcessors()


class LeftGroups:
    """Groups whose processes have ended: the kernel lets go of some a little later."""

    def __init__(self) -> None:
        self._left: set[Path] = set()

    def remove(self, groups: Iterable[Path]) -> None:
        """Remove these, and those of earlier that the kernel had not let go then."""
        self._left |= set(groups)
        self._left = {group for group in self._left if not removed(group)}


def removed(group: Path) -> bool:
    """Remove a group; False while the kernel has not let go of its processes."""
    with contextlib.suppress(OSError):
        group.rmdir()
    return not group.exists()
