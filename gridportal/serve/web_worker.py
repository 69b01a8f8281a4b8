"""gunicorn's worker with threads, without its habit of writing into files of others.

gunicorn 27.0.1 closes the pipe that wakes its loop while threads may still answer requests: when the time for a
graceful end is over it closes the pipe, and the interpreter then waits for the threads. Each thread that ends writes a
byte to the pipe's old number, which by then may be its own connection to the database, or a file of SQLite.
See docs/decisions/web-server.md and tests/gridportal/serve/test_web_worker.py.
"""

from __future__ import annotations

from gunicorn.workers.gthread import PollableMethodQueue, ThreadWorker


class OpenMethodQueue(PollableMethodQueue):
    """A queue whose pipe stays open until the kernel closes it with the process: nobody else can get its number."""

    def close(self) -> None:
        """Do nothing: a thread may still come."""


class Worker(ThreadWorker):
    """What `--worker-class` names."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.method_queue = OpenMethodQueue()
