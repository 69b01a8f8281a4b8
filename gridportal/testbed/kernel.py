"""The system calls that Python 3.11 has no name for: unshare, setns, mount, prctl, and how a process is known."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWNET = 0x40000000
MS_BIND = 4096
MS_REC = 16384
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)
ENTERED = ("net", "uts", "mnt")  # mnt last: it changes what the others' paths would mean


def _checked(result: int, call: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Move this process into new namespaces of the given kinds."""
    _checked(_LIBC.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int = 0) -> None:
    """Mount `source` on `target`; `kind` is the file system's, None for a bind mount."""
    encoded = kind.encode() if kind else None
    _checked(_LIBC.mount(source.encode(), target.encode(), encoded, flags, None), f"mount {target}")


def die_with_parent(signum: int) -> None:
    """Ask the kernel for `signum` when the parent dies."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, int(signum))


def open_namespaces(pid: int) -> dict[str, int]:
    """Descriptors of the namespaces of process `pid`, by kind; they outlive a change of mounts."""
    return {kind: os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC) for kind in ENTERED}


def enter(namespaces: Mapping[str, int]) -> None:
    """Move this process into namespaces from `open_namespaces`. The working directory becomes /."""
    for kind in ENTERED:
        _checked(_LIBC.setns(namespaces[kind], 0), f"setns {kind}")


def start_time(pid: int) -> int | None:
    """When process `pid` started, in clock ticks since boot: with the pid it names one process for ever."""
    fields = stat_fields(pid)
    return int(fields[19]) if fields else None


def stat_fields(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat after the command's name (state first); None when there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def pids() -> list[int]:
    """Every process of this PID namespace."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def space_inode(descriptor: int) -> int:
    """The number that a namespace is known by."""
    return os.fstat(descriptor).st_ino
