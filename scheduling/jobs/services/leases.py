"""A worker's lease of jobs: nobody else changes them until it releases them, or dies and one lease has passed.

Each step is one conditional UPDATE, so that of two workers one gets the job. A worker that was held up past the end of
its lease finds that it no longer has it: what it then writes under its lease changes nothing.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import F, Q
from django.utils import timezone

from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job

#: Until a job that its cluster does not take yet is submitted again, nobody may acquire it.
PAUSE = timedelta(seconds=30)
#: The columns of a job that nobody leases.
FREED: dict[str, Any] = {"lease_until": None, "lease_holder": ""}


def acquire(job_id: int, states: Iterable[JobState]) -> Job | None:
    """Lease a job that nobody leases, for KNOBS.lease_seconds; None when it is not to be had."""
    return next(iter(acquire_all([job_id], states)), None)


def acquire_all(job_ids: Sequence[int], states: Iterable[JobState]) -> list[Job]:
    """Lease those of some jobs that nobody leases, all for one holder; oldest first."""
    now, holder = timezone.now(), uuid.uuid4().hex
    rows = Job.objects.filter(over(now), pk__in=job_ids, state__in=[state.value for state in states])
    if not rows.update(lease_until=_end(), lease_holder=holder, attempts=F("attempts") + 1):
        return []
    mine = Job.objects.prefetch_related("application", "owner").filter(pk__in=job_ids, lease_holder=holder)
    return list(mine.order_by("pk"))


def renew(holder: str) -> bool:
    """Extend the lease of all jobs of this holder; False when it has none any more."""
    return bool(holder and Job.objects.filter(lease_holder=holder).update(lease_until=_end()))


def release(job: Job, **fields: Any) -> bool:
    """End the lease in good order, so that `attempts` counts lost workers only."""
    return bool(release_all([job], **fields))


def release_all(jobs: Sequence[Job], **fields: Any) -> int:
    """The same for jobs of one holder; how many it still had."""
    if not jobs:
        return 0
    rows = Job.objects.filter(pk__in=[job.pk for job in jobs], lease_holder=jobs[0].lease_holder)
    return rows.exclude(lease_holder="").update(**FREED, attempts=0, **fields)


def pause(job: Job, **fields: Any) -> None:
    """Release a job, and let nobody acquire it for a while: hundreds may wait for the same."""
    if release(job, **fields):
        rows = Job.objects.filter(pk=job.pk, state=job.state, lease_holder="")
        rows.update(lease_until=timezone.now() + PAUSE)


def still_leased(jobs: Sequence[Job]) -> set[int]:
    """Which of these jobs are still in the state they are known to be in, and leased by who is known to lease them.

    Inside a transaction, until whose end they stay so.
    """
    if not jobs:
        return set()
    rows = Job.objects.select_for_update().filter(pk__in=[job.pk for job in jobs]).order_by("pk")
    found = {pk: rest for pk, *rest in rows.values_list("pk", "state", "lease_holder")}
    return {job.pk for job in jobs if job.lease_holder and found.get(job.pk) == [job.state, job.lease_holder]}


@contextmanager
def keep(holder: str) -> Iterator[None]:
    """Renew the lease of all jobs of this holder every third of it, until the block ends or the process dies.

    A worker that is killed stops renewing, so others acquire its jobs one lease later; one that measures a large
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


def over(now: datetime, field: str = "lease_until", lasting: timedelta | None = None) -> Q:
    """Rows whose lease is over at `now`. One that would last twice as long as any does (`lasting`; default: a job's)
    was acquired before the clock was set back: who held it may be dead, and would hold it until the clock has caught
    up. Twice, since another worker may have acquired it a moment after `now`."""
    latest = now + 2 * (_longest() if lasting is None else lasting)
    return Q(**{field: None}) | Q(**{f"{field}__lt": now}) | Q(**{f"{field}__gt": latest})


def is_over(until: datetime | None, now: datetime) -> bool:
    """The same of one job's lease."""
    return until is None or not now < until <= now + 2 * _longest()


def _keep(holder: str, done: threading.Event) -> None:
    try:
        while not done.wait(settings.KNOBS.lease_seconds / 3):
            if not renew(holder):
                return
    finally:
        connection.close()


def _end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.KNOBS.lease_seconds)


def _longest() -> timedelta:
    """The longest time for which a job can be kept from others at once."""
    return max(timedelta(seconds=settings.KNOBS.lease_seconds), PAUSE)
