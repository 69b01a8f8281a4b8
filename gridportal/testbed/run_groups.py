"""The memory and the processors of one run on each of its nodes, by a control group of its own below the node's.

The node's limit counts all jobs on it together; of memory this one ends a job that takes more than it asked for, before
others on the node suffer from it, and of processors it has as many as its ranks need (`node_processors`). In version 2
a group with groups below it may have no processes: there the node's others sit in a group beside those of runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from gridportal.testbed import cgroups
from gridportal.testbed.node_limits import NodeLimits, ended_in, write_memory
from gridportal.testbed.node_processors import LeftGroups, NodeProcessors, removed

_USED = ("memory.max_usage_in_bytes", "memory.limit_in_bytes")
_IN_ADVANCE = 2**20  # what the kernel may have taken for one processor and not handed out


@dataclass(frozen=True, slots=True)
class RunGroups:
    """The groups of one run by the node's group that each lies in; `memory`: those of them that limit its memory."""

    groups: Mapping[Path, Path] = field(default_factory=dict)
    memory: frozenset[Path] = frozenset()

    def within(self, groups: Iterable[Path]) -> tuple[Path, ...]:
        """The groups of a node, with this run's own in the place of those that they lie in."""
        return tuple(self.groups.get(group, group) for group in groups)

    def ended(self) -> bool:
        """Whether the kernel has ended a process of the run for want of memory: its own part, or its node's."""
        return any(ended_in(group) for group in self.memory)

    def was_too_little(self) -> bool:
        """Whether it has for want of memory that the run had not asked for."""
        return any(ended_in(group) and _was_full(group) for group in self.memory)


class RunLimits:
    """Makes the groups of runs, and removes them when their processes are gone."""

    def __init__(self, limits: NodeLimits, processors: NodeProcessors) -> None:
        self._limits, self._processors = limits, processors
        self._numbers = count(1)
        self._left = LeftGroups()

    def make(self, memory: Mapping[str, int], processors: Mapping[str, int]) -> RunGroups:
        """Groups for a run that may take so many bytes, and so many processors, on each node. Empty where the machine
        permits none."""
        name = f"@run-{next(self._numbers)}"
        made: dict[Path, Path] = {}
        for node, processes in processors.items():
            if own := self._processors.own_group(node, name, processes):
                made[own.parent] = own
        limited = set()
        for node, most in memory.items():
            within = self._limits.memory_groups.get(node)
            if within is not None and (own := _with_memory(within, name, most)):
                made[within] = own
                limited.add(own)
        return RunGroups(made, frozenset(limited))

    def release(self, run: RunGroups) -> None:
        """The run is over: remove its groups, and those of earlier runs that the kernel had not let go then."""
        self._left.remove(run.groups.values())


def _with_memory(within: Path, name: str, most: int) -> Path | None:
    own = within / name
    try:
        cgroups.hand_on(within, "memory")
        own.mkdir(exist_ok=True)
        write_memory(own, most)
    except (OSError, StopIteration):
        removed(own)
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
