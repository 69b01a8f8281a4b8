"""This node as an agent sees it: looked at again and again, told when asked."""

from __future__ import annotations

import os
import time
from typing import Any

from gridportal.base.available_cpu import available_cpu
from gridportal.runtime.agent import infiniband, resident_memory, vitals
from gridportal.runtime.agent.census import Census
from gridportal.runtime.agent.traffic import Traffic

_OFTEN, _SELDOM = 0.25, 1.0  # seconds between looks at processes, and at counters
_SHARE = 0.003  # of a processor, for each of the two kinds of looks


class NodeState:
    """Looks at processes and counters; what that costs stretches the pauses, so that it stays under 1 % of a core."""

    def __init__(self, node: str, census: Census, *, cpus: int, disk: str, has_ports: bool = True) -> None:
        """`has_ports`: the machine's InfiniBand ports are this node's, and not shared with others on the machine."""
        self._node, self._census, self._cpus, self._disk = node, census, cpus, disk
        self._has_ports = has_ports
        self._interfaces, self._traffic = vitals.Interfaces(), Traffic()
        self._memory: dict[str, int] = {}
        self._begun = self._looked = time.monotonic()
        self._due_processes = self._due_counters = self._begun

    def look(self) -> float:
        """Look at what is due; the seconds until something is due again."""
        now = time.monotonic()
        if now >= self._due_processes:
            spent = time.thread_time()
            self._census.look(now, now - self._looked)
            self._looked = now
            self._due_processes = now + max(_OFTEN, (time.thread_time() - spent) / _SHARE)
        if now >= self._due_counters:
            spent = time.thread_time()
            self._interfaces.look()
            self._traffic.look(self._census.members)
            self._memory = resident_memory.by_run(self._census.members)
            self._due_counters = now + max(_SELDOM, (time.thread_time() - spent) / _SHARE)
        return max(0.0, min(self._due_processes, self._due_counters) - time.monotonic())

    def report(self) -> dict[str, Any]:
        """Everything of this moment. Bytes, bit/s, seconds; load per processor; cpu 0..1 = 1/(1+load)."""
        load = self._census.load / self._cpus
        return {
            "node": self._node,
            "at": time.time(),
            "up": round(time.monotonic() - self._begun, 3),
            "pid": os.getpid(),
            "cpus": self._cpus,
            "load": round(load, 4),
            "cpu": round(available_cpu(load), 4),
            "runnable": self._census.runnable,
            "memory": vitals.memory(),
            "disk": self._free_disk(),
            "interfaces": self._interfaces.view(),
            "infiniband": infiniband.counters() if self._has_ports else {},
            "runs": self._runs(),
            "peers": self._traffic.by_peer,
            "trouble": self._traffic.error,
        }

    def _runs(self) -> dict[str, dict[str, float]]:
        """By run: its own load per processor, the bytes of its connections so far, and those of its memory."""
        names = {*self._census.by_run, *self._traffic.by_run}
        found = {}
        for run in sorted(names):
            sent, received = self._traffic.by_run.get(run, (0, 0))
            load = round(self._census.by_run.get(run, 0.0) / self._cpus, 4)
            found[run] = {"load": load, "tx": sent, "rx": received, "memory": self._memory.get(run, 0)}
        return found

    def _free_disk(self) -> tuple[int, int] | None:
        try:
            return vitals.disk(self._disk)
        except OSError:
            return None
