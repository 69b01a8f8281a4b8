"""What can be done with many chosen jobs at once, and with which of them it cannot, before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gridportal.accounts.models import User
from gridportal.base.errors import GridPortalError
from monitoring.clusters.selectors import setting
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services.program_clusters import check_use


class Deed(StrEnum):
    """What is done with each of them."""

    CANCEL = "cancel"
    RESUBMIT = "resubmit"


@dataclass(frozen=True, slots=True)
class ChosenJobs:
    """able: those that it can be done with; unable: the others, each with the reason in words."""

    able: list[Job]
    unable: list[tuple[Job, str]]

    @property
    def is_mixed(self) -> bool:
        """Whether some of them can and some cannot."""
        return bool(self.able and self.unable)


def chosen_jobs(person: User, deed: Deed, jobs: Iterable[Job]) -> ChosenJobs:
    """Each by its own permission and state."""
    found = ChosenJobs([], [])
    for job in jobs:
        if why := _HINDRANCES[deed](person, job):
            found.unable.append((job, why))
        else:
            found.able.append(job)
    return found


def _cannot_cancel(person: User, job: Job) -> str:
    if job.is_final or job.state == JobState.CANCELLING:
        return "is being cancelled already" if job.state == JobState.CANCELLING else f"is over: {job.state}"
    if not person.has_perm("scheduling.cancel_job", job):
        return f"belongs to {job.owner}; only its owner or an operator may cancel it"
    return ""


def _cannot_resubmit(person: User, job: Job) -> str:
    if not person.has_perm("scheduling.submit_job"):
        return "is only read by your role, which submits no jobs"
    if not job.application.enabled:
        return f"runs {job.application.name}, which is switched off"
    if job.unreadable:
        return "has requirements that cannot be read any more"
    try:
        check_use(person, job.application, setting(job.cluster))
    except GridPortalError as error:
        return f"cannot be submitted by you: {error}"
    return ""


_HINDRANCES: Mapping[Deed, Callable[[User, Job], str]] = {Deed.CANCEL: _cannot_cancel, Deed.RESUBMIT: _cannot_resubmit}
