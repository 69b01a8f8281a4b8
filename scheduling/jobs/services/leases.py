"""A worker's lease of jobs: nobody else changes them until it releases them, or dies and one lease has passed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.db.models import F
from django.utils import timezone

from gridportal.base.lease import Lease
from gridportal.database.row_lease import RowLease, of_workers
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job

#: So many workers may be lost over one step of a job before it is given up.
MAX_ATTEMPTS = 3
#: Until a job that its cluster does not take yet is submitted again, nobody may acquire it.
PAUSE = timedelta(seconds=30)

_lease = RowLease(Job, "lease", lambda: Lease(of_workers().lasting, PAUSE))
#: The columns of a job that nobody leases.
FREED = _lease.freed
over, is_over, silent_since = _lease.over, _lease.is_over, _lease.silent_since
renew, keep = _lease.renew, _lease.keep


def acquire(job_id: int, states: Iterable[JobState]) -> Job | None:
    """Lease a job that nobody leases; None when it is not to be had."""
    return next(iter(acquire_all([job_id], states)), None)


def acquire_all(job_ids: Sequence[int], states: Iterable[JobState]) -> list[Job]:
    """Lease those of some jobs that nobody leases, all for one holder; oldest first. Counts an attempt of each."""
    rows = Job.objects.filter(pk__in=job_ids)
    holder = _lease.acquire(rows.filter(state__in=[state.value for state in states]), attempts=F("attempts") + 1)
    if not holder:
        return []
    return list(rows.filter(lease_holder=holder).prefetch_related("application", "owner").order_by("pk"))


def release(job: Job, **fields: Any) -> bool:
    """End the lease in good order, so that `attempts` counts lost workers only."""
    return bool(release_all([job], **fields))


def release_all(jobs: Sequence[Job], **fields: Any) -> int:
    """The same for jobs of one holder; how many it still had."""
    if not jobs:
        return 0
    rows = Job.objects.filter(pk__in=[job.pk for job in jobs])
    return _lease.release(jobs[0].lease_holder, rows, attempts=0, **fields)


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
