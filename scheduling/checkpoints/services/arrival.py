"""The last steps of a continuation: its next run starts and reads its data, or fails and its job goes back."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from gridportal.base.reasons import Code, Reason
from scheduling.checkpoints.core.move_phases import MoveTimes, phases
from scheduling.checkpoints.services.move_end import close
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import advance
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.continuation_states import ContinuationState
from scheduling.runs.core.run_states import RUN_LIFE, RunState
from scheduling.runs.models import Run
from scheduling.runs.services import checkpoint_facts
from scheduling.runs.services.checkpoint_facts import Health
from scheduling.runs.services.ordinary_run import note_reason


def follow(row: Continuation) -> bool:
    """Where its next run is; whether a step was taken."""
    run = row.target
    if run is None:
        return False
    if run.state == RunState.FAILED and run.restored is None:
        return _failed(row, run)
    if run.state == RunState.CANCELLED:
        return close(row, ContinuationState.CANCELLED, run.reason)
    if run.started_at and run.restored is None and run.begins_anew:
        return _computes(row, run)
    answers = row.job.application.stop_means.by.has_answer
    if run.restored is not None or RUN_LIFE.is_final(run.state) or (run.started_at and not answers):
        return _computes(row, run)
    if run.started_at and row.state == ContinuationState.STARTING:
        return advance(row, ContinuationState.READING, holder=row.lease_holder)
    return False


def over(row: Continuation) -> bool:
    """The job is over. Whether its row says so now: a run that ended well after it was moved was moved."""
    if row.job.state == JobState.CANCELLED:
        return close(row, ContinuationState.CANCELLED, row.job.reason)
    if row.target is not None:
        return follow(row)
    ended = row.job.state == JobState.SUCCEEDED
    to = ContinuationState.ENDED if ended else ContinuationState.FAILED
    return close(row, to, Reason.of(Code.ENDED_MEANWHILE) if ended else row.job.reason)


def _failed(row: Continuation, run: Run) -> bool:
    """It goes back to where it ran, once."""
    if row.back or row.job.state != JobState.MOVING:
        return close(row, ContinuationState.FAILED, run.reason)
    why = Reason.of(Code.GOES_BACK, why=run.reason)
    with transaction.atomic():
        back = advance(row, ContinuationState.STOPPED, holder=row.lease_holder, back=True, reason=why)
        if back:
            note_reason(run, why) if run.job.state == row.job.state else None
    return back


def _computes(row: Continuation, run: Run) -> bool:
    """It goes on, or has begun anew: what is the case, and what each phase took."""
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
    Run.objects.filter(pk=run.pk).update(goes_back=False)
    to, why = _outcome(row, run, found.total)
    return close(row, to, why, **found.columns())


def _outcome(row: Continuation, run: Run, seconds: float) -> tuple[ContinuationState, Reason]:
    nodes = run.placement.nodes
    if _began_anew(row, run):
        return ContinuationState.STARTED_ANEW, _why_anew(row.job, nodes)
    if row.back:
        return ContinuationState.FAILED, row.reason
    return ContinuationState.MOVED, Reason.of(Code.MOVED, nodes=nodes, ranks=len(nodes), seconds=seconds)


def _why_anew(job: Job, nodes: list[str]) -> Reason:
    damaged = next((each.number for each in checkpoint_facts.checkpoints(job) if each.health is Health.SET_ASIDE), None)
    if damaged is None:
        return Reason.of(Code.STARTED_ANEW, nodes=nodes, ranks=len(nodes))
    return Reason.of(Code.STARTED_WITHOUT, checkpoint=damaged, nodes=nodes, ranks=len(nodes))


def _began_anew(row: Continuation, run: Run) -> bool:
    """It said so, or it would have said that it had read its data, and has ended without."""
    answers = row.job.application.stop_means.by.has_answer
    return run.restored is None and (run.begins_anew or answers)


def _seconds(at: datetime | None) -> float | None:
    return at.timestamp() if at else None
