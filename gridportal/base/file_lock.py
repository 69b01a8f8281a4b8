"""Locks on open files (flock): whoever holds one has it until the file is closed, or its processes end by any means.

A lock belongs to the open file, not to its name: a child that inherits the descriptor has the lock with it, and what
stands in the file is for those who find it held. On a network file system it holds among machines where that has flock.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_AGAIN = 0.02
#: Seconds that somebody may need who only looks whether the lock is held (`is_held`).
_GLANCE = 0.2


def acquire(descriptor: int, patience: float = _GLANCE) -> bool:
    """Lock an open file for us alone; False where somebody else has it for `patience` seconds.

    Raises OSError where the file system has no such locks.
    """
    until = time.monotonic() + patience
    while not _locked(descriptor, fcntl.LOCK_EX):
        if time.monotonic() >= until:
            return False
        time.sleep(_AGAIN)
    return True


def is_held(descriptor: int) -> bool:
    """Whether somebody else has locked the file. Raises OSError where the file system has no such locks."""
    if not _locked(descriptor, fcntl.LOCK_SH):
        return True
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False


def open_lock(path: Path) -> int:
    """A descriptor of the lock file `path`, which is made for its owner alone and is never a link. Raises OSError."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


@contextmanager
def hold(path: Path, patience: float = _GLANCE) -> Iterator[bool]:
    """Lock the file `path` while the block runs; whether it is ours. Raises OSError where it cannot be made."""
    descriptor = open_lock(path)
    try:
        yield acquire(descriptor, patience)
    finally:
        os.close(descriptor)


def _locked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
