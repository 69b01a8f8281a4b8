"""What a run sees of the machine's files on one node: everything to read as before, but for what is hidden.

Not a list of what may be seen: programs and their inputs lie anywhere. So the whole tree is made read-only, folders
that hold secrets, sockets or other people's files are covered by empty ones, and in these the few things that the run
needs are shown again. `/tmp`, `/var/tmp` and `/dev/shm` are the run's own on each node, as are `/proc` and `/dev/pts`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from gridportal.testbed import kernel
from gridportal.testbed.sandbox.order import Identity, Shown

PRIVATE = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108
_SMALL = "mode=755,size=512k"
_GONE = (errno.EINVAL, errno.ENOENT, errno.ENOTDIR, errno.EACCES)
_FLAGS = {
    "ro": kernel.MS_RDONLY,
    "nosuid": kernel.MS_NOSUID,
    "nodev": kernel.MS_NODEV,
    "noexec": kernel.MS_NOEXEC,
    "noatime": 1 << 10,
    "nodiratime": 1 << 11,
    "relatime": 1 << 21,
}


def build(hidden: Iterable[str], shown: Sequence[Shown], memory_files: int) -> None:
    """Turn this process's mount namespace, which must be its own, into the view of a run.

    `memory_files` is how many bytes /tmp and /dev/shm may take. OSError when the kernel refuses any of it.
    """
    hidden = {*hidden, *PRIVATE}
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    there = [each for each in shown if os.path.exists(each.source)]
    sources = {each: os.open(each.source, os.O_PATH) for each in there}
    _make_read_only()
    covered = []
    for target in sorted({*hidden, *(each.target for each in there)}, key=_depth):
        if target in hidden:
            covered += _cover(target, memory_files)
        for each in there:
            if each.target == target:
                _show(each, sources[each])
    for target in covered:
        if target not in PRIVATE and target not in [each.target for each in there]:
            _remount(target, kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV)
    _own_terminals()
    _own_processes()
    for descriptor in sources.values():
        os.close(descriptor)


def impassable(shown: Iterable[Shown], identity: Identity | None) -> set[str]:
    """The folders above what is shown that `identity` may not pass, as root's home on the way to root's Python.

    They have to be hidden, so that empty ones which everybody may pass take their place.
    """
    if identity is None:
        return set()
    folders = {folder for each in shown for folder in Path(each.target).parents}
    return {str(folder) for folder in folders if not _may_pass(folder, identity)}


def _may_pass(folder: Path, identity: Identity) -> bool:
    try:
        about = folder.stat()
    except OSError:
        return True  # it is not there: nothing to cover
    if about.st_uid == identity.uid:
        return bool(about.st_mode & stat.S_IXUSR)
    return bool(about.st_mode & (stat.S_IXGRP if about.st_gid == identity.gid else stat.S_IXOTH))


def _depth(path: str) -> tuple[int, str]:
    return (len(Path(path).parts), path)


def _make_read_only() -> None:
    """Every mount: one by one where the kernel is older than the call that does it at once."""
    if kernel.restrict_mounts(kernel.MS_RDONLY | kernel.MS_NOSUID):
        return
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        target, options = line.split()[4:6]
        flags = sum(_FLAGS.get(option, 0) for option in options.split(","))
        try:
            _remount(_unescaped(target), flags | kernel.MS_RDONLY | kernel.MS_NOSUID)
        except OSError as error:
            if error.errno not in _GONE:  # what lies below another mount cannot be reached, by nobody
                raise


def _remount(target: str, flags: int) -> None:
    kernel.mount("none", target, None, kernel.MS_REMOUNT | kernel.MS_BIND | flags)


def _unescaped(path: str) -> str:
    """A path as mountinfo writes it, where spaces and the like are octal.

    >>> _unescaped("/a\\\\040b")
    '/a b'
    """
    for code in ("040", "011", "012", "134"):
        path = path.replace("\\" + code, chr(int(code, 8)))
    return path


def _cover(target: str, memory_files: int) -> list[str]:
    """An empty folder in place of `target`; [] where there is none to cover."""
    if not os.path.isdir(target) or os.path.islink(target):
        return []
    data = f"mode=1777,size={memory_files}" if target in PRIVATE else _SMALL
    kernel.mount("tmpfs", target, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, data)
    return [target]


def _show(each: Shown, source: int) -> None:
    if not each.writable and not each.replaces and _is_there(each.target, source):
        return
    if stat.S_ISDIR(os.fstat(source).st_mode):
        os.makedirs(each.target, exist_ok=True)
    elif not os.path.exists(each.target):
        os.makedirs(os.path.dirname(each.target), exist_ok=True)
        Path(each.target).touch()
    kernel.mount(f"/proc/self/fd/{source}", each.target, None, kernel.MS_BIND | kernel.MS_REC)
    if each.writable:
        kept = os.statvfs(each.target).f_flag & ~(os.ST_RDONLY)
        _remount(each.target, _from_statvfs(kept) | kernel.MS_NOSUID | kernel.MS_NODEV)


def _is_there(target: str, source: int) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(os.stat(target), os.fstat(source))
    return False


def _from_statvfs(flags: int) -> int:
    """The flags of a mount as `mount` takes them: a user namespace may not take one away that it was given."""
    same = kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC | 1 << 10 | 1 << 11
    return flags & same | (1 << 21 if flags & os.ST_RELATIME else 0)


def _own_terminals() -> None:
    """No terminal and no message queue of anybody else."""
    flags = kernel.MS_NOSUID | kernel.MS_NOEXEC
    try:
        kernel.mount("devpts", "/dev/pts", "devpts", flags, "newinstance,ptmxmode=0666,mode=0620")
    except OSError:
        _cover("/dev/pts", 0)
    _cover("/dev/mqueue", 0)


def _own_processes() -> None:
    kernel.mount("proc", "/proc", "proc", kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
