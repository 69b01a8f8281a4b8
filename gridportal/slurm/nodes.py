"""Nodes as values, from scontrol's text and from JSON of every version."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gridportal.base.errors import BackendError
from gridportal.slurm.node_state import CLOSED, UNHEARD, node_state
from gridportal.slurm.records import read as read_records
from gridportal.slurm.values import number, split_list, text

log = logging.getLogger(__name__)

_MIB = 2**20


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """A node. Memory in bytes; `cpu_load` is the load average, None while the node does not tell."""

    name: str
    hostname: str
    address: str
    state: str
    flags: tuple[str, ...] = ()
    cpus: int = 0
    allocated_cpus: int = 0
    cpu_load: float | None = None
    memory: int | None = None
    free_memory: int | None = None
    features: tuple[str, ...] = ()
    gres: str = ""
    gres_used: str = ""
    partitions: tuple[str, ...] = ()
    reason: str = ""
    version: str = ""
    allocated_memory: int | None = None

    @property
    def usable(self) -> bool:
        """Whether it takes jobs, now or when it is free."""
        return not CLOSED & {self.state, *self.flags}

    @property
    def unsure(self) -> bool:
        """Whether it takes no jobs only because Slurm has not heard of it for a moment, as after a restart of Slurm's
        controller: it will be found well soon, or be called down."""
        closed = CLOSED & {self.state, *self.flags}
        return bool(closed) and closed <= UNHEARD

    @property
    def free(self) -> bool:
        """Whether a job for the whole node could start now."""
        return self.usable and self.state == "IDLE" and not {"COMPLETING", "RESERVED"} & set(self.flags)


def parse_nodes(output: str) -> list[SlurmNode]:
    """The nodes in `scontrol --oneliner show nodes`; BackendError when there is text and no node."""
    records = [record for record in read_records(output, "NodeName") if record.get("NodeName")]
    if output.strip() and not records and not output.startswith("No "):
        shown = "".join(c if c.isprintable() else " " for c in output.strip())[:80]
        raise BackendError(f"scontrol show nodes gave an answer without a node: {shown!r}.")
    return [_from_record(record) for record in records]


def decode_nodes(document: Any, command: str = "sinfo --json") -> list[SlurmNode]:
    """The nodes of a JSON document. Entries that are no nodes are logged and skipped."""
    if not isinstance(document, Mapping) or not isinstance(document.get("nodes"), list):
        raise BackendError(f"{command} gave an answer without a list of nodes.")
    nodes = []
    for raw in document["nodes"]:
        try:
            nodes.append(_from_json(raw))
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
            log.warning("%s holds an entry that is no node (%s): %.120r", command, error, raw)
    return nodes


def _from_record(record: Mapping[str, str]) -> SlurmNode:
    name = record["NodeName"]
    state, flags = node_state(record.get("State", ""))
    return SlurmNode(
        name,
        text(record.get("NodeHostName")) or name,
        text(record.get("NodeAddr")) or name,
        state,
        flags,
        _whole(record.get("CPUTot")) or 0,
        _whole(record.get("CPUAlloc")) or 0,
        number(record.get("CPULoad")),
        _whole(record.get("RealMemory"), _MIB),
        _whole(record.get("FreeMem"), _MIB),
        split_list(record.get("ActiveFeatures") or record.get("AvailableFeatures")),
        _without_sockets(text(record.get("Gres"))),
        text(record.get("GresUsed")),
        split_list(record.get("Partitions")),
        text(record.get("Reason")),
        text(record.get("Version")),
        _whole(record.get("AllocMem"), _MIB),
    )


def _from_json(raw: Mapping[str, Any]) -> SlurmNode:
    name = raw["name"]
    if not isinstance(name, str) or not name:
        raise ValueError("no name")
    state, flags = node_state([*split_list(raw["state"]), *split_list(raw.get("state_flags"))])
    load = number(raw.get("cpu_load"))
    return SlurmNode(
        name,
        text(raw.get("hostname")) or name,
        text(raw.get("address")) or name,
        state,
        flags,
        _whole(raw.get("cpus")) or 0,
        _whole(raw.get("alloc_cpus")) or 0,
        # Hundredths; 2^32-2 is Slurm's word for "not known".
        load / 100 if load is not None and 0 <= load < 2**32 - 2 else None,
        _whole(raw.get("real_memory"), _MIB),
        _whole(raw.get("free_mem", raw.get("free_memory")), _MIB),
        split_list(raw.get("active_features") or raw.get("features")),
        _without_sockets(text(raw.get("gres"))),
        text(raw.get("gres_used")),
        split_list(raw.get("partitions")),
        text(raw.get("reason")),
        text(raw.get("version", raw.get("slurmd_version"))),
        _whole(raw.get("alloc_memory"), _MIB),
    )


def _without_sockets(gres: str) -> str:
    """
    >>> _without_sockets("gpu:a100:4(S:0,1),nic:1")
    'gpu:a100:4,nic:1'
    """
    return re.sub(r"\([^()]*\)", "", gres)


def _whole(value: Any, times: int = 1) -> int | None:
    amount = number(value)
    return int(amount) * times if amount is not None and 0 <= amount < 2**60 else None
