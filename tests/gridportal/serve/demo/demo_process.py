"""A demo of our own for a test: started on a private home and a free port, ended by its process id."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import migrated

PASSWORD = "a-demo-for-this-test"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def command(*words: str, port: int | None = None) -> list[str]:
    return [sys.executable, "-m", "gridportal", "demo", "--class", "S", "--port", str(port or free_port()), *words]


def environment(home: Path, **more: str) -> dict[str, str]:
    """This process's environment for a portal at `home`, with none of the test's own settings."""
    ours = ("REDIS_URL", "DATABASE_URL", "DJANGO_SETTINGS_MODULE")
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return {**kept, "GRIDPORTAL_HOME": str(home), "GRIDPORTAL_DEMO_PASSWORD": PASSWORD, **more}


@contextmanager
def running_demo(home: Path, *words: str, seconds: float = 250) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A demo that has finished its first job and stays; yields the supervisor and the portal's address.

    It finds a database and static files; that it can make them is tested in test_demo.py.
    """
    migrated.put_into(home)
    migrated.put_static_files_into(home)
    port = free_port()
    log = home / "demo.out"
    with log.open("wb") as out:
        demo = subprocess.Popen(command(*words, port=port), env=environment(home), stdout=out, stderr=out)
    try:
        until = time.monotonic() + seconds
        while "GridPortal is at" not in log.read_text():
            assert demo.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.2)
        yield demo, log.read_text().split("GridPortal is at ")[1].split()[0]
    finally:
        if demo.poll() is None:
            demo.send_signal(signal.SIGTERM)
        try:
            demo.wait(timeout=90)
        except subprocess.TimeoutExpired:
            demo.kill()
            demo.wait(timeout=60)
