"""Submissions over REST at a fixed rate, whatever the portal answers: an open loop.

Every submission has the moment at which it is due; what it waits for a free connection counts as its delay, too, so a
portal that stalls cannot hide it by receiving less. A 429 is obeyed: the same is sent again after Retry-After.
"""

from __future__ import annotations

import heapq
import http.client
import json
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


@dataclass
class Outcome:
    """What the portal answered. `accepted`: job numbers; `delays`: of these, seconds since they were due; `refused`:
    how often which answer came instead; `silent`: how often which way a connection broke, after which the same was
    sent again under the same key."""

    accepted: list[int] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    silent: Counter[str] = field(default_factory=Counter)
    unheeded: int = 0  # 429 without Retry-After
    seconds: float = 0.0

    def percentile(self, share: float) -> float:
        """Of the delays, seconds."""
        delays = sorted(self.delays)
        return delays[min(len(delays) - 1, int(share * len(delays)))] if delays else 0.0


class Submissions:
    """`rate` submissions a second for `seconds`, of the people of these tokens in turn."""

    def __init__(self, port: int, tokens: Sequence[str], job: dict[str, object], rate: float, seconds: float) -> None:
        self.outcome = Outcome()
        self._port, self._tokens, self._job = port, tokens, json.dumps(job)
        self._lock = threading.Condition()
        begin = time.monotonic() + 1.0
        count = int(rate * seconds)
        self._due = [(begin + at / rate, at, str(uuid.uuid4())) for at in range(count)]
        self._open = count
        self._begin = begin

    def run(self) -> Outcome:
        """Send all of them; returns once each was accepted, or refused for good."""
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(_CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.outcome.seconds = time.monotonic() - self._begin
        return self.outcome

    def _work(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_PATIENCE)
        used = time.monotonic()
        while (each := self._next()) is not None:
            due, at, key = each
            if time.monotonic() - used > _IDLE:
                connection.close()  # the next request opens it again
            used = time.monotonic()
            try:
                status, again, number = self._send(connection, at, key)
            except (OSError, http.client.HTTPException, ValueError) as error:
                connection.close()
                self._again_without_answer(error, at, key)
            else:
                self._settle(due, at, key, status, again, number)
        connection.close()

    def _next(self) -> tuple[float, int, str] | None:
        with self._lock:
            while self._open:
                wait = self._due[0][0] - time.monotonic() if self._due else 1.0
                if wait <= 0:
                    return heapq.heappop(self._due)
                self._lock.wait(min(wait, 1.0))
            return None

    def _send(self, connection: http.client.HTTPConnection, at: int, key: str) -> tuple[str, float | None, int | None]:
        token = self._tokens[at % len(self._tokens)]
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Idempotency-Key": key}
        connection.request("POST", "/api/jobs", self._job, headers)
        answer = connection.getresponse()
        document = json.loads(answer.read())
        again = answer.headers.get("Retry-After")
        number = document["id"] if answer.status in (200, 201) else None
        return str(answer.status), None if again is None else float(again), number

    def _settle(self, due: float, at: int, key: str, status: str, again: float | None, number: int | None) -> None:
        now = time.monotonic()
        with self._lock:
            if number is not None:
                self.outcome.accepted.append(number)
                self.outcome.delays.append(now - due)
            else:
                self._refused(at, key, status, again, now)
            self._open -= number is not None or (again is None and status != "429")
            self._lock.notify_all()

    def _refused(self, at: int, key: str, status: str, again: float | None, now: float) -> None:
        self.outcome.unheeded += status == "429" and again is None
        self.outcome.refused[status] += 1
        if again is not None or status == "429":
            heapq.heappush(self._due, (now + (again or _AGAIN), at, key))

    def _again_without_answer(self, error: Exception, at: int, key: str) -> None:
        with self._lock:
            self.outcome.silent[type(error).__name__] += 1
            heapq.heappush(self._due, (time.monotonic() + _AGAIN, at, key))
