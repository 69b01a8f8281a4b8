"""What the jobs on one node of a Grid may take of the machine at most: memory and processes, by control groups.

A node's limit is that of a real machine: who asks for more on it is refused or ended, and programs on other nodes go
on. All nodes together may not take more than nine tenths of the memory, so that the portal beside them lives. Where
nothing is writable there are no such limits, and status and pages say so.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gridportal.testbed import cgroups
from gridportal.testbed.node_sizes import NodeSize
from gridportal.testbed.sandbox.order import Limits
from gridportal.testbed.state import State

_OF_ALL = 0.9  # of the machine's memory, for all nodes of a Grid
_OF_NODE = 0.5  # for one node, where the settings say nothing
_LIMITED = ("memory.limit_in_bytes", "memory.max")  # versions 1 and 2
_ENDED = ("memory.oom_control", "memory.events")


@dataclass(frozen=True, slots=True)
class NodeLimits:
    """Bytes of memory and number of processes on each node, 0 for no limit; less memory on nodes that have less; the
    groups that see to it, by node, and of these the ones for memory."""

    memory: int = 0
    processes: int = 0
    groups: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    memory_groups: Mapping[str, Path] = field(default_factory=dict)
    less_memory: Mapping[str, int] = field(default_factory=dict)

    def view(self) -> dict[str, int]:
        """memory and processes, for status and pages."""
        return {"memory": self.memory, "processes": self.processes}

    def memory_on(self, nodes: Iterable[str]) -> int:
        """Bytes that jobs may take on the smallest of `nodes`."""
        return min(self.less_memory.get(node, self.memory) for node in nodes)

    def ended_for_memory(self, nodes: Iterable[str]) -> int:
        """How many processes of these nodes the kernel has ended so far because there was no memory left for them."""
        return sum(ended_in(group) for node in nodes for group in self.groups.get(node, ()))


NO_LIMITS = NodeLimits()


def make(state: State, sizes: Mapping[str, NodeSize], limits: Limits) -> NodeLimits:
    """Groups with limits for the nodes, as far as this machine permits any: of memory what the settings say, or what
    the node has where that is less."""
    names, whole = list(sizes), _machine_memory()
    memory = min(limits.memory or int(whole * _OF_NODE), whole)
    less = {name: size.memory for name, size in sizes.items() if size.memory is not None and size.memory < memory}
    limited = _groups(state, "memory", names)
    each = {group: less.get(name, memory) for name, group in limited.items()}
    if limited and not _limit_memory(each, int(whole * _OF_ALL)):
        limited = {}
    counted = _groups(state, "pids", names)
    for group in counted.values():
        (group / "pids.max").write_text(str(limits.processes), encoding="ascii")
    groups = {name: tuple({each[name] for each in (limited, counted) if name in each}) for name in names}
    processes = limits.processes if counted else 0
    return NodeLimits(memory if limited else 0, processes, groups, limited, less if limited else {})


def _groups(state: State, controller: str, nodes: list[str]) -> dict[str, Path]:
    """Empty where the machine permits none."""
    for base, version in cgroups.places(controller):
        with contextlib.suppress(OSError):
            return cgroups.fill(base, version, controller, state, nodes)
    return {}


def _limit_memory(each: Mapping[Path, int], all_: int) -> bool:
    tops = {group.parent for group in each}
    try:
        for group, value in [*((top, all_) for top in tops), *each.items()]:
            write_memory(group, value)
    except OSError:
        return False
    return True


def write_memory(group: Path, value: int) -> None:
    """Limit a group's memory in bytes, and swap with it where that is counted. OSError."""
    file = next(group / name for name in _LIMITED if (group / name).exists())
    file.write_text(str(value), encoding="ascii")
    for name, more in (("memory.memsw.limit_in_bytes", value), ("memory.swap.max", 0)):
        if (group / name).exists():
            with contextlib.suppress(OSError):
                (group / name).write_text(str(more), encoding="ascii")


def ended_in(group: Path) -> int:
    """How many processes of a group the kernel has ended because there was no memory left for them."""
    for name in _ENDED:
        with contextlib.suppress(OSError):
            lines = (group / name).read_text(encoding="ascii").splitlines()
            return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))
    return 0


def _machine_memory() -> int:
    """Bytes that this process could have: the machine's, or what its control group and those above leave it."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for group in cgroups.limiting("memory"):
        for name in _LIMITED:
            with contextlib.suppress(OSError, ValueError):
                found.append(int((group / name).read_text(encoding="ascii")))
    return min(found)
