"""The memory of one run on each of its nodes: what it asked for, by a control group of its own below the node's.

The node's limit counts all jobs on it together; this one ends a job that takes more than its own part, before others
on the node suffer from it. In version 2 a group with groups below it may have no processes: there the node's others sit
in a group beside those of runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from gridportal.testbed import cgroups
from gridportal.testbed.node_limits import NodeLimits, ended_in, write_memory

_USED = ("memory.max_usage_in_bytes", "memory.limit_in_bytes")
_IN_ADVANCE = 2**20  # what the kernel may have taken for one processor and not handed out


@dataclass(frozen=True, slots=True)
class RunMemory:
    """The groups of one run by the node's group that each lies in; none where it asked for nothing."""

    groups: Mapping[Path, Path] = field(default_factory=dict)

    def within(self, groups: Iterable[Path]) -> tuple[Path, ...]:
        """The groups of a node, with this run's own in the place of that which limits the node's memory."""
        return tuple(self.groups.get(group, group) for group in groups)

    def ended(self) -> bool:
        """Whether the kernel has ended a process of the run for want of memory: its own part, or its node's."""
        return any(ended_in(group) for group in self.groups.values())

    def was_too_little(self) -> bool:
        """Whether it has for want of memory that the run had not asked for."""
        return any(ended_in(group) and _was_full(group) for group in self.groups.values())


class RunMemories:
    """Makes the groups of runs, and removes them when their processes are gone."""

    def __init__(self, limits: NodeLimits) -> None:
        self._limits = limits
        self._numbers = count(1)
        self._left: set[Path] = set()

    def make(self, memory: Mapping[str, int]) -> RunMemory:
        """Groups for a run that may take so many bytes on each node. Empty where the machine permits none."""
        number = next(self._numbers)
        made: dict[Path, Path] = {}
        for node, most in memory.items():
            within = self._limits.memory_groups.get(node)
            if within is not None and (own := _made(within, f"@run-{number}", most)):
                made[within] = own
        return RunMemory(made)

    def release(self, memory: RunMemory) -> None:
        """The run is over: remove its groups, and those of earlier runs that the kernel had not let go then."""
        self._left |= set(memory.groups.values())
        self._left = {group for group in self._left if not _removed(group)}


def _made(within: Path, name: str, most: int) -> Path | None:
    own = within / name
    try:
        cgroups.hand_on_memory(within)
        own.mkdir(exist_ok=True)
        write_memory(own, most)
    except (OSError, StopIteration):
        _removed(own)
        return None
    return own


def _was_full(group: Path) -> bool:
    """Whether the group ever reached the limit of its own."""
    with contextlib.suppress(OSError):  # version 1, whose counts of failures stay 0 where swap is limited too
        used, limit = (int((group / name).read_text(encoding="ascii")) for name in _USED)
        return used >= limit - _IN_ADVANCE
    with contextlib.suppress(OSError):
        events = dict(line.split() for line in (group / "memory.events").read_text(encoding="ascii").splitlines())
        return int(events.get("oom", 0)) > 0
    return False


def _removed(group: Path) -> bool:
    with contextlib.suppress(OSError):
        group.rmdir()
    return not group.exists()
