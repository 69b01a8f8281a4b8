"""Jobs that start after others: checked when they are submitted, held back until then, and let go or ended.

A job that is held back waits outside the line of its cluster, so that its nodes are chosen by the figures of the moment
at which it can start. See docs/decisions/jobs-after-jobs.md.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from django.db import transaction
from django.utils import timezone

from gridportal.accounts.models import User
from gridportal.base.errors import InputError
from gridportal.base.reasons import Code, Reason
from scheduling.jobs.core.dependency import Prospect, check_count
from scheduling.jobs.core.states import FINAL, JobState
from scheduling.jobs.dependency_models import JobDependency
from scheduling.jobs.models import Job
from scheduling.jobs.selectors import Before, befores_of, viewable_jobs, waiting_reason
from scheduling.jobs.services.advance import advance
from scheduling.jobs.services.job_spec import JobSpec

log = logging.getLogger(__name__)
#: Of so many of the oldest jobs the stored reason says in which state the others are.
_TOLD = 64
_FINAL = [state.value for state in FINAL]


def check_dependencies(owner: User, request: JobSpec) -> list[Before]:
    """The jobs that it is to start after. Raises InputError for one that this person cannot see, in the same words as
    for one that there is not; for one that cannot succeed any more; and for too many."""
    return check_numbers(owner, request.after, request.after_ok)


def check_numbers(owner: User, after: Sequence[int], after_ok: Sequence[int]) -> list[Before]:
    """The same of numbers alone, where the rest of the request cannot be read."""
    after, after_ok = check_count("after", after), check_count("after_ok", after_ok)
    if not (after or after_ok):
        return []
    states = dict(viewable_jobs(owner).filter(pk__in={*after, *after_ok}).values_list("pk", "state"))
    for field, numbers in (("after", after), ("after_ok", after_ok)):
        if unknown := next((number for number in numbers if number not in states), None):
            raise InputError(field, unknown, "the number of a job that you can see")
    found = [Before(number, number in after_ok, states[number]) for number in sorted({*after, *after_ok})]
    for before in found:
        if before.prospect is Prospect.NEVER:
            raise InputError("after_ok", f"{before.on}, {before.state}", "a job that has succeeded or is not over")
    return found


def hold_back(job: Job, befores: Sequence[Before], hold: Reason) -> None:
    """Write down what a new job waits for, and keep it out of the line while any of that is open, or where there is
    another reason (`hold`). Inside the transaction that makes the job."""
    JobDependency.objects.bulk_create(
        JobDependency(job=job, on_id=before.on, only_ok=before.only_ok) for before in befores
    )
    if reason := waiting_reason(befores) or hold:
        advance(job, JobState.WAITING, reason=reason, held_back=True)


def settle_dependencies() -> int:
    """Let the jobs go whose others are over, and end those of which one can never be met; how many. One that ends may
    end others, so again until nothing changes."""
    changed = 0
    while settled := sum(_settle(job, befores) for job, befores in _to_settle()):
        changed += settled
    return changed


def _to_settle() -> Iterator[tuple[int, list[Before]]]:
    """The jobs that are held back of whose others one at least is over, oldest first."""
    rows = JobDependency.objects.filter(job__held_back=True, on__state__in=_FINAL)
    yield from befores_of(rows.order_by("job_id").values_list("job_id", flat=True).distinct()).items()


def _settle(number: int, befores: Sequence[Before]) -> bool:
    never = next((before for before in befores if before.prospect is Prospect.NEVER), None)
    if never is None and any(before.prospect is Prospect.OPEN for before in befores):
        return False
    with transaction.atomic():
        job = Job.objects.select_for_update().filter(pk=number, held_back=True).first()
        if job is None or job.reason.code is Code.BUDGET_WAITS:  # these are over, and it waits for something else
            return False
        if never is not None:
            why = Reason.of(Code.AFTER_NEVER, job=never.on, state=never.state_shown)
            return advance(job, JobState.CANCELLED, reason=why, refused="")
        over = Reason.of(Code.AFTER_JOBS_OVER)
        return advance(job, JobState.QUEUED, reason=over, held_back=False, held_until=timezone.now())


def tell_what_is_waited_for() -> None:
    """Keep the reasons of the oldest jobs right; pages of one job say what is true when they are asked."""
    held = dict(Job.objects.filter(held_back=True).order_by("pk").values_list("pk", "reason")[:_TOLD])
    for number, befores in befores_of(held).items() if held else ():
        right = waiting_reason(befores)
        if right and held[number] != right:
            Job.objects.filter(pk=number, held_back=True).update(reason=right)
