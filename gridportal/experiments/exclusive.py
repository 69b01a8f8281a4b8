"""At most one experiment at a time on a machine: they share its processors, and would disturb each other.

The lock is on an open file, so it ends with the process that holds it, by whatever means. Whoever starts an experiment
for others acquires the lock first and hands it on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gridportal.base import file_lock
from gridportal.base.errors import BackendError

#: Says to a child which of its descriptors carries the lock.
VARIABLE = "GRIDPORTAL_EXPERIMENT_LOCK"
_FILE = "running.lock"


def acquire(base: Path, folder: Path) -> int | None:
    """Lock `base` for the experiment in `folder`; the lock's descriptor, or None when another experiment has it."""
    try:
        base.mkdir(parents=True, exist_ok=True)
        lock = file_lock.open_lock(base / _FILE)
    except OSError as error:
        raise BackendError(f"The folder of experiments {base} cannot be used: {error.strerror}.") from error
    if not file_lock.acquire(lock):
        os.close(lock)
        return None
    os.ftruncate(lock, 0)
    os.pwrite(lock, os.fsencode(folder.resolve()), 0)
    return lock


def running(base: Path) -> Path | None:
    """The folder of the experiment that runs on this machine; None when none does."""
    path = base / _FILE
    if not path.exists():
        return None
    with path.open("rb") as file:
        return Path(os.fsdecode(file.read())) if file_lock.is_held(file.fileno()) else None


@contextmanager
def exclusive(base: Path, folder: Path) -> Iterator[None]:
    """Keep the lock, our own or the one that was handed on. BackendError when another experiment runs."""
    handed = os.environ.pop(VARIABLE, "")
    lock = int(handed) if handed.isdecimal() else acquire(base, folder)
    if lock is None:
        raise BackendError(
            f"An experiment is running already, in {running(base)}; wait until it ends, or stop it (Ctrl-C, or Cancel "
            "on its page)."
        )
    os.set_inheritable(lock, False)
    try:
        yield
    finally:
        with suppress(OSError):
            os.close(lock)
