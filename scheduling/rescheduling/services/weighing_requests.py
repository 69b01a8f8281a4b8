"""Moves that people ask to have weighed: one request at a time for a job, answered by the rescheduler.

Weighing takes as long as fresh figures and a new choice of nodes do, a minute where the network is large, so nobody
waits for it in a request of the web server. A worker that is killed leaves a lease that ends, and the next one weighs
again; the decision and the end of its request are one transaction, so that there is one.
"""

from __future__ import annotations

from functools import partial

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import ConflictError, GridPortalError
from gridportal.base.reasons import NOTHING, Code, Reason, text_reason
from gridportal.database.row_lease import RowLease
from scheduling.jobs.models import Job
from scheduling.jobs.services.leases import MAX_ATTEMPTS
from scheduling.rescheduling import selectors
from scheduling.rescheduling.core.weighing_stage import Watcher, WeighingStage, unwatched
from scheduling.rescheduling.models import MoveDecision
from scheduling.rescheduling.request_models import WeighingRequest
from scheduling.rescheduling.services import weighing_jobs
from scheduling.runs.services.isolation import isolated

_lease = RowLease(WeighingRequest, "lease")


class _LostLeaseError(Exception):
    """Another worker took the request up meanwhile: nothing of this answer is kept."""


def ask(actor: User, job: Job) -> WeighingRequest:
    """Note that a move of `job` is to be weighed; while a request is open that one, whoever asked.

    Raises InputError where the job cannot be moved at all, ConflictError where a move is proposed or under way.
    """
    if under_way := selectors.open_request(job):
        return under_way
    weighing_jobs.weighable(job)
    if decision := selectors.open_decision(job):
        raise ConflictError(f"A move of job {job.pk} is {decision.state} already, decision {decision.pk}.")
    try:
        with transaction.atomic():
            asked = WeighingRequest.objects.create(job=job, asked_by=actor)
            audit(actor, "move.propose", job, weighing=asked.pk)  # here, where the address of who asks is known
            return asked
    except IntegrityError as error:  # somebody else was faster, and may have his answer already
        first = WeighingRequest.objects.filter(job=job).first()
        if first is None:
            raise ConflictError(f"A move of job {job.pk} is weighed already.") from error
        return first


def answer_requests() -> int:
    """Answer those that wait, the oldest first; how many."""
    open_ones = WeighingRequest.objects.filter(ended_at=None).order_by("pk").values_list("pk", flat=True)
    return sum(bool(isolated(f"weighing {pk}", partial(answer, pk)).value) for pk in list(open_ones))


def answer(pk: int, watch: Watcher = unwatched) -> bool:
    """Weigh, and keep the decision; False where somebody else is at it, or it is answered."""
    rows = WeighingRequest.objects.filter(pk=pk, ended_at=None)
    holder = _lease.acquire(rows, attempts=F("attempts") + 1)
    row = rows.filter(lease_holder=holder).select_related("job__application", "asked_by").first() if holder else None
    if row is None:
        return False
    with _lease.keep(holder):
        return _answer(row, watch)


def _answer(row: WeighingRequest, watch: Watcher) -> bool:
    if row.attempts > MAX_ATTEMPTS:
        return _end(row, problem=Reason.of(Code.WEIGHING_LOST, times=MAX_ATTEMPTS))
    try:
        decision = weighing_jobs.weighed_on_request(row.job, partial(_tell, row, watch))
        with transaction.atomic():
            weighing_jobs.keep_on_request(row.asked_by, decision)
            if not _end(row, decision=decision):
                raise _LostLeaseError
    except _LostLeaseError:
        return False
    except ConflictError as error:
        return _end(row, decision=selectors.open_decision(row.job), problem=text_reason(str(error)))
    except GridPortalError as error:
        row.refresh_from_db(fields=["stage"])
        why = text_reason(str(error))
        return _end(row, problem=Reason.of(Code.WEIGHING_FAILED, stage=str(row.stage), why=why))
    return True


def _tell(row: WeighingRequest, watch: Watcher, stage: WeighingStage, done: int, total: int) -> None:
    """Write down how far it is, for who waits."""
    mine = WeighingRequest.objects.filter(pk=row.pk, lease_holder=row.lease_holder)
    mine.update(stage=stage, done=done, total=total)
    watch(stage, done, total)


def _end(row: WeighingRequest, decision: MoveDecision | None = None, problem: Reason = NOTHING) -> bool:
    fields = {"decision": decision, "problem": problem, "ended_at": timezone.now()}
    mine = WeighingRequest.objects.filter(pk=row.pk, ended_at=None)
    return bool(_lease.release(row.lease_holder, mine, **fields))
