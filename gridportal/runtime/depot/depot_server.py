"""Serves the shards of a node: one thread for each connection, bounded in number, size and time.

It runs in a process of its own, beside the telemetry agent, which is never late for it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gridportal.base.checked_numbers import is_whole
from gridportal.runtime.agent.frames import RefusedError
from gridportal.runtime.depot import depot_wire, slabs
from gridportal.runtime.depot.depot_wire import PORTAL, Session
from gridportal.runtime.depot.shard_store import ShardStore, StoreRefusedError, is_job

#: Connections that are served at once: of all, and of one job; of those that have not shown a key, and that wait.
MOST_GUESTS, MOST_OF_A_JOB, MOST_STRANGERS, MOST_WAITING = 24, 16, 16, 512
MOST_CHECKED = 64 * 2**20  # bytes whose checksum one request may ask for
_STEP = 60.0  # seconds until the next request, or for the other end to take or give some bytes
_TURN = 45.0  # seconds that somebody waits to be served
_STACK = 256 * 1024
_CHUNK = 64 * 1024
_LARGEST = 2**50  # bytes of a shard
_OF_DISKS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG)


class DepotServer:
    """Answers on `listener` for `node`, with the depots' `key`, out of `store`."""

    def __init__(self, listener: socket.socket, key: bytes, node: str, store: ShardStore) -> None:
        self._listener, self._key, self._node, self._store = listener, key, node, store
        self._lock = threading.Lock()
        self._turns = threading.Condition()
        self._waiting = 0
        self._strangers: dict[int, socket.socket] = {}
        self._guests: dict[str, int] = {}

    def serve(self) -> None:
        """Serve until the process ends."""
        threading.stack_size(_STACK)
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                threading.Event().wait(0.1)  # it went away again, or there is no descriptor for it at the moment
                continue
            self._make_room(connection)
            threading.Thread(target=self._host, args=(connection,), daemon=True).start()

    def _make_room(self, stranger: socket.socket) -> None:
        """Who has not shown a key holds a place only until others want it."""
        with self._lock:
            self._strangers[id(stranger)] = stranger
            if len(self._strangers) > MOST_STRANGERS:
                oldest = next(iter(self._strangers))
                with contextlib.suppress(OSError):
                    self._strangers.pop(oldest).shutdown(socket.SHUT_RDWR)

    def _host(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, RefusedError):
            if connection.family != socket.AF_UNIX:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                job, session = depot_wire.admitted(connection, self._key, self._node)
            finally:
                with self._lock:
                    self._strangers.pop(id(connection), None)
            connection.settimeout(_STEP)
            with self._place(job) as served:
                _Visit(session, job, self._store).answer_all(busy=not served)

    @contextmanager
    def _place(self, job: str) -> Iterator[bool]:
        """Wait for a place among those that are served; False where there was none for long."""
        with self._turns:
            served = self._waiting < MOST_WAITING
            if served:
                self._waiting += 1
                served = self._turns.wait_for(lambda: self._is_free(job), _TURN)
                self._waiting -= 1
            if served:
                self._guests[job] = self._guests.get(job, 0) + 1
        try:
            yield served
        finally:
            if served:
                self._leave(job)

    def _leave(self, job: str) -> None:
        with self._turns:
            self._guests[job] -= 1
            if not self._guests[job]:
                del self._guests[job]
            self._turns.notify_all()

    def _is_free(self, job: str) -> bool:
        return self._guests.get(job, 0) < MOST_OF_A_JOB and sum(self._guests.values()) < MOST_GUESTS


class _Visit:
    """What one connection of a job, or of the portal, asks for."""

    def __init__(self, session: Session, job: str, store: ShardStore) -> None:
        self._session, self._job, self._store = session, job, store

    def answer_all(self, *, busy: bool) -> None:
        """Answer until the other end closes the connection. OSError, RefusedError."""
        of_portal = {"jobs": self._jobs, "free": self._free_any}
        of_job = {"put": self._put, "read": self._read, "check": self._check, "drop": self._drop, "free": self._free}
        while True:
            request = self._session.receive()
            if busy:
                self._session.send({"error": "it is busy", "code": "busy"})
                return
            answers = of_portal if self._job == PORTAL else of_job
            answer = answers.get(str(request.get("op")))
            try:
                if answer is None:
                    raise StoreRefusedError("bad", f"op is one of {', '.join(answers)}")
                answer(request)
            except StoreRefusedError as error:
                self._session.send({"error": str(error), "code": error.code})

    def _put(self, request: dict[str, Any]) -> None:
        """Two answers: go on, and the checksum of what is on the disk."""
        size = request.get("bytes")
        if not is_whole(size) or not 0 <= size <= _LARGEST:
            raise StoreRefusedError("bad", "bytes is a whole number from 0")
        wanted: int = size

        def receive(descriptor: int) -> int:
            self._session.send({"go": True})
            return self._received(descriptor, wanted)

        try:
            checksum = self._store.put(self._job, str(request.get("name")), wanted, receive)
        except _DiskError as error:
            raise StoreRefusedError("full", str(error)) from error
        except OSError as error:
            if error.errno not in _OF_DISKS:
                raise
            raise StoreRefusedError("full", error.strerror or "its disk fails") from error
        self._session.send({"crc32": checksum})

    def _received(self, descriptor: int, size: int) -> int:
        """Write what comes; what comes after the disk has failed is read to its end, so that the reason can be told."""
        buffer, checksum, problem = memoryview(bytearray(_CHUNK)), 0, ""
        while size:
            count = self._session.connection.recv_into(buffer, min(size, _CHUNK))
            if not count:
                raise ConnectionResetError("the other end has closed the connection")
            size -= count
            if not problem:
                checksum = zlib.crc32(buffer[:count], checksum)
                problem = _written(descriptor, buffer[:count])
        if problem:
            raise _DiskError(problem)
        return checksum

    def _read(self, request: dict[str, Any]) -> None:
        with self._store.opened(self._job, str(request.get("name"))) as (descriptor, size):
            try:
                wanted = slabs.parsed(request.get("slabs"), size)
            except slabs.BadSlabError as error:
                raise StoreRefusedError("bad", str(error)) from error
            self._session.send({"bytes": sum(slab.bytes for slab in wanted)})
            checksum = 0
            for part in slabs.portions(descriptor, wanted):
                checksum = zlib.crc32(part, checksum)
                self._session.connection.sendall(part)
        self._session.send({"crc32": checksum})

    def _check(self, request: dict[str, Any]) -> None:
        numbers = [request.get(name) for name in ("start", "bytes", "crc32")]
        if not all(is_whole(number) and 0 <= number <= _LARGEST for number in numbers):
            raise StoreRefusedError("bad", "start, bytes and crc32 are whole numbers from 0")
        start, size, before = (int(number) for number in numbers if is_whole(number))
        name = str(request.get("name"))
        checksum, whole = self._store.checksum(self._job, name, start, min(size, MOST_CHECKED), before & 0xFFFFFFFF)
        self._session.send({"crc32": checksum, "bytes": whole})

    def _drop(self, request: dict[str, Any]) -> None:
        tokens = request.get("tokens")
        if not isinstance(tokens, list):
            raise StoreRefusedError("bad", "tokens is a list")
        self._session.send({"dropped": self._store.drop(self._job, tokens, but=bool(request.get("but")))})

    def _free(self, _: dict[str, Any]) -> None:
        self._session.send({"dropped": self._store.free(self._job)})

    def _jobs(self, _: dict[str, Any]) -> None:
        usage, room = self._store.usage(), self._store.room()
        jobs = {job: [each.bytes, each.shards] for job, each in usage.items()}
        written = {job: each.written_at for job, each in usage.items()}
        limits = {"space": room.space, "job_space": room.job_space, "free": room.free}
        self._session.send({"jobs": jobs, "written": written, **limits})

    def _free_any(self, request: dict[str, Any]) -> None:
        job = request.get("job")
        if not isinstance(job, str) or not is_job(job):
            raise StoreRefusedError("bad", "job is the name of a job")
        self._session.send({"dropped": self._store.free(job)})


class _DiskError(Exception):
    """The disk of the depot took no more of a shard."""


def _written(descriptor: int, content: memoryview) -> str:
    """Write it all; why that failed, "" when it did not."""
    try:
        while content:
            content = content[os.write(descriptor, content) :]
    except OSError as error:
        return error.strerror or "its disk fails"
    return ""
