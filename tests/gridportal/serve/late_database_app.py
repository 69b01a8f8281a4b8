"""A WSGI application that opens a connection to PostgreSQL late in each request, and talks on it for a while."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable

import psycopg


def application(environ: dict[str, object], start_response: Callable[..., object]) -> Iterable[bytes]:
    time.sleep(random.random() * 2.5)  # longer than the time for a graceful end, or not
    with psycopg.connect(os.environ["LATE_APP_DATABASE"], connect_timeout=20) as link:
        for number in range(20):
            assert link.execute("SELECT %s::int", [number]).fetchone() == (number,)
            time.sleep(0.02)
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
