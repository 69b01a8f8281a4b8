"""Probes between agents: a measured transfer after both have shown that they have the key of one portal."""

from __future__ import annotations

import contextlib
import hmac
import math
import os
import socket
import threading
import time
from typing import Any

from gridportal.runtime import transfer
from gridportal.runtime.agent.frames import NONCE

MOST_BYTES = 10**9
LONGEST = 30.0  # seconds of one transfer
_AT_ONCE = 4
_SEAL = 32
_HANDSHAKE = 5.0


class Target:
    """Answers the probes of other agents on (`host`, `port`); 0 is any free port. OSError when it cannot listen."""

    def __init__(self, key: bytes, host: str, port: int) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._key = key
        self._listener = socket.create_server((host, port), family=family, backlog=16)
        self._room = threading.BoundedSemaphore(_AT_ONCE)
        self.address: tuple[str, int] = self._listener.getsockname()[:2]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                continue  # it went away again, or there is no descriptor for it at the moment
            if not self._room.acquire(blocking=False):
                connection.close()
                continue
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with contextlib.suppress(OSError, ValueError), connection:
                connection.settimeout(_HANDSHAKE)
                self._admit(connection)
                transfer.received(connection, MOST_BYTES, LONGEST + _HANDSHAKE)
        finally:
            self._room.release()

    def _admit(self, connection: socket.socket) -> None:
        """Let in who has the key, and show that we have it."""
        own = os.urandom(NONCE)
        connection.sendall(own)
        received = _exactly(connection, NONCE + _SEAL)
        theirs, seal = received[:NONCE], received[NONCE:]
        if not hmac.compare_digest(seal, hmac.digest(self._key, b"probe" + own + theirs, "sha256")):
            raise ConnectionAbortedError("it does not have the key")
        connection.settimeout(_HANDSHAKE)
        connection.sendall(hmac.digest(self._key, b"probed" + theirs + own, "sha256"))


def probe(key: bytes, request: dict[str, Any]) -> dict[str, Any]:
    """Measure as a portal asks: to [host, port], at most size bytes, about seconds, given up after timeout (s).

    {"bandwidth": bit/s, "latency": s, "bytes"}, or {"error"} in a few words.
    """
    try:
        host, port, size, seconds, timeout = _order(request)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        return {"error": f"a probe that cannot be read ({error})"[:200]}
    try:
        with socket.create_connection((host, port), timeout=min(timeout, _HANDSHAKE)) as connection:
            stop = threading.Timer(timeout, _cut, [connection])
            stop.daemon = True
            stop.start()
            try:
                _enter(key, connection)
                connection.settimeout(timeout)
                return dict(transfer.measured(connection, size, seconds))
            finally:
                stop.cancel()
    except (OSError, ValueError, KeyError, TypeError) as error:
        return {"error": f"{host}:{port}: {error or type(error).__name__}"[:200]}


def _cut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _enter(key: bytes, connection: socket.socket) -> None:
    own = os.urandom(NONCE)
    theirs = _exactly(connection, NONCE)
    connection.sendall(own + hmac.digest(key, b"probe" + theirs + own, "sha256"))
    if not hmac.compare_digest(_exactly(connection, _SEAL), hmac.digest(key, b"probed" + own + theirs, "sha256")):
        raise ConnectionAbortedError("what listens there does not have the key")


def _exactly(connection: socket.socket, count: int) -> bytes:
    """So many bytes, all of them within the time of a handshake: who sends one now and then holds no place for long."""
    got, end = b"", time.monotonic() + _HANDSHAKE
    while len(got) < count:
        connection.settimeout(max(0.001, end - time.monotonic()))
        part = connection.recv(count - len(got))
        if not part:
            raise ConnectionResetError("it has closed the connection")
        got += part
    return got


def _order(request: dict[str, Any]) -> tuple[str, int, int, float, float]:
    host, port = request["to"]
    size, seconds, timeout = int(request["size"]), float(request["seconds"]), float(request["timeout"])
    if not isinstance(host, str) or not 0 < int(port) < 65536:
        raise ValueError("to is a host and a port")
    if not 0 < size <= MOST_BYTES or not all(map(math.isfinite, (seconds, timeout))):
        raise ValueError(f"size is 1 to {MOST_BYTES}")
    if not 0 < seconds <= LONGEST or not 0 < timeout <= 2 * LONGEST:
        raise ValueError(f"seconds is above 0, at most {LONGEST:g}")
    return host, int(port), size, seconds, timeout
