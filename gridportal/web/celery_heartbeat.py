"""The loops of Celery's worker and beat count their rounds for the supervisor.

The worker's pool is threads, in which Celery's time limits do not work: a worker all of whose threads have been at one
task each for longer than the limit counts no more, and is started again.
"""

from __future__ import annotations

from typing import Any

from celery.beat import Scheduler as CelerysScheduler
from celery.worker.consumer import Consumer as CelerysConsumer

from gridportal.base.heartbeat import beat
from gridportal.web import worker_load

_EVERY = 1.0  # seconds


class Consumer(CelerysConsumer):
    """The worker's main loop."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        worker_load.set_threads(self.pool.limit or 1)

    def register_with_event_loop(self, hub: Any) -> None:
        """The loop over a broker that has a socket calls us by its timer."""
        super().register_with_event_loop(hub)
        hub.call_repeatedly(_EVERY, self.count)

    def perform_pending_operations(self) -> None:
        """The loop over a broker of files calls this each time."""
        self.count()
        super().perform_pending_operations()

    def count(self) -> None:
        """One round, unless the pool below is jammed."""
        if not worker_load.is_jammed(self.app.conf.task_time_limit):
            beat()


class Scheduler(CelerysScheduler):
    """Beat's loop. The schedule is code with short intervals: nothing is kept over restarts."""

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """One round."""
        beat()
        return float(super().tick(*args, **kwargs))
