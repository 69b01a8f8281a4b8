"""Submitting a key once: a file in the run directory tells a first attempt from a retry, and keeps two apart."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gridportal.base import file_lock
from gridportal.base.errors import BackendError

log = logging.getLogger(__name__)

LOCK = "slurm.lock"


@contextmanager
def attempt(run_dir: str, key: str, patience: float) -> Iterator[bool]:
    """Hold the run directory's lock; True when nobody has ever tried to submit from it, so Slurm need not be asked.

    Waits at most `patience` seconds for another attempt, then BackendError. Where the directory cannot be written
    to every attempt counts as a retry.
    """
    path = Path(run_dir) / LOCK
    try:
        descriptor, made = _open(path)
    except OSError as error:
        log.warning("no lock in %s (%s): Slurm is asked for the key %s first", run_dir, error.strerror, key)
        yield False
        return
    try:
        if not file_lock.acquire(descriptor, patience):
            raise BackendError(f"Another submission of {key} has been under way for {patience:g} s.")
        yield _unmarked(descriptor, key) and made
    finally:
        os.close(descriptor)


def _open(path: Path) -> tuple[int, bool]:
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600), True
    except FileExistsError:
        return os.open(path, flags), False


def _unmarked(descriptor: int, key: str) -> bool:
    """True for who holds the lock first; whoever made the file may be overtaken on the way to it.

    A mark that cannot be written makes a retry of the attempt.
    """
    if os.fstat(descriptor).st_size > 0:
        return False
    try:
        return os.write(descriptor, b"tried\n") > 0
    except OSError as error:
        log.warning("no mark for the key %s (%s): Slurm is asked first", key, error.strerror)
        return False
