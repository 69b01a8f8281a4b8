"""How a rank or a portal talks with a depot: the agents' sealed frames (`runtime.agent.frames`), with bytes in between.

The depot begins with a challenge. Who asks opens with its job, a nonce of its own and the node that it means, sealed
with the key of that job, which follows from the depot's key and the job's name: the depot keeps no list, and a run that
has its own job's key has no other. Each side then seals and numbers what it says with the key of the session. The bytes
of shards follow such a frame as they are, and their checksum follows them in another.
"""

from __future__ import annotations

import hmac
import os
import socket
import time
from typing import Any

from gridportal.runtime.agent import frames
from gridportal.runtime.agent.frames import NONCE, RefusedError

VERSION = 1
MOST_ASKED = 64 * 1024  # bytes of a frame to a depot
#: Who opens for this in place of a job is the portal.
PORTAL = ""
_HANDSHAKE = 5.0
_LONGEST_HELLO = 512


def job_key(key: bytes, job: str) -> bytes:
    """What the runs of `job` have in place of the depots' own `key`."""
    return hmac.digest(key, b"depot of " + job.encode(), "sha256")


class Session:
    """Frames to and from the other end of a connection that both have opened. Raises OSError and RefusedError."""

    def __init__(self, connection: socket.socket, key: bytes, mine: bytes, theirs: bytes) -> None:
        self.connection = connection
        self._key, self._mine, self._theirs = key, mine, theirs
        self._sent = self._received = 0

    def send(self, document: dict[str, Any]) -> None:
        """Say something."""
        self.connection.sendall(frames.sealed(self._key, self._mine, self._sent, frames.dumped(document)))
        self._sent += 1

    def receive(self, most: int = MOST_ASKED) -> dict[str, Any]:
        """What the other end says next, at most `most` bytes of it."""
        body = frames.unsealed(self._key, self._theirs, self._received, _framed(self.connection, most))
        self._received += 1
        return frames.parsed(body)


def admitted(connection: socket.socket, key: bytes, node: str) -> tuple[str, Session]:
    """The depot's side of the opening: who it is, PORTAL or a job, and the session. RefusedError for strangers."""
    end = time.monotonic() + _HANDSHAKE
    nonce = os.urandom(NONCE)
    connection.settimeout(_HANDSHAKE)
    connection.sendall(frames.framed(frames.dumped({"depot": VERSION, "node": node, "nonce": nonce.hex()})))
    frame = _framed(connection, _LONGEST_HELLO, end)
    opening = frames.parsed(frame[:-16])
    job = opening.get("job")
    if not isinstance(job, str) or not job.isascii() or opening.get("node") != node:
        raise RefusedError("it is meant for another node")
    own = job_key(key, job)
    frames.unsealed(own, b"depot" + nonce, 0, frame)
    return job, Session(connection, frames.session_key(own, nonce, _nonce(opening)), b"a", b"q")


def opened(connection: socket.socket, key: bytes, job: str, node: str) -> Session:
    """The other side: `key` is the job's. The depot has shown that it has the key when its first answer has come."""
    hello = frames.parsed(_framed(connection, _LONGEST_HELLO))
    if hello.get("depot") != VERSION or hello.get("node") != node:
        raise RefusedError(f"that is no depot of {node}")
    challenge, nonce = _nonce(hello), os.urandom(NONCE)
    document = {"job": job, "node": node, "nonce": nonce.hex()}
    connection.sendall(frames.sealed(key, b"depot" + challenge, 0, frames.dumped(document)))
    return Session(connection, frames.session_key(key, challenge, nonce), b"q", b"a")


def _framed(connection: socket.socket, most: int, end: float | None = None) -> bytes:
    length = int.from_bytes(_exactly(connection, 4, end), "big")
    if length > most:
        raise RefusedError(f"a frame of {length} bytes where {most} are the most")
    return _exactly(connection, length, end)


def _exactly(connection: socket.socket, count: int, end: float | None) -> bytes:
    received = bytearray()
    while len(received) < count:
        if end is not None:
            connection.settimeout(max(0.001, end - time.monotonic()))
        part = connection.recv(count - len(received))
        if not part:
            raise ConnectionResetError("the other end has closed the connection")
        received += part
    return bytes(received)


def _nonce(document: dict[str, Any]) -> bytes:
    text = document.get("nonce")
    if not isinstance(text, str) or len(text) != 2 * NONCE:
        raise RefusedError("it has no nonce")
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise RefusedError("its nonce is none") from error
