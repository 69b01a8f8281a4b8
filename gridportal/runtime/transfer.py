"""One measured TCP transfer between two nodes: what is sent and how it is timed where it arrives.

The receiver times it by the kernel's arrival stamps, so that a busy processor does not look like a slow network, and
leaves out the beginning, in which TCP is still finding its rate and a token bucket lets pass what it has saved up.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from itertools import pairwise

_SO_TIMESTAMPNS = 35
_STAMP = struct.Struct("@ll")
_SKIP = 32 * 1024
_WARMING = 8  # one part in so many of the bytes is warm-up, and at least _SKIP
_CHUNK = 64 * 1024
_PINGS = 4
_PARTS = 5
_BLOCK = bytes(16 * 1024)
_PATIENCE = 15.0
_LONGEST_ANSWER = 1024
_MOST_PINGS = 100


def listen(address: str) -> socket.socket:
    """A listening socket of a node agent on any free port."""
    return socket.create_server((address, 0), backlog=16)


def serve_in_background(listener: socket.socket) -> None:
    """Accept and measure transfers until the process ends."""
    threading.Thread(target=_accept, args=(listener,), daemon=True).start()


def send(address: str, port: int, size: int, seconds: float) -> dict[str, float]:
    """Send up to `size` bytes for at most `seconds`; bandwidth in bit/s, latency in seconds (half a round trip)."""
    with socket.create_connection((address, port), timeout=_PATIENCE) as connection:
        return measured(connection, size, seconds)


def measured(connection: socket.socket, size: int, seconds: float) -> dict[str, float]:
    """The same over a connection that stands, to its end. OSError, ValueError when the other end does not play along.

    The timeout of the connection is what one step may take; the last answer may take longer than `seconds`, since what
    was sent may still be on its way.
    """
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * len(_BLOCK))
    latency = min(_ping(connection) for _ in range(_PINGS)) / 2
    connection.sendall(b"d")
    _push(connection, size, seconds)
    connection.shutdown(socket.SHUT_WR)
    with connection.makefile("rb") as answers:
        answer = json.loads(answers.readline(_LONGEST_ANSWER))
    return {"bandwidth": float(answer["bandwidth"]), "bytes": int(answer["bytes"]), "latency": latency}


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
    return _median(rates) if rates else 0.0


def _median(values: list[float]) -> float:
    """The module statistics would cost an agent a third of its memory."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _ping(connection: socket.socket) -> float:
    begin = time.perf_counter()
    connection.sendall(b"p")
    if not connection.recv(1):
        raise ConnectionResetError("the other end has closed the connection")
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
        received(connection)


def received(connection: socket.socket, most: int | None = None, seconds: float | None = None) -> None:
    """Answer pings and one transfer, and tell the sender how fast it came. Raises OSError.

    At most `most` bytes and `seconds` are given to it, where they are given; the timeout of the connection is what one
    step may take.
    """
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    for _ in range(_MOST_PINGS):
        if connection.recv(1) != b"p":
            break
        connection.sendall(b"p")
    arrivals = _arrivals(connection, most, seconds)
    total = arrivals[-1][1] if arrivals else 0
    answer = {"bandwidth": rate(arrivals, max(_SKIP, total // _WARMING)), "bytes": total}
    connection.sendall(json.dumps(answer).encode() + b"\n")


def _arrivals(connection: socket.socket, most: int | None, seconds: float | None) -> list[tuple[float, int]]:
    total = 0
    arrivals: list[tuple[float, int]] = []
    end = None if seconds is None else time.monotonic() + seconds
    while True:
        data, extra, _, _ = connection.recvmsg(_CHUNK, 64)
        if not data:
            return arrivals
        total += len(data)
        arrivals.append((_stamp(extra), total))
        if (most is not None and total > most) or (end is not None and time.monotonic() > end):
            raise TimeoutError("the transfer was longer than it may be")


def _stamp(extra: list[tuple[int, int, bytes]]) -> float:
    for level, kind, data in extra:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS and len(data) >= _STAMP.size:
            seconds, nanoseconds = _STAMP.unpack(data[: _STAMP.size])
            return float(seconds) + float(nanoseconds) / 1e9
    return time.time()
