"""What the kernel tells of a process: its state, its children, and what it waited for."""

from __future__ import annotations

from pathlib import Path

from gridportal.serve.progress import Sample
from gridportal.testbed import kernel

_NANOSECOND = 1e-9


def state(pid: int) -> str:
    """The kernel's letter for what it does; "" when it is gone. "T" is stopped by a signal."""
    fields = kernel.stat_fields(pid)
    return fields[0] if fields else ""


def parent(pid: int) -> int:
    """The id of its parent; 0 when it is gone."""
    fields = kernel.stat_fields(pid)
    return int(fields[1]) if fields else 0


def children(pid: int) -> list[int]:
    """The ids of those that its main thread started and that run."""
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return []
    return [int(child) for child in listed if state(int(child)) not in ("", "Z")]


def sample(pid: int, rounds: int | None) -> Sample:
    """A look at it for `progress`."""
    fields = kernel.stat_fields(pid)
    return Sample(rounds, _waits(pid), int(fields[9]) if fields else 0, fields[0] if fields else "")


def _waits(pid: int) -> dict[int, float]:
    """For each thread the seconds it has waited for a processor; none where the kernel does not tell."""
    found = {}
    for thread in Path(f"/proc/{pid}/task").glob("[0-9]*"):
        try:
            found[int(thread.name)] = int((thread / "schedstat").read_text(encoding="ascii").split()[1]) * _NANOSECOND
        except (OSError, IndexError, ValueError):
            continue
    return found
