"""The logs of the runs of a Grid: held open while their runs go on, and kept within their bound."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path

from gridportal import log_limit

log = logging.getLogger(__name__)
_LOOKING = 0.3


class Logs:
    """Files by the key of their run. They are known by descriptors, so that nothing that a program puts in the place of
    its log is ever written to."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: dict[str, int] = {}

    def open(self, key: str, path: Path) -> int:
        """A descriptor that appends to the log; kept until `close`. Raises OSError."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o644)
        self._open[key] = descriptor
        return descriptor

    def close(self, key: str) -> None:
        """Look at it for the last time."""
        descriptor = self._open.pop(key, None)
        if descriptor is not None:
            self._cut(key, descriptor)
            os.close(descriptor)

    async def watch(self) -> None:
        """Look at all of them, again and again."""
        while True:
            await asyncio.sleep(_LOOKING)
            for key, descriptor in list(self._open.items()):
                self._cut(key, descriptor)

    def _cut(self, key: str, descriptor: int) -> None:
        try:
            if log_limit.cut(descriptor, self._limit):
                log.info("the log of %s was cut", key)
        except OSError as error:
            log.warning("the log of %s could not be cut: %s", key, error)
