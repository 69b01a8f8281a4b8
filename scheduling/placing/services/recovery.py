"""What keeps jobs going when a worker is killed, a message is lost, or what a job waits for has come."""

from __future__ import annotations

import logging

from django.utils import timezone

from gridportal.base.reasons import Code, Reason
from scheduling.jobs.core.states import PENDING, JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services import leases
from scheduling.jobs.services.advance import advance
from scheduling.jobs.services.dependencies import settle_dependencies, tell_what_is_waited_for
from scheduling.jobs.services.leases import MAX_ATTEMPTS
from scheduling.placing.services.placing import give_up
from scheduling.placing.services.project_checks import settle_projects
from scheduling.placing.services.rounds import place_and_start_all
from scheduling.placing.services.trial_steps import advance_trials
from scheduling.runs.core.run_states import RunState
from scheduling.runs.services.starting import start_runs

log = logging.getLogger(__name__)


def advance_jobs() -> int:
    """Take every job a step on that nobody has leased; how many were handed to a backend.

    Placing with a lease that ran out: back to queued, and failed after three lost workers. Waiting for other jobs, or
    for node-hours of a project: queued once these are over, or there. Queued or waiting: placed when it fits, oldest
    first. Starting: submitted again under the same key. Trying: see services.trying. Running ones are poll_runs's
    matter.
    """
    _recall_lost()
    settle_dependencies()
    settle_projects()
    started = sum(place_and_start_all(cluster) for cluster in _clusters_with_pending())
    started += start_runs(_to_start()) + advance_trials()
    tell_what_is_waited_for()
    return started


def _recall_lost() -> None:
    lost = Job.objects.filter(leases.over(timezone.now()), state=JobState.PLACING)
    for job in lost:
        log.warning("job %s: its worker was lost while placing it (attempt %s)", job.pk, job.attempts)
        if job.attempts >= MAX_ATTEMPTS:
            give_up(job)
        else:
            advance(job, JobState.QUEUED, reason=Reason.of(Code.WORKER_LOST), holder=job.lease_holder)


def _clusters_with_pending() -> list[str]:
    pending = Job.objects.filter(state__in=PENDING, held_back=False).exclude(state=JobState.PLACING)
    return list(pending.order_by("cluster").values_list("cluster", flat=True).distinct())


def _to_start() -> list[int]:
    rows = Job.objects.filter(state=JobState.STARTING, runs__state=RunState.PREPARED)
    free = rows.filter(leases.over(timezone.now()))
    return list(free.order_by("pk").values_list("pk", flat=True).distinct())
