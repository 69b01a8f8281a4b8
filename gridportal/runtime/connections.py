"""The TCP connections of this network namespace with their byte counters, as the kernel keeps them (INET_DIAG).

One question over netlink brings all connections, so that traffic is counted from outside the programs, without a
library in them. With the owners of the sockets an application's own traffic is told from that of others (Selection
1999, 3.3), and bytes per pair of nodes show its communication pattern. What a connection sent between the last look
and its end comes with the kernel's notice of that end, where the kernel lets us listen for it (root of the namespace).
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

Address = tuple[str, int]

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_ENDS = (1 << 0) | (1 << 2)  # multicast groups: TCP over IPv4 destroyed, over IPv6
_DUMP = 0x301  # NLM_F_REQUEST | NLM_F_DUMP
_ERROR, _DONE = 2, 3
_INFO = 2  # the attribute INET_DIAG_INFO: struct tcp_info
_LISTEN, _NEW, _TIME_WAIT = 10, 12, 6
_STATES = 0xFFF & ~(1 << _LISTEN | 1 << _NEW | 1 << _TIME_WAIT)  # those that have carried or may carry bytes
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBBI48x")
_BYTES = struct.Struct("=QQ")
_ACKED_AT, _SENT_AT = 120, 200  # in struct tcp_info; the second only in kernels from 4.19 on
_BUFFER = 64 * 1024
_PATIENCE = 2.0


class Connection(NamedTuple):
    """A TCP connection as seen from one end; bytes of data since it began. `inode` is 0 once no process holds it.

    `bytes_sent` counts what left, repeats left out. `cookie` names the connection for as long as the machine is up.
    """

    local: Address
    remote: Address
    inode: int
    bytes_sent: int
    bytes_received: int
    uid: int
    cookie: int


def tcp_connections() -> list[Connection]:
    """Every TCP connection of this network namespace. OSError where the kernel has no INET_DIAG.

    Connections between two processes here are in it twice, once from each end.
    """
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as asking:
        asking.settimeout(_PATIENCE)
        return [each for family in (socket.AF_INET, socket.AF_INET6) for each in _dump(asking, family)]


def owners(inodes: Iterable[int], pids: Iterable[int] | None = None) -> dict[int, int]:
    """The process that holds each socket, by inode, among `pids` (None: all). Those that may not be looked at are
    left out; a socket that several hold counts for the first."""
    wanted = {f"socket:[{inode}]": inode for inode in inodes if inode}
    found: dict[int, int] = {}
    for pid in _pids() if pids is None else pids:
        if len(found) == len(wanted):
            break
        for target in _descriptors(pid):
            if target in wanted:
                found.setdefault(wanted[target], pid)
    return found


class Follower:
    """Looks again and again, and hears of the connections that ended in between."""

    def __init__(self) -> None:
        self._ends = _listener()

    @property
    def hears_ends(self) -> bool:
        """Whether the kernel tells when connections end; else their last bytes are those of the last look."""
        return self._ends is not None

    def look(self) -> tuple[list[Connection], list[Connection]]:
        """(those that are, those that ended since the last look, with their final counts). OSError as above."""
        ended = list(self._ended())
        gone = {each.cookie for each in ended}
        return [each for each in tcp_connections() if each.cookie not in gone], ended

    def close(self) -> None:
        """Hear no more."""
        if self._ends is not None:
            self._ends.close()
            self._ends = None

    def _ended(self) -> Iterator[Connection]:
        while self._ends is not None:
            try:
                data = self._ends.recv(_BUFFER)
            except BlockingIOError:
                return
            except OSError:  # more ended than the buffer holds: those keep the counts of the last look
                continue
            for kind, body in _messages(data):
                if kind == _SOCK_DIAG_BY_FAMILY:
                    yield _connection(body)


def _listener() -> socket.socket | None:
    try:
        ends = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG)
    except OSError:
        return None
    try:
        ends.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 * _BUFFER)
        ends.bind((0, _ENDS))
        ends.setblocking(False)
    except OSError:
        ends.close()
        return None
    return ends


def _dump(asking: socket.socket, family: int) -> Iterator[Connection]:
    request = _REQUEST.pack(family, socket.IPPROTO_TCP, 1 << (_INFO - 1), 0, _STATES)
    asking.send(_HEADER.pack(_HEADER.size + len(request), _SOCK_DIAG_BY_FAMILY, _DUMP, 1, 0) + request)
    while True:
        for kind, body in _messages(asking.recv(_BUFFER)):
            if kind == _DONE:
                return
            if kind == _ERROR:
                code = -struct.unpack_from("=i", body)[0]
                raise OSError(code, f"the kernel does not tell of connections: {os.strerror(code)}")
            yield _connection(body)


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + _HEADER.size <= len(data):
        length, kind, *_ = _HEADER.unpack_from(data, at)
        if length < _HEADER.size:
            return
        yield kind, data[at + _HEADER.size : at + length]
        at += (length + 3) & ~3


def _connection(body: bytes) -> Connection:
    """From struct inet_diag_msg and the attributes behind it."""
    family = body[0]
    ports = struct.unpack_from("!HH", body, 4)
    low, high = struct.unpack_from("=II", body, 44)
    uid, inode = struct.unpack_from("=II", body, 64)
    sent, received = _counters(_attribute(body, _INFO))
    local, remote = (_text(family, body[at : at + 16]) for at in (8, 24))
    return Connection((local, ports[0]), (remote, ports[1]), inode, sent, received, uid, high << 32 | low)


def _attribute(body: bytes, wanted: int) -> bytes:
    at = 72
    while at + 4 <= len(body):
        length, kind = struct.unpack_from("=HH", body, at)
        if kind == wanted:
            return body[at + 4 : at + length]
        at += max(4, (length + 3) & ~3)
    return b""


def _counters(info: bytes) -> tuple[int, int]:
    """(sent, received); a kernel before 4.19 tells only what was acknowledged, with the opening as one byte."""
    if len(info) < _ACKED_AT + _BYTES.size:
        return 0, 0
    acked, received = _BYTES.unpack_from(info, _ACKED_AT)
    if len(info) < _SENT_AT + _BYTES.size:
        return max(0, acked - 1), received
    sent, repeated = _BYTES.unpack_from(info, _SENT_AT)
    return sent - repeated, received


def _text(family: int, raw: bytes) -> str:
    if family == socket.AF_INET:
        return socket.inet_ntop(family, raw[:4])
    mapped = raw[:12] == b"\0" * 10 + b"\xff\xff"  # IPv4 by way of a socket for IPv6
    return socket.inet_ntop(socket.AF_INET, raw[12:]) if mapped else socket.inet_ntop(family, raw)


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _descriptors(pid: int) -> Iterator[str]:
    folder = f"/proc/{pid}/fd"
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                yield os.readlink(f"{folder}/{name}")
