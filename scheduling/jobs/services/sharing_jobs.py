"""Sharing a job for others to read: with a person, a group, or by a link. See docs/decisions/shared-jobs.md."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import InputError
from scheduling.jobs.models import Job
from scheduling.jobs.services.share_partners import partner
from scheduling.jobs.share_models import JobShare, JobShareVisit

#: So many shares one job has at most.
MOST = 50
MAX_DAYS, USUAL_DAYS = 365, 30


@transaction.atomic
def share_job(owner: User, job: Job, whom: str, *, with_files: bool = False) -> JobShare:
    """Let a person, or a group of the owner's, read it; a second time changes only whether with its files. Raises
    InputError."""
    other = partner(owner, whom)
    name = "person" if isinstance(other, User) else "group"
    if not job.shares.filter(**{name: other}).exists():
        _check_number(job)
    made = {"made_by": owner}
    share, _ = JobShare.objects.update_or_create(
        job=job, **{name: other}, defaults={"with_files": with_files}, create_defaults=made | {"with_files": with_files}
    )
    audit(owner, "job.share", job, whom=whom, files=with_files)
    return share


@transaction.atomic
def make_link(owner: User, job: Job, *, days: int = USUAL_DAYS, with_files: bool = False) -> tuple[JobShare, str]:
    """A link that lasts so many days, and its secret, which cannot be had again. Raises InputError."""
    if not 1 <= days <= MAX_DAYS:
        raise InputError("days", days, f"a whole number from 1 to {MAX_DAYS}")
    _check_number(job)
    secret = secrets.token_urlsafe(32)
    until = timezone.now() + timedelta(days=days)
    share = JobShare.objects.create(
        job=job, digest=_digest(secret), with_files=with_files, made_by=owner, expires_at=until
    )
    audit(owner, "job.share", job, whom="a link", share=share.pk, days=days, files=with_files)
    return share, secret


@transaction.atomic
def stop_sharing_job(actor: User, share: JobShare) -> None:
    """Nobody reads the job any more because of this."""
    audit(actor, "job.unshare", share.job, whom=share.with_whom, share=share.pk)
    share.delete()


def open_link(person: User, secret: str) -> Job | None:
    """The job that a link leads to, which this person may read from now on; None for a secret of no link, or one that
    has expired, or whose maker was switched off."""
    share = JobShare.objects.filter(digest=_digest(secret), made_by__is_active=True).select_related("job").first()
    if share is None or share.is_expired:
        return None
    JobShareVisit.objects.get_or_create(share=share, person=person)
    return share.job


def _check_number(job: Job) -> None:
    if job.shares.count() >= MOST:
        raise InputError("whom", f"number {MOST + 1}", f"at most {MOST} shares: stop one that you no longer need")


def _digest(secret: str) -> str:
    """SHA-256; the secret has 256 random bits, so no salt is needed."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
