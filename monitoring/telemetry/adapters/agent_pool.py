"""Connections to the agents of a cluster that are kept, so that asking all of them takes one round trip.

One thread with one epoll serves them all: thousands of agents answer at once, and each event must cost microseconds.
Between rounds nothing arrives, since agents speak only when they are asked. An agent that fails is asked again later
and later (up to a minute apart), and holds up nobody: a round has one limit for all.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gridportal.base.errors import InputError
from gridportal.runtime.agent.frames import MOST_ANSWERED, NONCE, PortalSide, RefusedError, dumped
from monitoring.telemetry.adapters.agent_answers import Answer, Failure, Round
from monitoring.telemetry.adapters.agent_dial import allow_descriptors, dial

LIMIT = 5.0  # seconds of a round
_LONGEST_PAUSE = 60.0
_READ = 64 * 1024
_USUAL = 8 * 1024  # bytes: most answers are shorter
_EVENTS = select.EPOLLIN | select.EPOLLRDHUP


@dataclass(slots=True)
class _Line:
    """What is known of one agent, with its connection while it has one."""

    node: str
    address: str
    socket: socket.socket | None = None
    side: PortalSide | None = None
    connected: bool = False
    kept: bool = False  # the connection stood before this round
    body: bytes = b""
    ready: tuple[bytes, bytes] = (b"", b"")  # a question, and the frame to ask it with
    out: bytes = b""
    got: list[bytes] = field(default_factory=list)
    size: int = 0
    sent: float = 0.0
    arrived: float = 0.0
    last_ok: float | None = None
    failure: Failure | None = None
    pause: float = 0.5
    again_at: float = 0.0


class AgentPool:
    """Asks the agents at `addresses` (by node: HOST:PORT or unix:PATH) that share `key`.

    It may be used by several threads, one at a time, and after a fork, where it connects anew.
    """

    def __init__(self, key: bytes, addresses: Mapping[str, str]) -> None:
        self._key = key
        self._lines = {node: _Line(node, address) for node, address in addresses.items()}
        self._alone = threading.Lock()
        self._owner = 0
        self._epoll: select.epoll | None = None
        self._by_descriptor: dict[int, _Line] = {}
        self._last_body = b""

    def ask(self, questions: Mapping[str, Mapping[str, Any]], limit: float = LIMIT) -> Round:
        """Ask each node its question, all at once; after `limit` seconds the rest has failed.

        An agent that failed lately is not asked before its pause is over, and is told with its failure.
        """
        distinct = {id(question): question for question in questions.values()}
        bodies = {key: self._body(question) for key, question in distinct.items()}
        with self._alone:
            self._own()
            begun, monotonic = time.time(), time.monotonic()
            lines = [self._lines[node] for node in questions]
            asked = [line for line in lines if line.socket or line.again_at <= monotonic]
            for line in asked:
                line.body = bodies[id(questions[line.node])]
            arrived = self._converse(asked, monotonic + limit, limit)
            answers, size = self._understood(arrived)
            failures = {line.node: line.failure for line in lines if line.failure}
            done = Round(answers, failures, time.time() - begun, size)
            self._prepare(arrived)
            return done

    def close(self) -> None:
        """Close every connection."""
        with self._alone:
            self._close_all()

    def _body(self, question: Mapping[str, Any]) -> bytes:
        """A question as bytes, the same object as the last time where it is the same."""
        body = dumped(dict(question))
        self._last_body = self._last_body if self._last_body == body else body
        return self._last_body

    def _prepare(self, lines: list[_Line]) -> None:
        """Seal the next question now, while nobody waits: most likely it is the same again."""
        for line in lines:
            if line.side is not None:
                line.ready = (line.body, line.side.next_question(line.body))

    def _own(self) -> None:
        """After a fork the connections are the parent's."""
        if self._owner == os.getpid() and self._epoll:
            return
        self._close_all()
        allow_descriptors(len(self._lines))
        self._owner, self._epoll = os.getpid(), select.epoll()

    def _close_all(self) -> None:
        for line in self._lines.values():
            self._hang_up(line)
        self._by_descriptor.clear()
        if self._epoll:
            self._epoll.close()
        self._epoll = None

    def _converse(self, lines: list[_Line], deadline: float, limit: float) -> list[_Line]:
        """Send everything and take what comes; the lines on which a whole answer has arrived."""
        waiting = {}
        for each in lines:
            if self._ask_again(each) or self._begin(each):
                waiting[each.node] = each
        arrived = []
        assert self._epoll is not None  # noqa: S101
        while waiting and (left := deadline - time.monotonic()) > 0:
            for descriptor, events in self._epoll.poll(left, 4096):
                if (line := self._by_descriptor.get(descriptor)) is None:
                    continue
                if line.node not in waiting:
                    self._hang_up(line)  # it was not asked: it has ended, and is connected to anew when it is asked
                elif (events == select.EPOLLIN and line.kept and self._take_whole(line)) or self._turn(line, events):
                    del waiting[line.node]
                    if line.got:
                        arrived.append(line)
        for each in waiting.values():
            self._fail(each, f"no answer within {limit:g} s")
        return arrived

    def _ask_again(self, line: _Line) -> bool:
        """The short way, for a question that is the same as the last time; False when it cannot be taken."""
        body, frame = line.ready
        if body is not line.body or line.socket is None or line.side is None:
            return False
        try:
            sent = line.socket.send(frame)
        except OSError:
            return False
        if sent < len(frame):
            line.out = frame[sent:]
            self._modify(line, _EVENTS | select.EPOLLOUT)
        line.side.asked()
        line.sent, line.size, line.got, line.kept = time.time(), sent, [], True
        return True

    def _begin(self, line: _Line) -> bool:
        """Send the question, or connect first; whether something is to be waited for."""
        line.got, line.size = [], 0
        if line.side is not None and line.side.open:
            line.kept = True
            return self._put_question(line)
        return self._dial(line)

    def _dial(self, line: _Line) -> bool:
        try:
            line.socket = dial(line.address)
        except (OSError, InputError) as error:
            self._fail(line, _reason(error))
            return False
        line.side, line.connected, line.kept = PortalSide(self._key, line.node, os.urandom(NONCE)), False, False
        self._by_descriptor[line.socket.fileno()] = line
        self._register(line, _EVENTS | select.EPOLLOUT)
        return True

    def _put_question(self, line: _Line) -> bool:
        assert line.side is not None  # noqa: S101
        body, frame = line.ready
        if body is not line.body:
            frame = line.side.next_question(line.body)
        line.side.asked()
        line.sent = time.time()
        return self._send(line, frame)

    def _send(self, line: _Line, data: bytes) -> bool:
        assert line.socket is not None  # noqa: S101
        try:
            sent = line.socket.send(data)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            return not self._lost(line, _reason(error))
        line.size += len(data)
        if sent < len(data):
            line.out = data[sent:]
            self._modify(line, _EVENTS | select.EPOLLOUT)
        return True

    def _take_whole(self, line: _Line) -> bool:
        """The short way, for an answer that comes in one piece; what came of another is kept for the long way."""
        assert line.socket is not None  # noqa: S101
        if line.got:
            return False
        try:
            data = line.socket.recv(_USUAL)
        except OSError:
            return False
        line.size += len(data)
        if len(data) < 4 or len(data) - 4 != int.from_bytes(data[:4], "big"):
            line.got = [data] if data else []
            return False
        line.got, line.arrived = [data], time.time()
        return True

    def _turn(self, line: _Line, events: int) -> bool:
        """Serve one event; whether the line is through with its round."""
        if not line.connected:
            return not self._connect(line)
        if events & select.EPOLLOUT:
            data, line.out = line.out, b""
            self._modify(line, _EVENTS)
            if data and not self._send(line, data):
                return True
        if not events & ~select.EPOLLOUT:
            return False
        return self._take(line)

    def _connect(self, line: _Line) -> bool:
        """The connection stands, or has failed."""
        assert line.socket is not None  # noqa: S101
        code = line.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            self._fail(line, os.strerror(code).lower())
            return False
        line.connected = True
        if line.socket.family != socket.AF_UNIX:
            line.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._modify(line, _EVENTS)
        return True

    def _take(self, line: _Line) -> bool:
        assert line.socket is not None  # noqa: S101
        assert line.side is not None  # noqa: S101
        try:
            data = line.socket.recv(_READ)
        except BlockingIOError:
            return False
        except OSError as error:
            return self._lost(line, _reason(error))
        if not data:
            refused = line.side.open and not line.kept
            return self._lost(line, "it refused us: is its key, or its name, another?" if refused else "it has ended")
        line.size += len(data)
        if line.side.open:
            return self._gather(line, data)
        try:
            opening = line.side.opening(data, time.time())
        except RefusedError as error:
            self._fail(line, str(error))
            return True
        if not opening:
            return False
        question = line.side.next_question(line.body)
        line.side.asked()
        line.sent = time.time()
        return not self._send(line, opening + question)

    def _gather(self, line: _Line, data: bytes) -> bool:
        """Keep a part of the answer; whether it is whole. It is understood after the round, which that would delay."""
        line.got.append(data)
        whole = data if len(line.got) == 1 else b"".join(line.got)
        wanted = int.from_bytes(whole[:4], "big") if len(whole) >= 4 else MOST_ANSWERED
        if len(whole) - 4 < wanted <= MOST_ANSWERED:
            return False
        line.arrived = time.time()
        return True

    def _understood(self, arrived: list[_Line]) -> tuple[dict[str, Answer], int]:
        answers, size = {}, 0
        for line in arrived:
            size += line.size
            if answer := self._understand(line):
                answers[line.node] = answer
        return answers, size

    def _understand(self, line: _Line) -> Answer | None:
        assert line.side is not None  # noqa: S101
        whole = line.got[0] if len(line.got) == 1 else b"".join(line.got)
        try:
            if len(whole) - 4 != int.from_bytes(whole[:4], "big"):
                raise RefusedError("it says more than it was asked")
            body = line.side.answer_body(whole[4:])
        except RefusedError as error:
            self._fail(line, f"what it says cannot be trusted: {error}")
            return None
        line.last_ok, line.failure, line.pause, line.got = line.arrived, None, 0.5, []
        return Answer(body, line.sent, line.arrived)

    def _lost(self, line: _Line, reason: str) -> bool:
        """The connection has ended; whether with it the round of this line: a kept one may be that of an agent that
        has started anew, and is tried again at once."""
        if line.kept and not line.got:
            self._hang_up(line)
            return not self._dial(line)
        self._fail(line, reason)
        return True

    def _fail(self, line: _Line, reason: str) -> None:
        now = time.time()
        since = line.failure.since if line.failure else now
        line.failure = Failure(reason, since, line.last_ok)
        line.pause = min(_LONGEST_PAUSE, line.pause * 2)
        line.again_at = time.monotonic() + line.pause * random.uniform(0.7, 1.0)  # noqa: S311
        self._hang_up(line)

    def _hang_up(self, line: _Line) -> None:
        if line.socket is not None:
            self._by_descriptor.pop(line.socket.fileno(), None)
            if self._epoll and self._owner == os.getpid():
                with contextlib.suppress(OSError, ValueError):
                    self._epoll.unregister(line.socket)
            line.socket.close()
        line.socket, line.side, line.connected, line.ready = None, None, False, (b"", b"")
        line.out, line.got = b"", []

    def _register(self, line: _Line, events: int) -> None:
        assert self._epoll is not None  # noqa: S101
        assert line.socket is not None  # noqa: S101
        self._epoll.register(line.socket, events)

    def _modify(self, line: _Line, events: int) -> None:
        assert self._epoll is not None  # noqa: S101
        assert line.socket is not None  # noqa: S101
        self._epoll.modify(line.socket, events)


def _reason(error: Exception) -> str:
    message = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return message[:1].lower() + message[1:]
