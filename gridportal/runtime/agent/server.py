"""Serves portals: one thread for all connections, bounded in number, size and time, whatever comes in."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from gridportal.runtime.agent import frames
from gridportal.runtime.agent.frames import AgentSide, RefusedError

MOST_CONNECTIONS = 64
_STRANGER = 5.0  # seconds to open in
_STEP = 10.0  # seconds for the rest of a frame, or to take an answer
_IDLE = 900.0
_READ = 4096
_CLOCK_LIMIT = 1.0
_LAST_TIME = 1e12  # Unix seconds: no clock tells more
_WARNED_EVERY = 600.0
Answerer = Callable[[dict[str, Any]], dict[str, Any]]


class _Guest:
    """One connection. `busy`: something slow is under way for it, and until then it is not read from."""

    def __init__(self, connection: socket.socket, side: AgentSide) -> None:
        self.connection, self.side = connection, side
        self.out = side.hello()
        self.deadline = time.monotonic() + _STRANGER
        self.busy = False
        self.waiting: list[tuple[int, dict[str, Any], float]] = []


class Server:
    """Answers report with `report()` at once, and what is in `slow` with `slow[op](request)` in a thread, one at a time
    of each.

    `look()` is called when due and returns the seconds until then. The clock of a portal that differs from ours by
    more than a second is told on standard error.
    """

    def __init__(
        self,
        listeners: list[socket.socket],
        key: bytes,
        node: str,
        *,
        report: Callable[[], dict[str, Any]],
        slow: Mapping[str, Answerer],
        look: Callable[[], float],
    ) -> None:
        self._key, self._node = key, node
        self._report, self._slow, self._look = report, slow, look
        self._guests: dict[int, _Guest] = {}
        self._done: list[tuple[_Guest, int, dict[str, Any], float]] = []
        self._under_way = {op: threading.Lock() for op in slow}
        self._warned = -_WARNED_EVERY
        self._selector = selectors.DefaultSelector()
        self._ear, self._bell = socket.socketpair()
        self._ended = False
        for listener in listeners:
            listener.setblocking(False)
            self._selector.register(listener, selectors.EVENT_READ)
        self._listeners = set(listeners)
        for end in (self._ear, self._bell):
            end.setblocking(False)
        self._selector.register(self._ear, selectors.EVENT_READ)

    def end(self) -> None:
        """Make `serve` return; may be called from a signal handler or another thread."""
        self._ended = True
        self._ring()

    def serve(self) -> None:
        """Serve until told to end."""
        while not self._ended:
            pause = min(self._look(), self._sweep())
            for chosen, events in self._selector.select(pause):
                self._turn(chosen.fileobj, events)
            self._deliver()
        for guest in list(self._guests.values()):
            self._drop(guest)
        self._selector.close()

    def _turn(self, where: Any, events: int) -> None:
        if where in self._listeners:
            self._accept(where)
        elif where is self._ear:
            with contextlib.suppress(BlockingIOError):
                self._ear.recv(_READ)
        elif guest := self._guests.get(where.fileno()):
            try:
                self._write(guest) if events & selectors.EVENT_WRITE else self._read(guest)
            except (OSError, RefusedError):
                self._drop(guest)

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        if len(self._guests) >= MOST_CONNECTIONS and not self._make_room():
            connection.close()
            return
        connection.setblocking(False)
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        guest = _Guest(connection, AgentSide(self._key, self._node, os.urandom(frames.NONCE)))
        self._guests[connection.fileno()] = guest
        self._selector.register(connection, selectors.EVENT_READ)
        try:
            self._flush(guest)
        except OSError:
            self._drop(guest)  # it has gone already

    def _make_room(self) -> bool:
        """Strangers go first; a portal that has shown the key is never sent away for one."""
        stranger = next((guest for guest in self._guests.values() if not guest.side.open), None)
        if stranger:
            self._drop(stranger)
        return stranger is not None

    def _read(self, guest: _Guest) -> None:
        data = guest.connection.recv(_READ)
        received = time.time()
        if not data:
            raise ConnectionResetError
        for number, request in guest.side.feed(data):
            if number == 0:
                self._compare_clocks(request, received)
            elif guest.busy:
                guest.waiting.append((number, request, received))
            else:
                self._answer(guest, number, request, received)
        if len(guest.waiting) > 1:
            raise RefusedError("it asks on before it was answered")
        if guest.side.open:
            guest.deadline = time.monotonic() + (_STEP if guest.side.waiting else _IDLE)
        self._flush(guest)

    def _answer(self, guest: _Guest, number: int, request: dict[str, Any], received: float) -> None:
        wanted = request.get("op")
        if wanted == "report":
            self._put(guest, number, self._report(), received)
        elif isinstance(wanted, str) and wanted in self._slow:
            guest.busy = True
            threading.Thread(target=self._run, args=(wanted, guest, number, request, received), daemon=True).start()
        else:
            self._put(guest, number, {"error": f"op is report or {' or '.join(self._slow)}"}, received)

    def _run(self, op: str, guest: _Guest, number: int, request: dict[str, Any], received: float) -> None:
        found: dict[str, Any] = {"error": f"another {op} of this node is under way"}
        try:
            if self._under_way[op].acquire(blocking=False):
                found = {"error": "the agent failed at it"}  # whatever happens, who asked is answered
                try:
                    found = self._slow[op](request)
                finally:
                    self._under_way[op].release()
        finally:
            self._done.append((guest, number, found, received))
            self._ring()

    def _deliver(self) -> None:
        """Answers of what was slow and has ended, and what their askers asked meanwhile."""
        while self._done:
            guest, number, found, received = self._done.pop(0)
            if self._guests.get(guest.connection.fileno()) is not guest:
                continue
            guest.busy = False
            try:
                self._put(guest, number, found, received)
                waiting, guest.waiting = guest.waiting, []
                for later in waiting:
                    self._answer(guest, *later)
                self._flush(guest)
            except (OSError, RefusedError):
                self._drop(guest)

    def _put(self, guest: _Guest, number: int, document: dict[str, Any], received: float) -> None:
        guest.out += guest.side.answer(number, {**document, "clock": [received, time.time()]})

    def _flush(self, guest: _Guest) -> None:
        if guest.out:
            with contextlib.suppress(BlockingIOError):
                guest.out = guest.out[guest.connection.send(guest.out) :]
        if guest.out:  # it does not read: then neither do we
            guest.deadline = min(guest.deadline, time.monotonic() + _STEP)
            self._selector.modify(guest.connection, selectors.EVENT_WRITE)

    def _write(self, guest: _Guest) -> None:
        guest.out = guest.out[guest.connection.send(guest.out) :]
        if not guest.out:
            guest.deadline = time.monotonic() + (_IDLE if guest.side.open else _STRANGER)
            self._selector.modify(guest.connection, selectors.EVENT_READ)

    def _sweep(self) -> float:
        """Send away who is too slow; the seconds until the next look at that."""
        now = time.monotonic()
        for guest in [guest for guest in self._guests.values() if guest.deadline < now and not guest.busy]:
            self._drop(guest)
        return 1.0

    def _drop(self, guest: _Guest) -> None:
        self._guests.pop(guest.connection.fileno(), None)
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(guest.connection)
        guest.connection.close()

    def _compare_clocks(self, opening: dict[str, Any], received: float) -> None:
        their_time = opening.get("time")
        if (
            not isinstance(their_time, int | float)
            or not abs(their_time) < _LAST_TIME
            or abs(received - their_time) <= _CLOCK_LIMIT
        ):
            return
        if time.monotonic() - self._warned >= _WARNED_EVERY:
            self._warned = time.monotonic()
            sys.stderr.write(f"The clock of the portal is {their_time - received:+.1f} s from that of this node.\n")

    def _ring(self) -> None:
        with contextlib.suppress(OSError):
            self._bell.send(b"!")
