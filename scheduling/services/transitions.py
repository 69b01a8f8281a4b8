"""How a job changes state, and how a worker takes a job in hand: both by one conditional UPDATE.

A step is taken by whoever's UPDATE finds the row as it expected it; everyone else learns that it lost and does
nothing. So a step is never doubled, whatever number of workers try and whenever one of them is killed.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from scheduling.core.states import FINAL, JobState, may_follow
from scheduling.models import Job, JobEvent, Run

log = logging.getLogger(__name__)
#: So many workers may be lost over one step of a job before it is given up.
MAX_ATTEMPTS = 3
_FREE = {"lease_until": None, "lease_holder": ""}


def move(
    job: Job,
    to: JobState,
    reason: str = "",
    actor: str = "portal",
    *,
    held_by: str | None = None,
    run: Run | None = None,
    run_fields: dict[str, Any] | None = None,
    **fields: Any,
) -> bool:
    """Take `job` from the state it is known to be in to `to`, with its JobEvent, in one transaction.

    False, and nothing written, when the move is not allowed, somebody else moved the job first, or `held_by` no
    longer holds its lease. `run` mirrors the state; `run_fields` and `fields` are written along with it.
    """
    known = JobState(job.state)
    if not may_follow(known, to):
        return False
    changes: dict[str, Any] = {"state": to.value, "reason": reason, **fields}
    now = timezone.now()
    if to in FINAL:
        changes |= {"ended_at": now, **_FREE}
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
    log.info("job %s: %s to %s by %s%s", job.pk, known, to, actor, f" ({reason})" if reason else "")
    return True


def _mirror(run: Run, to: JobState, reason: str, fields: dict[str, Any]) -> None:
    changes = {"state": to.value, "reason": reason, **fields}
    Run.objects.filter(pk=run.pk).update(**changes)
    for name, value in changes.items():
        setattr(run, name, value)


def take(job_id: int, states: Iterable[JobState]) -> Job | None:
    """Take a job that nobody has in hand, for KNOBS.lease_seconds; None when it is not to be had."""
    now = timezone.now()
    taken = Job.objects.filter(
        Q(lease_until=None) | Q(lease_until__lt=now), pk=job_id, state__in=[state.value for state in states]
    ).update(lease_until=_lease_end(), lease_holder=uuid.uuid4().hex, attempts=F("attempts") + 1)
    if not taken:
        return None
    return Job.objects.select_related("application", "owner").get(pk=job_id)


def renew(job: Job) -> bool:
    """Hold the job for another lease; False when somebody else has it by now."""
    return bool(Job.objects.filter(pk=job.pk, lease_holder=job.lease_holder).update(lease_until=_lease_end()))


def release(job: Job, **fields: Any) -> bool:
    """Let go of a job in good order, so that `attempts` counts lost workers only."""
    rows = Job.objects.filter(pk=job.pk, lease_holder=job.lease_holder).exclude(lease_holder="")
    return bool(rows.update(**_FREE, attempts=0, **fields))


def _lease_end() -> Any:
    return timezone.now() + timedelta(seconds=settings.KNOBS.lease_seconds)
