"""How much memory this process may still take: what the machine has free, and what its control groups leave of that."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")
#: The limit and the use of a group, in version 2 and in version 1 of control groups.
_FILES = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))


def free_memory(processes: Path = Path("/proc"), groups: Path = _GROUPS) -> int:
    """Bytes; 0 where nothing tells. What files in memory take counts as free, as the kernel has it."""
    return max(0, min((_of_machine(processes), *_of_groups(processes, groups))))


def _of_machine(processes: Path) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = (processes / "meminfo").read_text(encoding="ascii")
        return int(text.partition("MemAvailable:")[2].split()[0]) * 1024
    return 0


def _of_groups(processes: Path, groups: Path) -> Iterator[int]:
    """What each group of this process, and each above it, has left."""
    try:
        lines = (processes / "self" / "cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        folder = groups / ("memory" if controllers else "") / path.lstrip("/")
        for each in (folder, *folder.parents):
            if not each.is_relative_to(groups):
                break
            for limit, use in _FILES:
                with contextlib.suppress(OSError, ValueError):
                    used = int((each / use).read_text()) - _of_files(each)
                    yield int((each / limit).read_text()) - used


def _of_files(group: Path) -> int:
    """What a group uses for files in memory, which the kernel takes back when it is short; 0 where nothing tells."""
    with contextlib.suppress(OSError, ValueError):
        parts = dict(line.split() for line in (group / "memory.stat").read_text(encoding="ascii").splitlines())
        prefix = "total_" if "total_inactive_file" in parts else ""
        return sum(int(parts.get(f"{prefix}{kind}_file", 0)) for kind in ("inactive", "active"))
    return 0
