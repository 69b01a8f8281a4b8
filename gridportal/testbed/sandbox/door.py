"""The way of a run to its other nodes: what a launcher asks of the run's first process, and how it is read.

A request is four bytes with its length, then node, command, and the environment, with zero bytes between; standard
input, output and error of the launcher come along as descriptors. The answer is the exit code as text. While the
command runs, the connection stands: who leaves it first ends the other.
"""

from __future__ import annotations

import array
import os
import socket
from dataclasses import dataclass, field

_MOST_BYTES = 8 * 2**20
_MOST_DESCRIPTORS = 8
_PART = 256 * 1024


class NoRequestError(ValueError):
    """What came in is no request of our launcher."""


@dataclass(slots=True)
class Request:
    """One command to run on a node, complete when `ready`. `descriptors`: its standard input, output and error."""

    data: bytearray = field(default_factory=bytearray)
    descriptors: list[int] = field(default_factory=list)

    def read(self, connection: socket.socket) -> bool:
        """Take what is there; whether the other side is still connected. Raises NoRequestError."""
        part, ancillary, flags, _ = connection.recvmsg(
            _PART, socket.CMSG_SPACE(_MOST_DESCRIPTORS * 4), socket.MSG_CMSG_CLOEXEC
        )
        for level, kind, data in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                received = array.array("i")
                received.frombytes(data[: len(data) - len(data) % received.itemsize])
                self.descriptors += received
        self.data += part
        if len(self.data) > _MOST_BYTES or len(self.descriptors) > 3 or flags & socket.MSG_CTRUNC:
            raise NoRequestError
        return bool(part)

    @property
    def ready(self) -> bool:
        """Whether all of it is there."""
        return len(self.data) >= 4 and len(self.data) >= 4 + int.from_bytes(self.data[:4], "big")

    def parse(self) -> tuple[str, str, dict[str, str]]:
        """Node, command and environment. Raises NoRequestError."""
        parts = bytes(self.data[4:]).split(b"\0")
        if len(parts) < 2 or len(self.descriptors) != 3:
            raise NoRequestError
        pairs = (word.partition(b"=") for word in parts[2:])
        environment = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs if name}
        return os.fsdecode(parts[0]), os.fsdecode(parts[1]), environment

    def close(self) -> None:
        """Give its descriptors back."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors.clear()


def listen(folder: str) -> socket.socket:
    """A listening socket called `door` in `folder`, whose path may be longer than an address can be."""
    way = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        listener.bind(f"/proc/self/fd/{way}/door")
        os.chmod(f"/proc/self/fd/{way}/door", 0o666)  # noqa: S103 (nobody but the run sees the folder)
        listener.listen(1024)
    finally:
        os.close(way)
    return listener
