"""What an ordinary run makes of what is seen of it: its job goes along, from the queue of its cluster to its end."""

from __future__ import annotations

import logging
from datetime import datetime
from pathlib import Path
from typing import Any

from django.utils import timezone

from gridportal.base import run_directory
from gridportal.base.batch_system import BackendState, RunStatus
from gridportal.base.reasons import NOTHING, Code, Reason
from gridportal.base.run_directory import ExitRecord, Fault, RunFileError
from monitoring.clusters.selectors import traits
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services import leases
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.runs.services import requeued
from scheduling.runs.services.behind import behind_others
from scheduling.runs.services.ending import end
from scheduling.runs.services.follow import Passing, Step
from scheduling.runs.services.isolation import ends_run, isolated, note
from scheduling.runs.services.reading_progress import ingest, is_behind
from scheduling.runs.services.steps import advance_run
from scheduling.runs.services.submissions import Stage, moment

log = logging.getLogger(__name__)


class OrdinaryRun:
    """A `FollowedRun`, for one look at it. `failure`: why what its program told could not be read."""

    def __init__(self, run: Run) -> None:
        self.row = run
        self.failure: RunFileError | None = None

    def read(self, *, over: bool) -> bool:
        """Its progress; what its program told at last is read before it ends."""
        run = self.row
        failure = isolated(f"job {run.job_id}", lambda: ingest(run, over=over)).failure
        note(run, failure)
        waits = over and (failure is None or failure.fault.stays or failure.fault is Fault.BEHIND)
        self.failure = failure
        return not (waits and is_behind(run))

    def step(self, to: Passing) -> None:
        """Its job stays where it is."""
        advance_run(self.row, RunState(to), NOTHING)

    def goes_on(self, stage: Stage, status: RunStatus) -> Step:
        """In the queue of its cluster, or running."""
        return Step(_waits(self.row, status) if stage is Stage.WAITS else _runs(self.row, status))

    def ends(self, status: RunStatus, record: ExitRecord | None) -> Step:
        """Once what it told can be read, or has not been readable for long enough."""
        run, failure = self.row, self.failure
        if run.is_recalled and status.cause is Code.JOB_CANCELLED:
            return Step.WITHDRAWN
        if failure and not ends_run(run, failure):
            return Step.NONE
        return Step(end(run, status, record, failure if failure and not failure.fault.stays else None))

    def forgotten(self) -> Step:
        """It went down with the Grid, or its cluster lost it, perhaps before it began."""
        return _forgotten(self.row)

    def fails(self, status: RunStatus, failure: RunFileError) -> Step:
        """It is kept why; once its backend says that it is over it ends by that."""
        run = self.row
        isolated(f"job {run.job_id}", lambda: note(run, failure))
        if status.state is not BackendState.FINISHED or not ends_run(run, failure):
            return Step.NONE
        return Step(end(run, status, None, failure))


def note_reason(run: Run, reason: Reason) -> bool:
    """Why the job is where it is; written only when it is something new."""
    if run.job.reason == reason:
        return False
    return bool(Job.objects.filter(pk=run.job_id, state=run.job.state).update(reason=reason))


def _runs(run: Run, status: RunStatus) -> bool:
    if run.started_at and run.job.state in (JobState.RUNNING, JobState.MOVING):
        halts = run.job.state == JobState.MOVING
        if run.state == RunState.MISSING:
            advance_run(run, RunState.HALTING if halts else RunState.RUNNING, NOTHING)
        note_reason(run, run.reason if halts else status.reason)
        return False
    started = moment(status.started_at) or timezone.now()
    fields: dict[str, Any] = {"started_at": started, "expected_start": None}
    of_job = {} if run.goes_on_from is not None else {"started_at": started}
    return advance_run(run, RunState.RUNNING, status.reason, job=of_job, **fields)


def _waits(run: Run, status: RunStatus) -> bool:
    """In the queue of its cluster: for the first time, or again after it had started."""
    if run.job.state != JobState.RUNNING and (why := requeued.recall(run, status)):
        note_reason(run, why)
        return False
    expected = None if status.delayed or status.held else moment(status.expected_start)
    if expected is not None:  # to the minute, or every poll would write a row
        expected = expected.replace(second=0, microsecond=0)
    reason = _in_queue(run, status, expected) if traits(run.job.cluster).has_queue else NOTHING
    to = RunState.RECALLING if run.is_recalled else _place_in_queue(status)
    if (run.state, run.restarts) != (to, status.restarts):
        was = run.job.state
        fields: dict[str, Any] = {"expected_start": expected, "restarts": status.restarts, "started_at": None}
        if advance_run(run, to, reason, **fields) and run.job.state != was:
            return True
    elif run.expected_start != expected:
        Run.objects.filter(pk=run.pk).update(expected_start=expected)
    if status.delayed:
        requeued.expedite(run)
    if reason:
        note_reason(run, reason)
    return False


def _place_in_queue(status: RunStatus) -> RunState:
    if status.held:
        return RunState.HELD
    return RunState.REQUEUED if status.restarts or status.delayed else RunState.SUBMITTED


def _in_queue(run: Run, status: RunStatus, expected: datetime | None) -> Reason:
    return Reason.of(
        Code.QUEUED_THERE,
        cluster=run.job.cluster,
        restarted=requeued.requeue_reason(run) if status.restarts else NOTHING,
        why=Reason.of(Code.IN_QUEUE_AGAIN) if status.delayed else behind_others(run, status) or status.reason,
        start=expected.isoformat() if expected else None,
        another_day=expected is not None and expected.date() != timezone.now().date(),
    )


def _forgotten(run: Run) -> Step:
    kind, now = traits(run.job.cluster), timezone.now()
    if run.is_recalled:
        return Step.WITHDRAWN
    if kind.shows_runs_late and run.job.state == JobState.STARTING and not run_directory.begun(Path(run.run_dir)):
        _submit_again(run)
        return Step.CHANGED
    if not run.is_stopping:
        reason = kind.reason(kind.forgotten, fault=str(run_directory.first_fault(Path(run.run_dir)) or ""))
        return Step(advance_run(run, RunState.FAILED, reason, ended_at=now))
    if not leases.is_over(run.job.lease_until, now):
        return Step.NONE  # a worker may be handing it over at this moment
    why = Reason.of(Code.CANCELLED_BY, person=run.job.cancel_requested_by)
    return Step(advance_run(run, RunState.CANCELLED, why, ended_at=now))


def _submit_again(run: Run) -> None:
    """The cluster lost the run before it began, as a controller does that crashes right after sbatch has answered.
    Submitted under the same key, it is found should it turn up after all."""
    log.warning("job %s: %s was lost by its cluster before it began; it is submitted again", run.job_id, run.key)
    if advance_run(run, RunState.PREPARED, NOTHING, backend_id="", expected_start=None):
        note_reason(run, Reason.of(Code.SUBMITTED_AGAIN))
