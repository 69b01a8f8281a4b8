"""Where each process of a portal counts the rounds of the loop that does its work, for its supervisor to see.

The counts lie in memory that the supervisor made and its processes inherit: a full disk or a home that became read-only
stops no heart. A process without a supervisor (a container, a test) counts for nobody.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import struct
from dataclasses import dataclass

VARIABLE = "GRIDPORTAL_HEARTBEATS"
_NAME = "gridportal-heartbeats"
_PLACE = struct.Struct("<QQ")  # process id, rounds
_STEP = 64  # bytes from one place to the next
_PLACES = 512


class Board:
    """The supervisor's side: all places."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create(_NAME)
        os.ftruncate(self.descriptor, _STEP * _PLACES)
        self._memory = mmap.mmap(self.descriptor, _STEP * _PLACES)

    def rounds(self) -> dict[int, int]:
        """How many rounds each process has made, by its id; the dead are among them."""
        found = (_PLACE.unpack_from(self._memory, _STEP * place) for place in range(_PLACES))
        return {pid: rounds for pid, rounds in found if pid}


@dataclass
class _Heart:
    pid: int
    memory: mmap.mmap | None
    at: int = 0
    rounds: int = 0


_heart = _Heart(0, None)


def beat() -> None:
    """Count one round. Call it from the loop whose progress counts, never from a thread that only ticks."""
    global _heart
    if _heart.pid != os.getpid():  # the first time, or the first after a fork
        _heart = _claim()
    if _heart.memory is not None:
        _heart.rounds += 1
        _PLACE.pack_into(_heart.memory, _heart.at, _heart.pid, _heart.rounds)


def _claim() -> _Heart:
    """A place that nobody else has; without a board one that counts for nobody."""
    pid = os.getpid()
    descriptor = _inherited()
    if descriptor is None:
        return _Heart(pid, None)
    memory = mmap.mmap(descriptor, _STEP * _PLACES)
    fcntl.lockf(descriptor, fcntl.LOCK_EX)
    try:
        for at in range(0, _STEP * _PLACES, _STEP):
            owner, _ = _PLACE.unpack_from(memory, at)
            if not owner or owner == pid or not os.path.exists(f"/proc/{owner}"):
                _PLACE.pack_into(memory, at, pid, 0)
                return _Heart(pid, memory, at)
    finally:
        fcntl.lockf(descriptor, fcntl.LOCK_UN)
    return _Heart(pid, None)


def _inherited() -> int | None:
    """The board's descriptor; None where the number that the environment names is something else by now."""
    number = os.environ.get(VARIABLE, "")
    if not number.isdigit():
        return None
    with contextlib.suppress(OSError):
        if os.readlink(f"/proc/self/fd/{number}").startswith(f"/memfd:{_NAME}"):
            os.set_inheritable(int(number), False)
            return int(number)
    return None
