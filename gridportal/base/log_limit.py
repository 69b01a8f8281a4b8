"""The bound on the log of a run: what is too much goes out of its middle while the program writes on.

The program writes into the file itself, in append mode, so that the log is seen as it grows and nothing stands between
that a program could wait for. Whoever watches the file looks at its size now and then, and once it is too large keeps
the first half of the bound and the last piece, with a line between them. So for a moment a log may be larger, by what a
program writes between two looks; what is written while the middle goes may go with it.
"""

from __future__ import annotations

import os

from gridportal.base.errors import InputError

DEFAULT = 64 * 2**20
LEAST = 64 * 2**10
VARIABLE = "GRIDPORTAL_OUTPUT_LIMIT"
#: Bytes of the end that are kept, at most a quarter of the bound.
TAIL = 2**20


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


def cut(descriptor: int, limit: int) -> bool:
    """Cut the file of a descriptor, open for reading and appending, when it has more than `limit` bytes; whether it
    had. OSError where the disk refuses."""
    size = os.fstat(descriptor).st_size
    if size <= limit:
        return False
    kept = tail_of(limit)
    tail = os.pread(descriptor, kept, size - kept)
    os.ftruncate(descriptor, head_of(limit))
    _write(descriptor, f"\n{mark(limit)}\n".encode() + tail)
    return True


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
