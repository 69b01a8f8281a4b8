"""Submitting many jobs again at once, each by its own right; those that start after one another do so again."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gridportal.accounts.audit import Subject, audit
from gridportal.accounts.models import AuditEvent, User
from gridportal.base.errors import ConflictError, GridPortalError
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.placing.services.submission import submit_once


@dataclass(frozen=True, slots=True)
class Resubmissions:
    """What became of each. made: the new job by the number of the old one; refused: why not, by that number."""

    made: dict[int, Job] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)


def use_key_once(actor: User, key: uuid.UUID, numbers: Sequence[int]) -> None:
    """Note in the audit trail which jobs this key submits again. Raises ConflictError where it has submitted others."""
    subject = Subject("jobs", str(key), f"jobs {', '.join(map(str, numbers))}"[:200])
    earlier = AuditEvent.objects.filter(object_type=subject.type, object_id=subject.id, actor=actor).first()
    if earlier is None:
        audit(actor, "jobs.resubmit", subject, jobs=list(numbers))
    elif earlier.detail.get("jobs") != list(numbers):
        raise ConflictError(
            f"This request_key has submitted {earlier.object_label} again already; send another key for other jobs."
        )


def resubmit_jobs(actor: User, jobs: Iterable[Job], key: uuid.UUID) -> Resubmissions:
    """Submit each again as a job of this person, oldest first; one that cannot be does not keep the others.

    A job that was to start after another of these starts after that one's new job. The same key twice gives the same
    jobs.
    """
    outcome = Resubmissions()
    for job in sorted(jobs, key=lambda each: each.pk):
        try:
            spec = _again(JobSpec.from_row(job), outcome.made, uuid.uuid5(key, str(job.pk)))
            outcome.made[job.pk] = submit_once(actor, spec, resubmitted_from=job)[0]
        except GridPortalError as error:
            outcome.refused[job.pk] = str(error)
    return outcome


def _again(spec: JobSpec, made: Mapping[int, Job], key: uuid.UUID) -> JobSpec:
    after, after_ok = (
        tuple(made[number].pk if number in made else number for number in numbers)
        for numbers in (spec.after, spec.after_ok)
    )
    return replace(spec, after=after, after_ok=after_ok, request_key=key)
