"""What this worker's threads are at, and whether more waits for them than they can do."""

from __future__ import annotations

import time

from celery import signals
from celery.worker import state

from gridportal.base.threads_at_work import ThreadsAtWork

_tasks = ThreadsAtWork(size=1)


def set_threads(count: int) -> None:
    """The worker has so many."""
    _tasks.size = count


def is_jammed(longest: float) -> bool:
    """Whether every thread has been at one task for longer than `longest` seconds."""
    return _tasks.are_jammed(time.monotonic(), longest)


def is_behind() -> bool:
    """Whether more tasks wait here than there are threads: what can wait should."""
    return len(state.reserved_requests) - len(state.active_requests) > _tasks.size


@signals.task_prerun.connect
def _begin(task_id: str, **_: object) -> None:
    _tasks.begin(task_id, time.monotonic())


@signals.task_postrun.connect
def _end(task_id: str, **_: object) -> None:
    _tasks.end(task_id)
