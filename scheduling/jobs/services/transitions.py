"""How a job changes state: by one conditional UPDATE.

A step is taken by whoever's UPDATE finds the row as it expected it; everyone else learns that it lost and does
nothing. So a step is never doubled, whatever number of workers try and whenever one of them is killed.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Case, Model, Value, When
from django.utils import timezone

from gridportal.base.reasons import NOTHING, Reason
from scheduling.jobs.core.states import FINAL, JobState, may_follow
from scheduling.jobs.models import Job, JobEvent
from scheduling.jobs.services.leases import FREED, still_leased

log = logging.getLogger(__name__)
#: So many workers may be lost over one step of a job before it is given up.
MAX_ATTEMPTS = 3


def move(
    job: Job,
    to: JobState,
    reason: Reason = NOTHING,
    actor: str = "portal",
    *,
    held_by: str | None = None,
    run: Model | None = None,
    run_fields: dict[str, Any] | None = None,
    **fields: Any,
) -> bool:
    """Take `job` from the state it is known to be in to `to`, with its JobEvent, in one transaction.

    False, and nothing written, when the move is not allowed, somebody else moved the job first, or `held_by` no
    longer holds its lease. `run`, the job's present Run, mirrors the state; `run_fields` and `fields` are
    written along with it.
    """
    known = JobState(job.state)
    if not may_follow(known, to):
        return False
    changes: dict[str, Any] = {"state": to.value, "reason": reason, **fields}
    now = timezone.now()
    if to in FINAL:
        changes |= final_changes(now)
    with transaction.atomic():
        rows = Job.objects.filter(pk=job.pk, state=known.value)
        if held_by is not None:
            rows = rows.filter(lease_holder=held_by)
        if not rows.update(**changes):
            return False
        JobEvent.objects.create(job_id=job.pk, from_state=known.value, to_state=to.value, reason=reason, actor=actor)
        if run is not None:
            _mirror(run, to, reason, run_fields or {})
    for name, value in changes.items():
        setattr(job, name, value)
    log.info("job %s: %s to %s by %s %s", job.pk, known, to, actor, reason.dump())
    return True


def final_changes(now: datetime) -> dict[str, Any]:
    """The columns of a job that every final state changes besides."""
    return {"ended_at": now, **FREED}


def _mirror(run: Model, to: JobState, reason: Reason, fields: dict[str, Any]) -> None:
    changes = {"state": to.value, "reason": reason, **fields}
    type(run)._default_manager.filter(pk=run.pk).update(**changes)
    for name, value in changes.items():
        setattr(run, name, value)


def move_all(
    jobs: Sequence[Job], to: JobState, reasons: Mapping[int, Reason] | Reason = NOTHING, **fields: Any
) -> set[int]:
    """As `move` for jobs that one worker leases, in a handful of statements; the ids of those that were moved.

    `reasons`: one for all, or by id. Not for final states, which free the lease.
    """
    by_job = reasons if isinstance(reasons, Mapping) else {job.pk: reasons for job in jobs}
    with transaction.atomic():
        mine = still_leased(jobs)
        moved = [job for job in jobs if job.pk in mine and may_follow(JobState(job.state), to)]
        if moved:
            changes = {"state": to.value, "reason": _by_job(moved, by_job), **fields}
            Job.objects.filter(pk__in=[job.pk for job in moved]).update(**changes)
            JobEvent.objects.bulk_create(
                JobEvent(job_id=job.pk, from_state=job.state, to_state=to.value, reason=by_job[job.pk]) for job in moved
            )
    for job in moved:
        log.info(
            "job %s: %s to %s by portal%s",
            job.pk,
            job.state,
            to,
            f" ({by_job[job.pk].dump()})" if by_job[job.pk] else "",
        )
        for name, value in {"state": to.value, "reason": by_job[job.pk], **fields}.items():
            setattr(job, name, value)
    return {job.pk for job in moved}


def _by_job(jobs: Sequence[Job], reasons: Mapping[int, Reason]) -> Any:
    alike: dict[Reason, list[int]] = {}
    for job in jobs:
        alike.setdefault(reasons[job.pk], []).append(job.pk)
    if len(alike) == 1:
        return next(iter(alike))
    return Case(*(When(pk__in=ids, then=Value(reason.dump())) for reason, ids in alike.items()))
