"""Keeping a job in hand while something slow is done for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection

from scheduling.models import Job
from scheduling.services.transitions import renew


@contextmanager
def held(job: Job) -> Iterator[None]:
    """Renew the job's lease every third of it, until the block ends or the process dies.

    A worker that is killed stops renewing, so its job is taken over one lease later; one that measures a large
    network for minutes is not taken for dead.
    """
    done = threading.Event()
    keeper = threading.Thread(target=_keep, args=(job, done), name=f"lease-of-job-{job.pk}", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        done.set()
        keeper.join()


def _keep(job: Job, done: threading.Event) -> None:
    try:
        while not done.wait(settings.KNOBS.lease_seconds / 3):
            if not renew(job):
                return
    finally:
        connection.close()
