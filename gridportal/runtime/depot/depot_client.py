"""Asks depots: puts shards there, fetches parts of them, checks them, and takes them away; with retry."""

from __future__ import annotations

import random
import socket
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from gridportal.base.errors import GridPortalError
from gridportal.runtime.agent.frames import RefusedError
from gridportal.runtime.depot import depot_wire, slabs
from gridportal.runtime.depot.depot_access import DepotAccess
from gridportal.runtime.depot.depot_wire import PORTAL, Session
from gridportal.runtime.depot.slabs import Slab

#: Tries of something that may be better in a moment, and the pauses before them (s), each up to twice as long.
TRIES = 5
#: The word of a depot that has no time now.
BUSY = "busy"
_PAUSES = (0.1, 0.4, 1.5, 4.0)
_CONNECTING, _STEP = 5.0, 60.0  # seconds
_AHEAD = 4  # requests that are on their way at once
_SLABS_AHEAD = 512  # in these: while the depot sends, what is asked waits in the buffers of the connection
_CHECKED_AT_ONCE = 64 * 2**20
_MOST_ANSWERED = 16 * 2**20
_CHUNK = 1024 * 1024

T = TypeVar("T")
#: What is wanted of a shard in one request, and what takes its bytes.
Wanted = tuple[Sequence[Slab], Callable[[memoryview], object]]


class DepotError(GridPortalError):
    """A depot could not be reached, or refused. `code`: its word why, "" where it cannot be reached."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class Depots:
    """The depots, as a job's `access` has them. May be used from several threads; raises DepotError."""

    def __init__(self, access: DepotAccess, tries: int = TRIES) -> None:
        self._access, self._tries = access, tries

    def put(self, node: str, name: str, content: memoryview) -> int:
        """Keep `content` (bytes) as shard `name` on `node`; its CRC-32, when it is on the disk there."""

        def asked(session: Session) -> int:
            _answer(session, {"op": "put", "name": name, "bytes": len(content)})
            checksum = 0
            for at in range(0, len(content), _CHUNK):
                chunk = content[at : at + _CHUNK]
                checksum = zlib.crc32(chunk, checksum)
                session.connection.sendall(chunk)
            if _checked(session.receive())["crc32"] != checksum:
                raise ConnectionAbortedError("what arrived is not what was sent")
            return checksum

        return self._ask(node, asked)

    def fetch(self, node: str, name: str, wanted: Callable[[], Iterable[Wanted]]) -> None:
        """Get the parts of shard `name` on `node` that `wanted()` lists, in its order; a part may come twice."""
        taken = 0

        def asked(session: Session) -> None:
            nonlocal taken
            waiting: deque[Wanted] = deque()
            buffer = bytearray(slabs.MOST_BYTES)
            for each in islice(wanted(), taken, None):
                while len(waiting) == _AHEAD or (waiting and _slab_count(*waiting, each) > _SLABS_AHEAD):
                    _receive(session, waiting.popleft(), buffer)
                    taken += 1
                session.send({"op": "read", "name": name, "slabs": [slabs.dumped(slab) for slab in each[0]]})
                waiting.append(each)
            while waiting:
                _receive(session, waiting.popleft(), buffer)
                taken += 1

        self._ask(node, asked)

    def check(self, node: str, name: str, size: int) -> int:
        """The CRC-32 of what shard `name` of `size` bytes now is on `node`, computed there. DepotError for another
        size."""

        def asked(session: Session) -> int:
            checksum = 0
            for start in range(0, max(size, 1), _CHECKED_AT_ONCE):
                request = {"op": "check", "name": name, "start": start, "bytes": _CHECKED_AT_ONCE, "crc32": checksum}
                answer = _answer(session, request)
                checksum = int(answer["crc32"])
                if answer["bytes"] != size:
                    raise DepotError(f"it has {answer['bytes']} bytes of it; {size} were written.", "missing")
            return checksum

        return self._ask(node, asked)

    def drop(self, node: str, tokens: Sequence[str], *, but: bool = False) -> int:
        """Take the shards of these checkpoints away, or of all others; how many they were."""
        return self._simple(node, {"op": "drop", "tokens": list(tokens), "but": but})

    def free(self, node: str) -> int:
        """Take all away that the job has there."""
        return self._simple(node, {"op": "free"})

    def _simple(self, node: str, request: dict[str, Any]) -> int:
        return self._ask(node, lambda session: int(_answer(session, request)["dropped"]))

    def _ask(self, node: str, ask: Callable[[Session], T]) -> T:
        where, key = self._access.address(node), self._access.key
        return asked(where, key, self._access.job, node, ask, self._tries)


def free(address: tuple[str, int], master: bytes, node: str, job: str) -> int:
    """For the portal: take away what `job` has on `node`; how many shards they were. Raises DepotError."""
    request = {"op": "free", "job": job}
    key = depot_wire.job_key(master, PORTAL)
    return asked(address, key, PORTAL, node, lambda session: int(_answer(session, request)["dropped"]))


def jobs(address: tuple[str, int], master: bytes, node: str) -> dict[str, int]:
    """For the portal: the bytes of each job on `node`. Raises DepotError."""
    key = depot_wire.job_key(master, PORTAL)
    listed = asked(address, key, PORTAL, node, lambda session: _answer(session, {"op": "jobs"})["jobs"])
    return {job: int(usage[0]) for job, usage in listed.items()}


def asked(
    address: tuple[str, int], key: bytes, job: str, node: str, ask: Callable[[Session], T], tries: int = TRIES
) -> T:
    """What `ask` gets of the depot of `node`; again where that may help. Raises DepotError."""
    for left in reversed(range(tries)):
        try:
            with _session(address, key, job, node) as session:
                return ask(session)
        except DepotError as error:
            if error.code != BUSY or not left:
                raise DepotError(f"The depot of {node} says: {error}", error.code) from error
        except (OSError, RefusedError, KeyError, TypeError, ValueError) as error:
            if not left:
                text = getattr(error, "strerror", None) or str(error) or type(error).__name__
                raise DepotError(f"The depot of {node} ({address[0]}:{address[1]}) does not answer: {text}.") from error
        pause = _PAUSES[min(tries - 1 - left, len(_PAUSES) - 1)]
        time.sleep(pause * random.uniform(1, 2))  # noqa: S311 (ranks that were refused at once do not come back at once)
    raise AssertionError


@contextmanager
def _session(address: tuple[str, int], key: bytes, job: str, node: str) -> Iterator[Session]:
    with socket.create_connection(address, timeout=_CONNECTING) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        session = depot_wire.opened(connection, key, job, node)
        connection.settimeout(_STEP)
        yield session


def _answer(session: Session, request: dict[str, Any]) -> dict[str, Any]:
    session.send(request)
    return _checked(session.receive(_MOST_ANSWERED))


def _checked(answer: dict[str, Any]) -> dict[str, Any]:
    if "error" in answer:
        raise DepotError(f"{answer['error']}."[:300], str(answer.get("code")))
    return answer


def _slab_count(*wanted: Wanted) -> int:
    return sum(len(each[0]) for each in wanted)


def _receive(session: Session, wanted: Wanted, buffer: bytearray) -> None:
    size = sum(slab.bytes for slab in wanted[0])
    if _checked(session.receive())["bytes"] != size:
        raise ConnectionAbortedError("it sends another number of bytes")
    content = memoryview(buffer)[:size]
    at = 0
    while at < size:
        count = session.connection.recv_into(content[at:])
        if not count:
            raise ConnectionResetError("it has closed the connection")
        at += count
    if session.receive()["crc32"] != zlib.crc32(content):
        raise ConnectionAbortedError("what arrived is not what was sent")
    wanted[1](content)
