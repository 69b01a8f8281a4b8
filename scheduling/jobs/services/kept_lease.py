"""Keeping jobs in hand while something slow is done for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection

from scheduling.jobs.services.transitions import renew


@contextmanager
def held(holder: str) -> Iterator[None]:
    """Renew the lease of all jobs of this holder every third of it, until the block ends or the process dies.

    A worker that is killed stops renewing, so its jobs are taken over one lease later; one that measures a large
    network for minutes is not taken for dead.
    """
    done = threading.Event()
    keeper = threading.Thread(target=_keep, args=(holder, done), name=f"lease-{holder}", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        done.set()
        keeper.join()


def _keep(holder: str, done: threading.Event) -> None:
    try:
        while not done.wait(settings.KNOBS.lease_seconds / 3):
            if not renew(holder):
                return
    finally:
        connection.close()
