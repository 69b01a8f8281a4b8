"""gunicorn's worker with threads, without its habit of writing into files of others, and with a heartbeat.

gunicorn 27.0.1 closes the pipe that wakes its loop while threads may still answer requests: when the time for a
graceful end is over it closes the pipe, and the interpreter then waits for the threads. Each thread that ends writes a
byte to the pipe's old number, which by then may be its own connection to the database, or a file of SQLite.
See docs/decisions/web-server.md and tests/gridportal/serve/test_web_worker.py.
"""

from __future__ import annotations

import time
from typing import Any

from gunicorn.workers.gthread import PollableMethodQueue, TConn, ThreadWorker

from gridportal.base.heartbeat import beat
from gridportal.base.threads_at_work import ThreadsAtWork
from gridportal.web import request_wait

_LONGEST_REQUEST = 600.0  # seconds; where all threads take longer the worker is started again


class OpenMethodQueue(PollableMethodQueue):
    """A queue whose pipe stays open until the kernel closes it with the process: nobody else can get its number."""

    def close(self) -> None:
        """Do nothing: a thread may still come."""


class Worker(ThreadWorker):
    """What `--worker-class` names."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.method_queue = OpenMethodQueue()
        self.requests = ThreadsAtWork(self.cfg.threads)

    def notify(self) -> None:
        """gunicorn's loop calls this each round, at least once a second."""
        super().notify()
        if not self.requests.are_jammed(time.monotonic(), _LONGEST_REQUEST):
            beat()

    def enqueue_req(self, conn: TConn) -> None:
        """A request waits for a thread from now on."""
        conn.waiting_since = time.monotonic()  # type: ignore[attr-defined]  # ours, until a thread takes it up
        super().enqueue_req(conn)

    def handle(self, conn: TConn) -> bool:
        """A thread has taken it up."""
        now = time.monotonic()
        request_wait.note(now - conn.waiting_since, now)  # type: ignore[attr-defined]  # set by enqueue_req
        self.requests.begin(conn, now)
        try:
            return super().handle(conn)
        finally:
            self.requests.end(conn)
