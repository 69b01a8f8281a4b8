"""A WSGI application whose answer comes when its worker has already said good-bye, and which opens files then.

It stands for a request that opens its connection to the database, or SQLite's file, after the time for a graceful end.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

FOLDER = Path(os.environ["LATE_APP_FOLDER"])
OPEN: list[int] = []  # never closed: their numbers must not become free again


def application(environ: dict[str, object], start_response: Callable[..., object]) -> Iterable[bytes]:
    (FOLDER / "asked").touch()
    until = time.monotonic() + 60
    while not threading._SHUTTING_DOWN and time.monotonic() < until:  # type: ignore[attr-defined]  # its loop ended
        time.sleep(0.05)
    for number in range(64):
        OPEN.append(os.open(FOLDER / f"victim{number}", os.O_WRONLY | os.O_CREAT, 0o600))
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
