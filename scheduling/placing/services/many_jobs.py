"""Cancelling many jobs at once, each by its own permission."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gridportal.accounts.models import User
from gridportal.base.errors import GridPortalError
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.placing.services.submission import cancel_job


@dataclass(frozen=True, slots=True)
class Cancellations:
    """What became of each job. stopping: their programs are to be stopped by tasks.cancel_run; over: there was nothing
    to cancel; forbidden: they are somebody else's; refused: why, by the number of the job."""

    cancelled: list[int] = field(default_factory=list)
    stopping: list[int] = field(default_factory=list)
    over: list[int] = field(default_factory=list)
    forbidden: list[int] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)


def cancel_jobs(actor: User, jobs: Iterable[Job]) -> Cancellations:
    """Cancel each job that this person may cancel; one that cannot be cancelled does not keep the others."""
    outcome = Cancellations()
    for job in jobs:
        if not actor.has_perm("scheduling.cancel_job", job):
            outcome.forbidden.append(job.pk)
            continue
        try:
            _note(outcome, job.state, cancel_job(actor, job))
        except GridPortalError as error:
            outcome.refused[job.pk] = str(error)
    return outcome


def _note(outcome: Cancellations, before: str, job: Job) -> None:
    if job.state == before or JobState(job.state) not in (JobState.CANCELLED, JobState.CANCELLING):
        outcome.over.append(job.pk)
    elif job.state == JobState.CANCELLING:
        outcome.stopping.append(job.pk)
    else:
        outcome.cancelled.append(job.pk)
