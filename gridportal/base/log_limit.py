"""The bound on the log of a run: what is too much goes out of its middle while the program writes on.

The program writes into the file itself, in append mode, so that the log is seen as it grows and nothing stands between
that a program could wait for. Whoever watches the file looks at its size now and then, and once it is too large keeps
the first half of the bound and the last piece, with a line between them. So for a moment a log may be larger, by what a
program writes between two looks.

The middle is taken out in one step (fallocate with FALLOC_FL_COLLAPSE_RANGE, of ext4 and XFS), so that nothing is lost
which is written meanwhile. On a file system that cannot do so, such as NFS and tmpfs, the end is read, the file made
shorter and the end written again; what is written between the last two of these steps may be lost or stand before it.
"""

from __future__ import annotations

import ctypes
import fcntl
import os

from gridportal.base.errors import InputError

DEFAULT = 64 * 2**20
LEAST = 64 * 2**10
VARIABLE = "GRIDPORTAL_OUTPUT_LIMIT"
#: Bytes of the end that are kept, at most a quarter of the bound.
TAIL = 2**20
_COLLAPSE_RANGE = 8  # of linux/falloc.h
_LIBC = ctypes.CDLL(None, use_errno=True)
#: How often the end is read again which has grown while it was read.
_MOST_READS = 3


def head_of(limit: int) -> int:
    """How many bytes of the beginning are kept."""
    return limit // 2


def tail_of(limit: int) -> int:
    """How many bytes of the end are kept.

    >>> head_of(2**20), tail_of(2**20), tail_of(2**30)
    (524288, 262144, 1048576)
    """
    return min(TAIL, limit // 4)


def mark(limit: int) -> str:
    """The line that stands where something was left out.

    >>> mark(64 * 2**20)
    '[GridPortal: the log had more than 64 MiB and is cut here; what follows is its end.]'
    """
    size = f"{limit // 2**20} MiB" if limit >= 2**20 else f"{limit // 2**10} KiB"
    return f"[GridPortal: the log had more than {size} and is cut here; what follows is its end.]"


def mark_line(limit: int) -> bytes:
    """The same with the line ends around it."""
    return f"\n{mark(limit)}\n".encode()


def cut(descriptor: int, limit: int) -> bool:
    """Cut the file of a descriptor, open for reading and appending by nobody else, when it has more than `limit` bytes;
    whether it had. OSError where the disk refuses."""
    size = os.fstat(descriptor).st_size
    if size <= limit:
        return False
    if not _take_out(descriptor, limit, size):
        _write_anew(descriptor, limit)
    return True


def _take_out(descriptor: int, limit: int, size: int) -> bool:
    """Take the middle out in one step, in whole blocks; whether this file system can. The line is written over the end
    of what is kept of the beginning."""
    block, line = os.fstatvfs(descriptor).f_bsize, mark_line(limit)
    head = head_of(limit) // block * block
    length = (size - tail_of(limit) - head) // block * block
    if head < len(line) or length <= 0 or not _collapse(descriptor, head, length):
        return False
    _write_at(descriptor, line, head - len(line))
    return True


def _collapse(descriptor: int, offset: int, length: int) -> bool:
    numbers = ctypes.c_int64(offset), ctypes.c_int64(length)
    return bool(_LIBC.fallocate(descriptor, _COLLAPSE_RANGE, *numbers) == 0)


def _write_at(descriptor: int, data: bytes, offset: int) -> None:
    """Where it appends, Linux writes at the end whatever the offset; so it does not for a moment."""
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags & ~os.O_APPEND)
    try:
        os.pwrite(descriptor, data, offset)
    finally:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)


def _write_anew(descriptor: int, limit: int) -> None:
    kept = tail_of(limit)
    for _ in range(_MOST_READS):
        size = os.fstat(descriptor).st_size
        tail = os.pread(descriptor, kept, size - kept)
        if os.fstat(descriptor).st_size == size:
            break
    os.ftruncate(descriptor, head_of(limit))
    _write(descriptor, mark_line(limit) + tail)


def from_environment() -> int:
    """The bound of this process's environment. Raises InputError."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        return DEFAULT
    if not text.isascii() or not text.isdigit() or int(text) < LEAST:
        raise InputError(VARIABLE, text, f"a whole number of bytes, at least {LEAST}")
    return int(text)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
