"""Submissions over REST at a fixed rate, whatever the portal answers: an open loop.

Every submission has the moment at which it is due; what it waits for a free connection counts as its delay, too, so a
portal that stalls cannot hide it by receiving less. A 429 is obeyed: the same is sent again after Retry-After.

The client shares the processors with the portal, so it does little: bytes that are made once, plain sockets, one thread
that waits for what is due and wakes one of those that send.
"""

from __future__ import annotations

import heapq
import json
import queue
import socket
import threading
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

_CONNECTIONS = 48
_PATIENCE = 60.0
_AGAIN = 1.0
_IDLE = 1.0  # seconds after which a server may close a connection at any moment
_LONGEST_WAIT = 0.5
_HEAD = "POST /api/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n"
_OWN = "Authorization: Bearer {token}\r\nIdempotency-Key: {key}\r\n\r\n"
Due = tuple[float, int, str]


@dataclass
class Outcome:
    """What the portal answered. `accepted`: job numbers; `delays`: of these, seconds since they were due first;
    `last_delays`: since they were due again, by the last Retry-After; `refused`: how often which answer came instead;
    `silent`: how often which way a connection broke, after which the same was sent again under the same key; `busy`:
    processor seconds of the client itself."""

    accepted: list[int] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    last_delays: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    refusing: list[float] = field(default_factory=list)  # seconds of each 429, from when it was sent
    waits: list[float] = field(default_factory=list)  # what these said in Retry-After
    silent: Counter[str] = field(default_factory=Counter)
    unheeded: int = 0  # 429 without Retry-After
    seconds: float = 0.0
    busy: float = 0.0


@dataclass
class Answer:
    """Of one request. `again`: Retry-After, seconds; `job`: the number of the job, where there is one."""

    status: str
    again: float | None
    job: int | None


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of them lies; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


class Submissions:
    """`rate` submissions a second for `seconds`, of the people of these tokens in turn."""

    def __init__(self, port: int, tokens: Sequence[str], job: dict[str, object], rate: float, seconds: float) -> None:
        self.outcome = Outcome()
        self._port, self._tokens, self._job = port, tokens, json.dumps(job)
        self._head = _HEAD.format(length=len(self._job))
        self._lock = threading.Lock()
        self._to_send: queue.SimpleQueue[Due | None] = queue.SimpleQueue()
        begin = time.monotonic() + 1.0
        count = int(rate * seconds)
        self._due: list[Due] = [(begin + at / rate, at, str(uuid.uuid4())) for at in range(count)]
        self._open = count
        self._begin, self._rate = begin, rate

    def run(self) -> Outcome:
        """Send all of them; returns once each was accepted, or refused for good."""
        used = time.process_time()
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(_CONNECTIONS)]
        for thread in threads:
            thread.start()
        self._hand_out()
        for _ in threads:
            self._to_send.put(None)
        for thread in threads:
            thread.join()
        self.outcome.seconds = time.monotonic() - self._begin
        self.outcome.busy = time.process_time() - used
        return self.outcome

    def _hand_out(self) -> None:
        """Let each be sent when it is due, until none is open."""
        while self._open:
            wait = _LONGEST_WAIT
            with self._lock:
                while self._due and (wait := self._due[0][0] - time.monotonic()) <= 0:
                    self._to_send.put(heapq.heappop(self._due))
            time.sleep(max(0.001, min(wait, _LONGEST_WAIT)))

    def _work(self) -> None:
        connection = _Connection(self._port)
        while each := self._to_send.get():
            _, at, key = each
            token, sent = self._tokens[at % len(self._tokens)], time.monotonic()
            try:
                answer = connection.ask(self._head + _OWN.format(token=token, key=key) + self._job)
            except (OSError, ValueError, LookupError) as error:
                connection.close()
                self._again_without_answer(error, each)
            else:
                self._settle(each, answer, sent)
        connection.close()

    def _settle(self, each: Due, answer: Answer, sent: float) -> None:
        (due, at, key), now = each, time.monotonic()
        with self._lock:
            if answer.job is not None:
                self.outcome.accepted.append(answer.job)
                self.outcome.delays.append(now - self._begin - at / self._rate)
                self.outcome.last_delays.append(now - due)
                self._open -= 1
                return
            self._note_refusal(answer, now - sent)
            if answer.status == "429":
                heapq.heappush(self._due, (now + (answer.again or _AGAIN), at, key))
            else:
                self._open -= 1

    def _note_refusal(self, answer: Answer, took: float) -> None:
        self.outcome.refused[answer.status] += 1
        self.outcome.unheeded += answer.status == "429" and answer.again is None
        if answer.status == "429":
            self.outcome.refusing.append(took)
            self.outcome.waits.append(answer.again or 0.0)

    def _again_without_answer(self, error: Exception, each: Due) -> None:
        with self._lock:
            self.outcome.silent[type(error).__name__] += 1
            heapq.heappush(self._due, (time.monotonic() + _AGAIN, *each[1:]))


class _Connection:
    """One connection that is kept, of HTTP as much as this takes."""

    def __init__(self, port: int) -> None:
        self._port, self._used = port, 0.0
        self._socket: socket.socket | None = None

    def ask(self, request: str) -> Answer:
        """Raises OSError, and ValueError or LookupError for what is no answer of the portal's."""
        if time.monotonic() - self._used > _IDLE:
            self.close()
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=_PATIENCE)
        self._socket.sendall(request.encode("ascii"))
        self._used = time.monotonic()
        return self._answer(self._socket)

    def close(self) -> None:
        """The next question opens it again."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    def _answer(self, connection: socket.socket) -> Answer:
        data = b""
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += _more(connection)
        head = data[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])}
        body = data[end + 4 :]
        while len(body) < int(headers["content-length"]):
            body += _more(connection)
        status, again = head[0].split()[1], headers.get("retry-after")
        job = json.loads(body)["id"] if status in ("200", "201") else None
        if headers.get("connection", "").lower() == "close":
            self.close()
        return Answer(status, None if again is None else float(again), job)


def _more(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise ConnectionResetError("The server closed the connection.")
    return data
