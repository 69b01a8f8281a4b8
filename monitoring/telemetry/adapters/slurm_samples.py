"""What Slurm tells of its nodes as samples: load, memory, whether they take jobs, processors and GRES.

Words (state, features) are no samples: SlurmTelemetry gives them as facts of the nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from gridportal.base.available_cpu import available_cpu
from monitoring.history.core.samples import METRIC_LENGTH, Collected, Sample

_SILENT = frozenset(("DOWN", "UNKNOWN", "FUTURE", "NOT_RESPONDING", "POWERED_DOWN", "POWERING_DOWN", "POWERING_UP"))
_GRES = re.compile(r"(?P<name>[A-Za-z][\w.-]*)(?::[^:(),]+)*?(?::(?P<count>\d+)(?P<unit>[KMGT]?))?(?:\([^()]*\))?")
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Node(Protocol):
    """The part of Slurm's node that becomes samples. Memory in bytes; None is what the node does not tell."""

    @property
    def name(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def flags(self) -> tuple[str, ...]: ...
    @property
    def cpus(self) -> int: ...
    @property
    def allocated_cpus(self) -> int: ...
    @property
    def cpu_load(self) -> float | None: ...
    @property
    def memory(self) -> int | None: ...
    @property
    def free_memory(self) -> int | None: ...
    @property
    def gres(self) -> str: ...
    @property
    def gres_used(self) -> str: ...
    @property
    def usable(self) -> bool: ...


@dataclass(frozen=True)
class SlurmSamples:
    """One question for all nodes. Without `loads`, cpu and load are left to another source that measures them."""

    nodes: Callable[[], Sequence[Node]]
    loads: bool = True
    name: str = "slurm"
    kind: str = "slurm"

    def collect(self, now: float) -> Collected:
        """Every node's samples. Raises BackendError when Slurm does not answer."""
        found = self.nodes()
        samples = (
            Sample(node.name, metric, now, value)
            for node in found
            for metric, value in figures(node)
            if self.loads or metric not in ("cpu", "load")
        )
        return Collected(tuple(samples))


def figures(node: Node) -> Iterator[tuple[str, float]]:
    """(metric, value) of one node; a node that does not respond has no load and no free memory, and nothing is 0 for
    want of an answer."""
    yield "usable", float(node.usable)
    yield "cpus", float(node.cpus)
    yield "cpus_allocated", float(node.allocated_cpus)
    if node.memory is not None:
        yield "memory_total", float(node.memory)
    yield from (("gres_" + name, count) for name, count in gres(node.gres).items() if len(name) + 5 <= METRIC_LENGTH)
    used = gres(node.gres_used)
    yield from (("gres_used_" + name, count) for name, count in used.items() if len(name) + 10 <= METRIC_LENGTH)
    if _SILENT & {node.state, *node.flags}:
        return
    if node.cpu_load is not None:
        load = node.cpu_load / max(1, node.cpus)
        yield "load", load
        yield "cpu", available_cpu(load)
    if node.free_memory is not None:
        yield "memory_free", float(node.free_memory)


def gres(text: str) -> dict[str, float]:
    """How many of each generic resource, all types together.

    >>> gres("gpu:a100:4(S:0-1),gpu:h100:2(IDX:0,1),fast,shard:1K")
    {'gpu': 6.0, 'fast': 1.0, 'shard': 1024.0}
    >>> gres(""), gres("(null)"), gres("N/A")
    ({}, {}, {})
    """
    counts: dict[str, float] = {}
    for part in re.split(r",(?![^()]*\))", text):
        match = _GRES.fullmatch(part.strip())
        if match and part.strip() not in ("N/A", "null"):
            count = int(match["count"] or 1) * _UNITS[match["unit"] or ""]
            name = match["name"].lower()
            counts[name] = counts.get(name, 0.0) + count
    return counts
