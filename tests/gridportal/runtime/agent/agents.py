"""Real agents as processes of their own, for tests."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gridportal.runtime.agent import frames

KEY = "a key for tests, long enough"
ROOT = str(Path(__file__).parents[4])


@contextmanager
def agent(
    address: str, node: str = "n1", *more: str, key: str = KEY, env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """One agent that listens when this is entered, and has ended when it is left."""
    argv = [sys.executable, "-m", "gridportal.runtime.agent", "--node", node, "--listen", address, *more]
    given = {"PATH": os.environ["PATH"], "PYTHONPATH": ROOT, "GRIDPORTAL_AGENT_KEY": key, **(env or {})}
    process = subprocess.Popen(argv, env=given, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: process.poll() is not None or answers(address), "the agent to listen")
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stderr:
            process.stderr.close()


def until(condition: Any, what: str, seconds: float = 60.0) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited in vain for {what}")


def dial(address: str) -> socket.socket:
    if address.startswith("unix:"):
        path = Path(address.removeprefix("unix:"))
        made = socket.socket(socket.AF_UNIX)
        folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)  # its own path may be longer than an address
        try:
            made.connect(f"/proc/self/fd/{folder}/{path.name}")
        finally:
            os.close(folder)
        made.settimeout(10)
        return made
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=10)


def answers(address: str) -> bool:
    try:
        dial(address).close()
    except OSError:
        return False
    return True


class Portal:
    """A connection to an agent as a portal has it."""

    def __init__(self, address: str, node: str = "n1", key: str = KEY) -> None:
        self.socket = dial(address)
        self.side = frames.PortalSide(key.encode(), node, os.urandom(frames.NONCE))
        self.challenge = self.socket.recv(4096)
        self.opening = self.side.opening(self.challenge, time.time())

    def open(self) -> Portal:
        self.socket.sendall(self.opening)
        return self

    def ask(self, **question: Any) -> dict[str, Any]:
        self.socket.sendall(self.side.ask(question))
        return self.hear()

    def hear(self) -> dict[str, Any]:
        while True:
            data = self.socket.recv(65536)
            if not data:
                raise ConnectionResetError("it has closed the connection")
            if found := self.side.feed(data):
                return found[0]

    def close(self) -> None:
        self.socket.close()
