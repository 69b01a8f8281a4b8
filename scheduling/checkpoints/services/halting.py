"""The step of a continuation in which its program is asked to stop, and stops, or goes on where it is."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from gridportal.base.reasons import Code, Reason
from scheduling.checkpoints.services.arrival import over
from scheduling.checkpoints.services.move_end import close
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import advance
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.continuation_states import ContinuationState
from scheduling.runs.core.run_states import RUN_LIFE, RunState
from scheduling.runs.services import checkpoint_facts, job_folder
from scheduling.runs.services.steps import advance_run
from scheduling.runs.services.submissions import ask_to_stop


def stop(row: Continuation) -> bool:
    """Whether a step was taken: it has stopped, is over, or goes on where it is."""
    run = row.source
    if run.state == RunState.CHECKPOINTED:
        said = run.stopped or {}
        checkpoint, writing = checkpoint_facts.newest_whole(row.job), said.get("seconds")
        return advance(row, ContinuationState.STOPPED, holder=row.lease_holder, checkpoint=checkpoint, writing=writing)
    if RUN_LIFE.is_final(run.state):
        return over(row)
    if run.state not in (RunState.HALTING, RunState.MISSING):
        return close(row, ContinuationState.NOT_STOPPED, Reason.of(Code.PUT_BACK_MEANWHILE)) and ask_no_more(row.job)
    if row.stop_sent_at is None:
        _ask(row)
        return False
    means = row.job.application.stop_means
    if (answer := checkpoint_facts.not_stopped(row.job)) is not None:
        return goes_on(row, Reason.of(Code.NOT_STOPPED, text=answer))
    if timezone.now() > row.stop_sent_at + timedelta(seconds=means.seconds):
        return goes_on(row, Reason.of(Code.STOPS_TOO_SLOWLY, seconds=means.seconds))
    return False


def goes_on(row: Continuation, why: Reason) -> bool:
    """The program computes on where it is, and is asked no more."""
    ask_no_more(row.job)
    run = row.source
    run.job = row.job
    with transaction.atomic():
        if not close(row, ContinuationState.NOT_STOPPED, why):
            return False
        if run.state == RunState.HALTING and not advance_run(run, RunState.RUNNING, why, actor=row.by):
            transaction.set_rollback(True)
            return False
    return True


def ask_no_more(job: Job) -> bool:
    """Take the request back, and what it was answered; True. Raises OSError."""
    job_folder.take_stop_back(job)
    job_folder.forget_answer(job)
    return True


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
