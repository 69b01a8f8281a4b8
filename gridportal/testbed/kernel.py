"""The system calls that Python 3.11 has no name for: unshare, setns, mount, prctl, capset; how one is known."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_PRIVATE = 1 << 18
_MOUNT_SETATTR = 442  # on every architecture
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
MS_REC = 16384
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_SECUREBITS = 28
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_CHILD_SUBREAPER = 36
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
# root is nobody special, capabilities are neither kept nor raised; each with the bit that locks it
_SECUREBITS = 0b11_10_00_11
_CAPABILITY_VERSION = 0x20080522
_LIBC = ctypes.CDLL(None, use_errno=True)
ENTERED = ("net", "uts", "mnt")  # mnt last: it changes what the others' paths would mean


def _checked(result: int, call: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Move this process into new namespaces of the given kinds."""
    _checked(_LIBC.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int = 0, data: str = "") -> None:
    """Mount `source` on `target`; `kind` is the file system's, None for a bind mount, `data` its options."""
    encoded = kind.encode() if kind else None
    result = _LIBC.mount(
        os.fsencode(source), os.fsencode(target), encoded, ctypes.c_ulong(flags), data.encode() or None
    )
    _checked(result, f"mount {target}")


def die_with_parent(signum: int) -> None:
    """Ask the kernel for `signum` when the parent dies."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, int(signum))


def adopt_orphans() -> None:
    """Let what this process started come back to it as a child when its parent ends."""
    _checked(_LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def restrict_mounts(flags: int) -> bool:
    """Set `flags` (of MS_RDONLY and MS_NOSUID) on / and all mounts below; False where the kernel is too old (5.11).

    Raises OSError for any other reason.
    """
    attributes = (ctypes.c_uint64 * 4)(flags, 0, 0, 0)
    if _LIBC.syscall(_MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, attributes, ctypes.sizeof(attributes)) == 0:
        return True
    if ctypes.get_errno() == errno.ENOSYS:
        return False
    _checked(-1, "mount_setattr")
    return False


def give_up_privileges() -> None:
    """Let this process and all that it starts have no capability, and gain none by a setuid program, for ever.

    A change of user must come before the last of these steps: see `gridportal.testbed.sandbox.privileges`.
    """
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _checked(_LIBC.capset(header, (ctypes.c_uint32 * 6)()), "capset")
    _checked(_LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def bound_capabilities() -> None:
    """Let no program that is executed from now on get a capability, not even one that root starts."""
    number = 0
    while _LIBC.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) == 0:  # it ends with the first that this kernel does not know
        number += 1
    _checked(0 if number else -1, "capability bounding set")
    _LIBC.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    _checked(_LIBC.prctl(_PR_SET_SECUREBITS, _SECUREBITS, 0, 0, 0), "securebits")


def close_to_others() -> None:
    """Let nobody without rights of their own look at this process, not even one of the same user."""
    _checked(_LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "dumpable")


def open_namespaces(pid: int | str, kinds: Sequence[str] = ENTERED) -> dict[str, int]:
    """Descriptors of the namespaces of process `pid` (or "self"), by kind; they outlive a change of mounts."""
    return {kind: os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC) for kind in kinds}


def enter(namespaces: Mapping[str, int]) -> None:
    """Move this process into namespaces from `open_namespaces`, in that order. The working directory becomes /."""
    for kind, descriptor in namespaces.items():
        _checked(_LIBC.setns(descriptor, 0), f"setns {kind}")


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
