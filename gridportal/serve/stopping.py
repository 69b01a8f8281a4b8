"""A supervisor is asked to end by a signal, which arrives as an exception wherever it is."""

from __future__ import annotations

import signal
from types import FrameType

_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(Exception):  # noqa: N818 - a request, not an error
    """Somebody asked the supervisor to end."""


def listen() -> None:
    """From now on Ctrl-C, TERM and HUP raise Stopped in the main thread."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise Stopped

    for signum in _ENDINGS:
        signal.signal(signum, stop)


def deafen() -> None:
    """Let nobody interrupt the taking down."""
    for signum in _ENDINGS:
        signal.signal(signum, signal.SIG_IGN)
