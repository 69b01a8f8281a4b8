"""Input files of jobs: taken in, counted for who brings them, and let go. See docs/decisions/job-inputs.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Protocol

from django.conf import settings
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import ConflictError, InputError
from scheduling.jobs.core.input_files import InputFile, check_name, check_together, size_text
from scheduling.jobs.input_models import JobInput, StoredInput
from scheduling.jobs.models import Job
from scheduling.jobs.services import input_store

#: For so long a file is kept that no job needs: it was sent with a form that was refused, and may come again.
_UNUSED = timedelta(hours=1)


class Upload(Protocol):
    """A file as Django hands it over."""

    name: str | None
    size: int | None

    def chunks(self) -> Iterator[bytes]:
        """Its content in pieces, from the beginning each time."""


def used_by(person: User) -> int:
    """Bytes that the input files of a person take."""
    return StoredInput.objects.filter(owner=person.pk).aggregate(total=Sum("size"))["total"] or 0


def receive(person: User, files: Sequence[Upload]) -> tuple[InputFile, ...]:
    """Keep what a person sends with a job. Raises InputError for a name, a number or a size that cannot be, and where
    the person's files take too much; nothing is kept then."""
    named = [(check_name(str(file.name or "")), file) for file in files]
    check_together([InputFile(name, "", file.size or 0) for name, file in named], settings.PORTAL.job_input_bytes)
    written = list[input_store.WrittenPart]()
    try:
        written.extend(input_store.write(file.chunks()) for file in files)
        kept = tuple(InputFile(name, part.digest, part.size) for (name, _), part in zip(named, written, strict=True))
        _check_quota(person, sum(each.size for each in _not_mine(person, kept)))
        for part in written:
            part.keep()
    finally:
        for part in written:
            part.discard()
    _own(person, kept)
    return kept


def check_inputs(person: User, inputs: Sequence[InputFile], source: Job | None) -> None:
    """Whether a person may bring these: the own ones, and those of a job whose files the person may read. Such a one
    counts for the person from now on. Raises InputError."""
    if not inputs:
        return
    check_together(inputs, settings.PORTAL.job_input_bytes)
    others = _not_mine(person, inputs)
    if not others:
        return
    kept = _kept_of(source) if source and person.has_perm("scheduling.read_job_files", source) else set()
    if strange := next((each for each in others if each.digest not in kept), None):
        raise InputError("inputs", strange.name, "a file that is still kept and that you may read; send it anew")
    _own(person, others)


def attach(job: Job, inputs: Sequence[InputFile]) -> None:
    """Keep them as long as the job needs them; inside the transaction that makes the job. Raises InputError for one
    that was let go of meanwhile."""
    if not inputs:
        return
    rows = StoredInput.objects.select_for_update().filter(
        owner=job.owner_id, digest__in={each.digest for each in inputs}
    )
    stored = {row.digest: row for row in rows}
    if gone := next((each for each in inputs if each.digest not in stored), None):
        raise InputError("inputs", gone.name, "a file that is still kept; send it anew")
    JobInput.objects.bulk_create(JobInput(job=job, stored=row) for row in stored.values())


def are_kept(job: Job) -> bool:
    """Whether the files that came with a job can be had for another one."""
    return bool(job.inputs) and {each["digest"] for each in job.inputs} <= _kept_of(job)


@transaction.atomic
def remove_inputs(actor: User, job: Job) -> None:
    """Let go of the files that came with a job which is over, so that they count no more. What lies in the folders of
    its runs stays. Raises ConflictError while it is not over."""
    if not job.is_final:
        raise ConflictError(f"Job {job.pk} still needs its input files: it is {job.state}.")
    rows = JobInput.objects.filter(job=job)
    StoredInput.objects.filter(jobs__in=rows).update(used_at=timezone.now() - _UNUSED)
    rows.delete()
    audit(actor, "job.remove_inputs", job)
    _forget_rows()


def forget_unused() -> int:
    """Let go of what no job needs; how many contents were removed from the disk."""
    _forget_rows()
    return input_store.forget_unneeded(_needed, _UNUSED.total_seconds())


def _forget_rows() -> None:
    StoredInput.objects.filter(jobs__isnull=True, used_at__lte=timezone.now() - _UNUSED).delete()


def _needed(digests: Iterable[str]) -> set[str]:
    return set(StoredInput.objects.filter(digest__in=list(digests)).values_list("digest", flat=True))


def _kept_of(job: Job) -> set[str]:
    return set(JobInput.objects.filter(job=job).values_list("stored__digest", flat=True))


@transaction.atomic
def _own(person: User, inputs: Sequence[InputFile]) -> None:
    """Count contents for a person from now on. Raises InputError where that is too much."""
    User.objects.select_for_update().get(pk=person.pk)  # two submissions at once do not both find the last room
    _check_quota(person, sum(each.size for each in _not_mine(person, inputs)))
    for each in inputs:
        now = {"size": each.size, "used_at": timezone.now()}
        StoredInput.objects.update_or_create(owner=person, digest=each.digest, defaults=now)


def _not_mine(person: User, inputs: Sequence[InputFile]) -> list[InputFile]:
    """One of each content that does not count for the person yet."""
    wanted = {each.digest: each for each in inputs}
    mine = set(StoredInput.objects.filter(owner=person.pk, digest__in=wanted).values_list("digest", flat=True))
    return [each for digest, each in wanted.items() if digest not in mine]


def _check_quota(person: User, more: int) -> None:
    used, most = used_by(person), settings.PORTAL.person_input_bytes
    if used + more > most:
        left = size_text(max(0, most - used))
        accepted = (
            f"at most {left}: your input files take {size_text(used)} of {size_text(most)}. Remove those of old jobs"
        )
        raise InputError("inputs", size_text(more), accepted)
