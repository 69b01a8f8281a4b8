"""What each QOS allows, as slurmdbd has it: sacctmgr's text, and JSON of any version."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gridportal.base.errors import BackendError
from gridportal.slurm.commands import SlurmCommands
from gridportal.slurm.partitions import seconds
from gridportal.slurm.values import number, text

_FIELDS = ("Name", "Priority", "MaxWall", "MaxJobsPU", "MaxSubmitPU")


@dataclass(frozen=True, slots=True)
class Qos:
    """A quality of service; `max_time` in seconds, jobs are counted for each person; None: without such a limit."""

    name: str
    priority: int = 0
    max_time: float | None = None
    max_jobs: int | None = None
    max_submitted: int | None = None


def ask(slurm: SlurmCommands) -> list[Qos]:
    """Every QOS that slurmdbd knows. Raises BackendError, RefusedError."""
    argv = ["sacctmgr", "--noheader", "--parsable2", "--readonly", "show", "qos", f"format={','.join(_FIELDS)}"]
    return parse(slurm.ask(argv))


def parse(output: str) -> list[Qos]:
    """The QOS in sacctmgr's text.

    >>> parse("normal|0|||\\nhigh|100|1-00:00:00|2|5")[1]
    Qos(name='high', priority=100, max_time=86400.0, max_jobs=2, max_submitted=5)
    """
    found = []
    for line in output.splitlines():
        fields = line.split("|")
        if len(fields) < len(_FIELDS) or not fields[0]:
            raise BackendError(f"sacctmgr gave an answer that is no list of QOS: {line[:80]!r}.")
        name, priority, wall, jobs, submitted = fields[: len(_FIELDS)]
        found.append(Qos(name, _whole(priority) or 0, seconds(wall), _whole(jobs), _whole(submitted)))
    return found


def decode(document: Any, command: str = "sacctmgr show qos --json") -> list[Qos]:
    """The QOS of a JSON document (slurmrestd, sacctmgr from 23.02 on)."""
    if not isinstance(document, Mapping) or not isinstance(document.get("qos"), list):
        raise BackendError(f"{command} gave an answer without a list of QOS.")
    return [_from_json(raw) for raw in document["qos"] if isinstance(raw, Mapping) and text(raw.get("name"))]


def _from_json(raw: Mapping[str, Any]) -> Qos:
    wall = number(_at(raw, "limits", "max", "wall_clock", "per", "job"))
    return Qos(
        str(raw["name"]),
        _whole(raw.get("priority")) or 0,
        wall * 60 if wall is not None and math.isfinite(wall) else None,
        _whole(_at(raw, "limits", "max", "jobs", "active_jobs", "per", "user")),
        _whole(_at(raw, "limits", "max", "jobs", "per", "user")),
    )


def _at(raw: Any, *path: str) -> Any:
    for key in path:
        raw = raw.get(key) if isinstance(raw, Mapping) else None
    return raw


def _whole(value: Any) -> int | None:
    amount = number(value)
    return int(amount) if amount is not None and math.isfinite(amount) else None
