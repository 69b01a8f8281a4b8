"""Taking continuations from step to step: nodes are reserved, the program stops, the next run starts and reads.

Each step is one conditional update with all that goes with it, under the row's own lease, and beat takes it again where
a worker was killed. What a step does outside of the database may be done twice: the file that asks for the stop is
written again, and taken away before the next run starts; a run's key lets it start once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.base.lease import Lease
from gridportal.base.reasons import Code, Reason
from gridportal.database.row_lease import RowLease, of_workers
from scheduling.checkpoints.core.move_phases import MoveTimes, phases
from scheduling.checkpoints.services.requesting import PORTAL
from scheduling.checkpoints.services.reserving import impossible, reserve
from scheduling.jobs.core.states import FINAL, JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import advance
from scheduling.jobs.services.leases import MAX_ATTEMPTS
from scheduling.placing.models import Placement
from scheduling.placing.services.choosing import WaitsError
from scheduling.placing.services.storing import new_run
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.continuation_states import OPEN_CONTINUATIONS, ContinuationState
from scheduling.runs.core.run_states import RUN_LIFE, RunState
from scheduling.runs.models import Run
from scheduling.runs.services import checkpoint_facts, job_folder, own_restarts
from scheduling.runs.services.isolation import isolated
from scheduling.runs.services.ordinary_run import note_reason
from scheduling.runs.services.starting import start_runs
from scheduling.runs.services.steps import advance_run
from scheduling.runs.services.submissions import ask_to_stop

log = logging.getLogger(__name__)
#: How long one that has to wait for nodes is left alone.
_PAUSE = timedelta(seconds=5)
_lease = RowLease(Continuation, "lease", lambda: Lease(of_workers().lasting, _PAUSE))
#: Of a run whose time limit was nearer than that part of it when it stopped by itself, the limit was why.
_LATE = 0.5


def advance_continuations(cluster: str = "") -> int:
    """Take every continuation a step on that nobody has leased; how many went on."""
    moved = sum(bool(isolated(f"job {job}", partial(_conclude, job)).value) for job in _without(cluster))
    rows = Continuation.objects.filter(state__in=OPEN_CONTINUATIONS, **_of(cluster)).order_by("pk")
    for pk in rows.values_list("pk", flat=True):
        moved += bool(isolated(f"continuation {pk}", partial(_advance, pk)).value)
    return moved


def clusters_to_continue() -> set[str]:
    """The clusters that have something to do here."""
    rows = Continuation.objects.filter(state__in=OPEN_CONTINUATIONS).order_by()
    return {*rows.values_list("job__cluster", flat=True), *_ended_jobs().values_list("cluster", flat=True)}


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
    if row.job.state in FINAL and row.state != ContinuationState.READING and _over(row):
        return True
    if row.attempts > MAX_ATTEMPTS:
        return _lost(row)
    steps: Mapping[str, Callable[[Continuation], bool]] = {
        ContinuationState.ASKED: _reserve,
        ContinuationState.STOPPING: _stop,
        ContinuationState.STOPPED: _start_next,
        ContinuationState.STARTING: _follow,
        ContinuationState.READING: _follow,
    }
    return steps[row.state](row)


def _end(row: Continuation, to: ContinuationState, reason: Reason, **fields: Any) -> bool:
    return advance(row, to, holder=row.lease_holder, reason=reason, **fields)


def _over(row: Continuation) -> bool:
    """The job is over. Whether its row says so now: a run that ended well after it was moved was moved."""
    if row.job.state == JobState.CANCELLED:
        return _end(row, ContinuationState.CANCELLED, row.job.reason)
    if row.target is not None:
        return _follow(row)
    ended = row.job.state == JobState.SUCCEEDED
    to = ContinuationState.ENDED if ended else ContinuationState.FAILED
    return _end(row, to, Reason.of(Code.ENDED_MEANWHILE) if ended else row.job.reason)


def _lost(row: Continuation) -> bool:
    """A step that kills its workers: the job goes on where it is, or waits for a person, or fails."""
    why = Reason.of(Code.MOVE_LOST, times=MAX_ATTEMPTS)
    if row.state == ContinuationState.ASKED:
        return _end(row, ContinuationState.REFUSED, why)
    if row.state == ContinuationState.STOPPING:
        return _goes_on(row, why)
    with transaction.atomic():
        ended = _end(row, ContinuationState.FAILED, why)
        if row.state == ContinuationState.FAILED and row.job.state == JobState.MOVING:
            advance(row.job, JobState.STOPPED, reason=why)
    return ended


# asked: nodes


def _reserve(row: Continuation) -> bool:
    """While no nodes are to be had, a job whose program computes is left alone, and one that has stopped waits."""
    if row.source.state not in (RunState.RUNNING, RunState.CHECKPOINTED):
        return _end(row, ContinuationState.REFUSED, Reason.of(Code.PUT_BACK_MEANWHILE))
    try:
        return reserve(row)
    except (WaitsError, InputError, ImpossibleError) as error:
        why = impossible(error)
    if row.source.state == RunState.RUNNING or row.by != PORTAL:
        return _end(row, ContinuationState.REFUSED, Reason.of(Code.MOVE_REFUSED, why=why))
    Job.objects.filter(pk=row.job_id, state=row.job.state).exclude(reason=why).update(reason=why)
    return False


# stopping


def _stop(row: Continuation) -> bool:
    run = row.source
    if run.state == RunState.CHECKPOINTED:
        said = run.stopped or {}
        checkpoint, writing = _newest(row.job), said.get("seconds")
        return advance(row, ContinuationState.STOPPED, holder=row.lease_holder, checkpoint=checkpoint, writing=writing)
    if RUN_LIFE.is_final(run.state):
        return _over(row)
    if run.state not in (RunState.HALTING, RunState.MISSING):
        return _end(row, ContinuationState.NOT_STOPPED, Reason.of(Code.PUT_BACK_MEANWHILE)) and _ask_no_more(row.job)
    if row.stop_sent_at is None:
        _ask(row)
        return False
    means = row.job.application.stop_means
    if (answer := checkpoint_facts.not_stopped(row.job)) is not None:
        return _goes_on(row, Reason.of(Code.NOT_STOPPED, text=answer))
    if timezone.now() > row.stop_sent_at + timedelta(seconds=means.seconds):
        return _goes_on(row, Reason.of(Code.STOPS_TOO_SLOWLY, seconds=means.seconds))
    return False


def _ask(row: Continuation) -> None:
    """What an earlier request was answered goes first. Raises OSError, BackendError."""
    job_folder.forget_answer(row.job)
    run = row.source
    run.job = row.job
    if row.job.application.stop_means.own:
        ask_to_stop(run)
    else:
        job_folder.ask_stop(row.job)
    Continuation.objects.filter(pk=row.pk, lease_holder=row.lease_holder).update(stop_sent_at=timezone.now())


def _goes_on(row: Continuation, why: Reason) -> bool:
    """The program computes on where it is, and is asked no more."""
    _ask_no_more(row.job)
    run = row.source
    run.job = row.job
    with transaction.atomic():
        if not _end(row, ContinuationState.NOT_STOPPED, why):
            return False
        if run.state == RunState.HALTING and not advance_run(run, RunState.RUNNING, why, actor=row.by):
            transaction.set_rollback(True)
            return False
    return True


def _ask_no_more(job: Job) -> bool:
    job_folder.take_stop_back(job)
    job_folder.forget_answer(job)
    return True


def _newest(job: Job) -> int | None:
    """The newest checkpoint that is whole."""
    return next((each.number for each in checkpoint_facts.checkpoints(job) if each.is_whole), None)


# stopped: the next run


def _start_next(row: Continuation) -> bool:
    """Make the run on the reserved nodes, or on those where the job was, and hand it over."""
    _ask_no_more(row.job)
    if not _make_run(row):
        return False
    start_runs([row.job_id])
    return True


def _make_run(row: Continuation) -> bool:
    """False where another worker has made it."""
    try:
        return _made(row)
    except IntegrityError:
        return False


def _made(row: Continuation) -> bool:
    job, checkpoint = row.job, row.checkpoint if row.checkpoint is not None else _newest(row.job)
    with transaction.atomic():
        placement = _copied(row.source.placement) if row.back else row.placement
        if placement is None or Run.objects.filter(placement=placement).exists():
            placement = _copied(placement or row.source.placement)
        nodes = placement.nodes
        reason = _goes_on_from(job, checkpoint, nodes)
        made = new_run(job, placement, row.job.runs.order_by("-number").values_list("number", flat=True)[0] + 1, reason)
        made.goes_on_from, made.goes_back = checkpoint or 0, not row.back
        made.save(force_insert=True)
        step = advance(
            row,
            ContinuationState.STARTING,
            holder=row.lease_holder,
            target=made,
            placement=placement,
            checkpoint=checkpoint,
        )
        if not step or not advance(
            job, JobState.STARTING, event={"run_number": made.number}, reason=reason, attempts=0
        ):
            transaction.set_rollback(True)
            return False
    return True


def _goes_on_from(job: Job, checkpoint: int | None, nodes: list[str]) -> Reason:
    if job.application.stop_means.own:
        found = own_restarts.newest(job)
        return Reason.of(Code.GOES_ON_FROM_FILE, file=found.name if found else "", nodes=nodes, ranks=len(nodes))
    return Reason.of(Code.GOES_ON_FROM, checkpoint=checkpoint or 0, nodes=nodes, ranks=len(nodes))


def _copied(placement: Placement) -> Placement:
    """A run has a placement of its own, also where it goes back to nodes on which the job was."""
    copied = Placement.objects.get(pk=placement.pk)
    copied.pk, copied.id, copied.trial, copied.decision = None, None, None, None
    copied._state.adding = True
    copied.save(force_insert=True)
    return copied


# starting and reading


def _follow(row: Continuation) -> bool:
    run = row.target
    if run is None:
        return False
    if run.state == RunState.FAILED and run.restored is None:
        return _failed(row, run)
    if run.state == RunState.CANCELLED:
        return _end(row, ContinuationState.CANCELLED, run.reason)
    answers = row.job.application.stop_means.by.has_answer
    if run.restored is not None or RUN_LIFE.is_final(run.state) or (run.started_at and not answers):
        return _moved(row, run)
    if run.started_at and row.state == ContinuationState.STARTING:
        return advance(row, ContinuationState.READING, holder=row.lease_holder)
    return False


def _failed(row: Continuation, run: Run) -> bool:
    """It goes back to where it ran, once."""
    if row.back or row.job.state != JobState.MOVING:
        return _end(row, ContinuationState.FAILED, run.reason)
    why = Reason.of(Code.GOES_BACK, why=run.reason)
    with transaction.atomic():
        back = advance(row, ContinuationState.STOPPED, holder=row.lease_holder, back=True, reason=why)
        if back:
            note_reason(run, why) if run.job.state == row.job.state else None
    return back


def _moved(row: Continuation, run: Run) -> bool:
    said, stopped = run.restored or {}, row.source.stopped or {}
    at = MoveTimes(
        asked=row.asked_at.timestamp(),
        starting=_seconds(row.starting_at) or row.asked_at.timestamp(),
        running=_seconds(run.started_at),
        stopped=stopped.get("at"),
        restored=said.get("at"),
        now=timezone.now().timestamp(),
    )
    before = (row.telemetry, row.information, row.schedule)
    found = phases(at, writing=row.writing, reading=said.get("seconds"), before=before)
    nodes = run.placement.nodes
    reason = Reason.of(Code.MOVED, nodes=nodes, ranks=len(nodes), seconds=found.total)
    Run.objects.filter(pk=run.pk).update(goes_back=False)
    to, why = (ContinuationState.FAILED, row.reason) if row.back else (ContinuationState.MOVED, reason)
    return _end(row, to, why, **found.columns())


def _seconds(at: datetime | None) -> float | None:
    return at.timestamp() if at else None


# jobs whose program has stopped though nobody has a continuation under way


def _ended_jobs() -> Any:
    """Jobs between two runs: their last run ended with a checkpoint, and none follows yet."""
    open_rows = Continuation.objects.filter(state__in=OPEN_CONTINUATIONS).values("job")
    rows = Job.objects.filter(state=JobState.MOVING).exclude(pk__in=open_rows)
    runs = Run.objects.filter(~Q(state__in=[state.value for state in RunState if RUN_LIFE.is_final(state)]))
    return rows.exclude(pk__in=runs.values("job")).order_by("pk")


def _without(cluster: str) -> list[int]:
    rows = _ended_jobs().filter(cluster=cluster) if cluster else _ended_jobs()
    return list(rows.values_list("pk", flat=True))


def _conclude(job_id: int) -> bool:
    """The program stopped by itself, or after the portal had given up waiting for it: the job goes on by itself, or
    waits for a person."""
    job = Job.objects.select_related("application").get(pk=job_id)
    run = job.runs.select_related("placement").order_by("-number").first()
    if run is None or run.state != RunState.CHECKPOINTED or job.state != JobState.MOVING:
        return False
    if _goes_on_by_itself(job, run):
        try:
            Continuation.objects.create(job=job, source=run, by=PORTAL, ranks=len(run.placement.nodes))
        except IntegrityError:
            return False  # another worker was faster
        return True
    return advance(job, JobState.STOPPED, reason=_waits_with(job))


def _waits_with(job: Job) -> Reason:
    if job.application.stop_means.own:
        found = own_restarts.newest(job)
        return Reason.of(Code.WAITS_WITH_FILE, file=found.name if found else "")
    return Reason.of(Code.WAITS_FOR_PERSON, checkpoint=_newest(job) or 0)


def _goes_on_by_itself(job: Job, run: Run) -> bool:
    """Where it stopped late, as it was asked; or where its time limit was near, and the job is to go on then."""
    if job.continuations.filter(source=run, state=ContinuationState.NOT_STOPPED).exists():
        return True
    if not job.continues or not job.time_limit or run.started_at is None or run.ended_at is None:
        return False
    return (run.ended_at - run.started_at).total_seconds() >= _LATE * job.time_limit
