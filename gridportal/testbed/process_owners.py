"""Whose processes are whose: by network namespace, or by a mark in the environment where there are no namespaces.

The machine's load average is of no use here: it counts all nodes together. Counted are the runnable processes of each
node for each of its processors, smoothed over a few seconds; the available processor is then 1/(1+load) (Selection
1999, 3.1).
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
from collections.abc import Iterable, Mapping
from pathlib import Path

from gridportal.base.available_cpu import available_cpu
from gridportal.testbed import kernel

RUN_MARK = "GRIDPORTAL_RUN_KEY"
GRID_MARK = "GRIDPORTAL_GRID"
NODE_MARK = "GRIDPORTAL_NODE"
_SMOOTHING = 2.0


class Census:
    """Counts processes per node of the Grid `grid` (its state directory). `cpus`: how many processors each node has.

    `spaces` maps the inode of a network namespace to its node; empty when there are none, then marks decide. `agents`
    (node to process) and what they have started are told apart, and count for nothing.
    """

    def __init__(self, grid: str, cpus: Mapping[str, int], spaces: Mapping[int, str], ignore: Iterable[int]) -> None:
        self._grid, self._cpus = grid, cpus
        self.load = dict.fromkeys(cpus, 0.0)
        self.runnable = dict.fromkeys(self.load, 0)
        self._spaces = spaces
        self._ignore = frozenset(ignore)
        self.agents: Mapping[str, int] = {}

    def sample(self, elapsed: float) -> None:
        """Look once; `elapsed` seconds have passed since the last look."""
        found = dict.fromkeys(self.load, 0)
        for pid in self._others():
            fields = kernel.stat_fields(pid)
            if fields and fields[0] == "R" and not self._is_of_agent(fields) and (node := self.node_of(pid)) in found:
                found[node] += 1
        weight = 1 - math.exp(-elapsed / _SMOOTHING)
        for node, count in found.items():
            self.load[node] += (count / self._cpus[node] - self.load[node]) * weight
        self.runnable = found

    def by_node(self) -> dict[str, list[int]]:
        """The processes of each node."""
        found: dict[str, list[int]] = {node: [] for node in self.load}
        for pid in self._others():
            if (node := self.node_of(pid)) in found and not self._is_of_agent(kernel.stat_fields(pid) or []):
                found[node].append(pid)
        return found

    def cpu(self, node: str) -> float:
        """The fraction of a processor that one more process on `node` would get."""
        return available_cpu(self.load[node])

    def node_of(self, pid: int) -> str:
        """The node that process `pid` runs on; empty when on none."""
        if not self._spaces:
            found = marks(pid)
            return found.get(NODE_MARK, "") if found.get(GRID_MARK) == self._grid else ""
        try:
            return self._spaces.get(os.stat(f"/proc/{pid}/ns/net").st_ino, "")
        except OSError:
            return ""

    def _is_of_agent(self, fields: list[str]) -> bool:
        """Whether the process is the depot beside an agent."""
        return len(fields) > 1 and int(fields[1]) in self.agents.values()

    def _others(self) -> list[int]:
        ignored = self._ignore.union(self.agents.values())
        return [pid for pid in kernel.pids() if pid not in ignored]


def marks(pid: int) -> dict[str, str]:
    """The environment that process `pid` started with; empty when it is gone or not ours."""
    try:
        raw = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    pairs = (entry.partition(b"=") for entry in raw.split(b"\0"))
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs if name}


def of_run(mark: str) -> list[int]:
    """Every living process of a run, on whatever node: all inherit its mark."""
    wanted = f"\0{RUN_MARK}={mark}\0".encode()
    return [pid for pid in kernel.pids() if wanted in _environment(pid)]


def signal_run(mark: str, signum: int) -> int:
    """Send `signum` to every process of a run; how many there were."""
    found = of_run(mark)
    for pid in found:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signum)
    return len(found)


def end_run(mark: str) -> None:
    """Kill until none is left: a process may fork while it is being killed."""
    for _ in range(20):
        if not signal_run(mark, signal.SIGKILL):
            return


def _environment(pid: int) -> bytes:
    try:
        return b"\0" + Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
