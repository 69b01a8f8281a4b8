"""A supervisor is asked to end by a signal, which arrives as an exception wherever it is."""

from __future__ import annotations

import signal
from types import FrameType

_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """Somebody asked the supervisor to end: a request, which no `except Exception` may eat."""


def listen() -> None:
    """From now on Ctrl-C, TERM and HUP raise Stopped in the main thread, whatever this process inherited.

    A shell without job control starts what is in the background with SIGINT ignored; that is not a wish of anybody.
    `nohup` is one: where HUP is ignored it stays so.
    """

    def stop(signum: int, frame: FrameType | None) -> None:
        raise Stopped

    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDINGS)
    for signum in _ENDINGS:
        if signum != signal.SIGHUP or signal.getsignal(signum) != signal.SIG_IGN:
            signal.signal(signum, stop)


def deafen() -> None:
    """Let nobody interrupt the taking down."""
    for signum in _ENDINGS:
        signal.signal(signum, signal.SIG_IGN)
