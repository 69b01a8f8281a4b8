"""Taking continuations from step to step: nodes are reserved, the program stops, the next run starts and reads.

Each step is one conditional update with all that goes with it, under the row's own lease, and beat takes it again where
a worker was killed. What a step does outside of the database may be done twice: the file that asks for the stop is
written again, and taken away before the next run starts; a run's key lets it start once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.db.models import F

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.base.lease import Lease
from gridportal.base.reasons import Code, Reason
from gridportal.database.row_lease import RowLease, of_workers
from scheduling.checkpoints.services.arrival import follow, over
from scheduling.checkpoints.services.halting import goes_on, stop
from scheduling.checkpoints.services.move_end import close
from scheduling.checkpoints.services.next_run import start_next
from scheduling.checkpoints.services.requesting import PORTAL
from scheduling.checkpoints.services.reserving import impossible, reserve, without_prospect
from scheduling.checkpoints.services.stopped_jobs import conclude, stopped_jobs
from scheduling.jobs.core.states import FINAL, JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import advance
from scheduling.jobs.services.leases import MAX_ATTEMPTS
from scheduling.placing.services.choosing import WaitsError
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.continuation_states import OPEN_CONTINUATIONS, ContinuationState
from scheduling.runs.core.run_states import RunState
from scheduling.runs.services.isolation import isolated

#: How long one that has to wait for nodes is left alone.
_PAUSE = timedelta(seconds=5)
_lease = RowLease(Continuation, "lease", lambda: Lease(of_workers().lasting, _PAUSE))


def advance_continuations(cluster: str = "") -> int:
    """Take every continuation a step on that nobody has leased; how many went on."""
    between = list(stopped_jobs(cluster).values_list("pk", flat=True))
    moved = sum(bool(isolated(f"job {job}", partial(conclude, job)).value) for job in between)
    rows = Continuation.objects.filter(state__in=OPEN_CONTINUATIONS, **_of(cluster)).order_by("pk")
    for pk in rows.values_list("pk", flat=True):
        moved += bool(isolated(f"continuation {pk}", partial(_advance, pk)).value)
    return moved


def clusters_to_continue() -> set[str]:
    """The clusters that have something to do here."""
    rows = Continuation.objects.filter(state__in=OPEN_CONTINUATIONS).order_by()
    return {*rows.values_list("job__cluster", flat=True), *stopped_jobs().values_list("cluster", flat=True)}


def _of(cluster: str) -> dict[str, str]:
    return {"job__cluster": cluster} if cluster else {}


def _advance(pk: int) -> bool:
    """As many steps as can be taken at once; whether any was."""
    moved = False
    for _ in range(len(ContinuationState)):
        with _leased(pk) as row:
            if row is None or not row.is_open or not _step(row):
                return moved
        moved = True
    return moved


@contextmanager
def _leased(pk: int) -> Iterator[Continuation | None]:
    rows = Continuation.objects.filter(pk=pk, state__in=OPEN_CONTINUATIONS)
    holder = _lease.acquire(rows, attempts=F("attempts") + 1)
    if not holder:
        yield None
        return
    related = ("job__application", "job__owner", "source__placement", "target__placement", "placement")
    row = rows.filter(lease_holder=holder).select_related(*related).first()
    with _lease.keep(holder):
        yield row
    _lease.release(holder, attempts=0)


def _step(row: Continuation) -> bool:
    """One step; whether it was taken."""
    if row.job.state == JobState.CANCELLING:
        return False  # until its run has ended
    if row.job.state in FINAL and row.state != ContinuationState.READING and over(row):
        return True
    if row.attempts > MAX_ATTEMPTS:
        return _lost(row)
    steps: Mapping[str, Callable[[Continuation], bool]] = {
        ContinuationState.ASKED: _reserve,
        ContinuationState.STOPPING: stop,
        ContinuationState.STOPPED: start_next,
        ContinuationState.STARTING: follow,
        ContinuationState.READING: follow,
    }
    return steps[row.state](row)


def _lost(row: Continuation) -> bool:
    """A step that kills its workers: the job goes on where it is, or waits for a person, or fails."""
    why = Reason.of(Code.MOVE_LOST, times=MAX_ATTEMPTS)
    if row.state == ContinuationState.ASKED:
        return close(row, ContinuationState.REFUSED, why)
    if row.state == ContinuationState.STOPPING:
        return goes_on(row, why)
    with transaction.atomic():
        ended = close(row, ContinuationState.FAILED, why)
        if row.state == ContinuationState.FAILED and row.job.state == JobState.MOVING:
            advance(row.job, JobState.STOPPED, reason=why)
    return ended


def _reserve(row: Continuation) -> bool:
    """While no nodes are to be had, a job whose program computes is left alone, and one that has stopped waits."""
    if row.source.state not in (RunState.RUNNING, RunState.CHECKPOINTED) and row.job.state != JobState.STOPPED:
        return close(row, ContinuationState.REFUSED, Reason.of(Code.PUT_BACK_MEANWHILE))
    try:
        return reserve(row)
    except (WaitsError, InputError, ImpossibleError) as error:
        why = impossible(error)
    computes = row.source.state == RunState.RUNNING
    if computes or row.by != PORTAL:
        code = Code.MOVE_REFUSED if computes else Code.CONTINUE_REFUSED
        return close(row, ContinuationState.REFUSED, Reason.of(code, why=without_prospect(why)))
    Job.objects.filter(pk=row.job_id, state=row.job.state).exclude(reason=why).update(reason=why)
    return False
