"""One measured TCP transfer between two nodes: what a node agent serves and what it sends.

The receiver times it by the kernel's arrival stamps, so that a busy processor does not look like a slow network, and
leaves out the beginning, which the token bucket lets pass at once.
"""

from __future__ import annotations

import contextlib
import json
import socket
import statistics
import struct
import threading
import time
from itertools import pairwise

_SO_TIMESTAMPNS = 35
_STAMP = struct.Struct("@ll")
_SKIP = 32 * 1024
_CHUNK = 64 * 1024
_PINGS = 4
_PARTS = 5
_BLOCK = bytes(16 * 1024)
_PATIENCE = 15.0


def listen(address: str) -> socket.socket:
    """A listening socket of a node agent on any free port."""
    return socket.create_server((address, 0), backlog=16)


def serve_in_background(listener: socket.socket) -> None:
    """Accept and measure transfers until the process ends."""
    threading.Thread(target=_accept, args=(listener,), daemon=True).start()


def send(address: str, port: int, size: int, seconds: float) -> dict[str, float]:
    """Send up to `size` bytes for at most `seconds`; bandwidth in bit/s, latency in seconds (half a round trip)."""
    with socket.create_connection((address, port), timeout=_PATIENCE) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * len(_BLOCK))
        latency = min(_ping(connection) for _ in range(_PINGS)) / 2
        connection.sendall(b"d")
        _push(connection, size, seconds)
        connection.shutdown(socket.SHUT_WR)
        answer = connection.makefile("rb").readline()
    return {**json.loads(answer), "latency": latency}


def rate(arrivals: list[tuple[float, int]], skip: int = _SKIP) -> float:
    """Bit/s from (time, bytes so far) after the first `skip` bytes; all of it where it was too short for that.

    The median of five parts: a machine that is busy for a moment does not make a link look slow.

    >>> rate([(0.0, 50_000), (0.1, 1_300_000)])
    100000000.0
    """
    late = [arrival for arrival in arrivals if arrival[1] >= skip]
    used = late if len(late) > 1 else arrivals
    count = min(_PARTS, len(used) - 1)
    if count < 1:
        return 0.0
    cuts = [used[(len(used) - 1) * part // count] for part in range(count + 1)]
    rates = [(b[1] - a[1]) * 8 / (b[0] - a[0]) for a, b in pairwise(cuts) if b[0] > a[0]]
    return statistics.median(rates) if rates else 0.0


def _ping(connection: socket.socket) -> float:
    begin = time.perf_counter()
    connection.sendall(b"p")
    connection.recv(1)
    return time.perf_counter() - begin


def _push(connection: socket.socket, size: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    left = size
    while left > 0 and time.monotonic() < end:
        left -= connection.send(_BLOCK[: min(left, len(_BLOCK))])


def _accept(listener: socket.socket) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_serve, args=(connection,), daemon=True).start()


def _serve(connection: socket.socket) -> None:
    with contextlib.suppress(OSError), connection:
        connection.settimeout(_PATIENCE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        while connection.recv(1) == b"p":
            connection.sendall(b"p")
        arrivals = _arrivals(connection)
        total = arrivals[-1][1] if arrivals else 0
        answer = {"bandwidth": rate(arrivals), "bytes": total}
        connection.sendall(json.dumps(answer).encode() + b"\n")


def _arrivals(connection: socket.socket) -> list[tuple[float, int]]:
    total = 0
    arrivals: list[tuple[float, int]] = []
    while True:
        data, extra, _, _ = connection.recvmsg(_CHUNK, 64)
        if not data:
            return arrivals
        total += len(data)
        arrivals.append((_stamp(extra), total))


def _stamp(extra: list[tuple[int, int, bytes]]) -> float:
    for level, kind, data in extra:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS and len(data) >= _STAMP.size:
            seconds, nanoseconds = _STAMP.unpack(data[: _STAMP.size])
            return float(seconds) + float(nanoseconds) / 1e9
    return time.time()
