"""The processes of a portal by the part they play, as /proc shows them. Nobody else's are seen in here."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from dataclasses import dataclass
from pathlib import Path

from gridportal.testbed import kernel
from tests.chaos import world

_WEB = re.compile(r"gunicorn|granian|uvicorn|hypercorn")


@dataclass(frozen=True, slots=True)
class Process:
    """One process: its number, its parent's, what it was started as, and the part it plays."""

    pid: int
    parent: int
    command: str
    part: str

    def send(self, signum: int) -> None:
        """A signal; one that has ended meanwhile does not mind."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signum)


def everybody() -> list[Process]:
    """Every process in this namespace that has not ended."""
    found = []
    for pid in kernel.pids():
        fields = kernel.stat_fields(pid)
        if fields is None or fields[0] in "ZX":
            continue
        with contextlib.suppress(OSError):
            raw = Path(f"/proc/{pid}/cmdline").read_bytes()
            command = raw.replace(b"\0", b" ").decode(errors="replace").strip()
            found.append(Process(pid, int(fields[1]), command, part_of(command)))
    return _with_workers(found)


def of(part: str) -> list[Process]:
    """Those that play one part."""
    return [process for process in everybody() if process.part == part]


def descriptors(pid: int) -> int | None:
    """How many files a process has open; None when it is gone."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None


def kill(processes: list[Process]) -> str:
    """End them by SIGKILL; what was hit, in words."""
    for process in processes:
        process.send(signal.SIGKILL)
    return ", ".join(f"{process.part} {process.pid}" for process in processes) or "nobody was there"


def part_of(command: str) -> str:  # noqa: C901 - a table of words
    if "gridportal.testbed.gridd" in command and "unshare" not in command:
        return "slurm-grid" if f" {world.SLURM}" in command else "grid"
    if re.search(r" -m gridportal (serve|demo)\b", command):
        return "supervisor"
    if re.search(r"celery .*\bworker\b", command):
        return "worker"
    if re.search(r"celery .*\bbeat\b", command):
        return "beat"
    if _WEB.search(command):
        return "web"
    if re.search(r"^postgres: (?!gridportal)", command):
        return "database-helper"
    if command.startswith("postgres: gridportal"):
        return "database-backend"
    if "/postgres -D" in command:
        return "database"
    if "redis-server" in command or "valkey" in command:
        return "broker"
    if "gridportal.runtime.agent" in command or "testbed.agent" in command:
        return "agent"
    return next((name for name in ("slurmctld", "slurmd", "slurmstepd") if re.match(rf"\S*{name}\b", command)), "")


def _with_workers(found: list[Process]) -> list[Process]:
    """Web servers and Celery's workers that others of the same part have started are told from these."""
    masters = {process.pid: process.part for process in found if process.part in ("web", "worker")}
    return [
        Process(each.pid, each.parent, each.command, f"{each.part}-child")
        if each.part and masters.get(each.parent) == each.part
        else each
        for each in found
    ]
