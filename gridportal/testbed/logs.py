"""The logs of the runs of a Grid: held open while their runs go on, and kept within their bound."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import stat
from pathlib import Path

from gridportal.base import log_limit

log = logging.getLogger(__name__)
_LOOKING = 0.3
_APPENDING = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC


class Logs:
    """Files by the key of their run. They are known by descriptors, so that nothing that a program puts in the place of
    its log is ever written to.

    A run gets a descriptor of its own. What cuts the file is another opening of it: a program that writes without end
    holds the place in its own, and may change how that is written to.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: dict[str, tuple[int, int]] = {}
        self._cutting = ""
        self._ended: set[str] = set()

    def open(self, key: str, path: Path) -> int:
        """A descriptor that appends to the log; kept until `close`. Raises OSError."""
        descriptor = os.open(path, _APPENDING | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "The log is no plain file", str(path))
            os.set_blocking(descriptor, True)
            self._open[key] = descriptor, os.open(f"/proc/self/fd/{descriptor}", _APPENDING)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    def close(self, key: str) -> None:
        """Look at it for the last time, be it when `watch` has done with it."""
        if key == self._cutting:
            self._ended.add(key)
        elif key in self._open:
            descriptor, own = self._open.pop(key)
            self._cut(key, own)
            os.close(own)
            os.close(descriptor)

    async def watch(self) -> None:
        """Look at all of them, again and again; in a thread, for a busy writer makes whoever cuts its file wait."""
        while True:
            await asyncio.sleep(_LOOKING)
            for key in list(self._open):
                if key in self._open:
                    await self._look(key)

    async def _look(self, key: str) -> None:
        self._cutting = key
        try:
            await asyncio.to_thread(self._cut, key, self._open[key][1])
        finally:
            self._cutting = ""
        if key in self._ended:
            self._ended.discard(key)
            self.close(key)

    def _cut(self, key: str, descriptor: int) -> None:
        try:
            if log_limit.cut(descriptor, self._limit):
                log.info("the log of %s was cut", key)
        except OSError as error:
            log.warning("the log of %s could not be cut: %s", key, error)
