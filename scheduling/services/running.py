"""Following runs: one question to each backend for all of them, then each run's next step."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import DatabaseError
from django.db.models import QuerySet
from django.utils import timezone

from gridportal.errors import BackendError
from scheduling.adapters import run_directory
from scheduling.adapters.base import Backend, RunState, RunStatus
from scheduling.adapters.run_directory import ExitRecord
from scheduling.core import sentences
from scheduling.core.states import HOLDS_NODES, JobState
from scheduling.models import Job, Run
from scheduling.services.backends import backend
from scheduling.services.progress import ingest
from scheduling.services.transitions import move

log = logging.getLogger(__name__)
_GRACE = timedelta(seconds=10)
_FORGOTTEN = "The Grid was restarted while the job ran on it; resubmit the job."


def poll_runs() -> int:
    """Follow every run that a backend has; how many changed state. A backend that is silent is asked again later."""
    runs: dict[str, list[Run]] = defaultdict(list)
    for run in _followed():
        runs[run.job.cluster].append(run)
    return sum(_follow_all(cluster, theirs) for cluster, theirs in runs.items())


def cancel_run(job_id: int) -> None:
    """Tell the backend to stop the run of a job that is being cancelled; poll_runs says so again until it has."""
    run = _followed().filter(job_id=job_id, job__state=JobState.CANCELLING).first()
    if run is not None:
        _follow_all(run.job.cluster, [run])


def _followed() -> QuerySet[Run]:
    """The last run of each job that holds nodes; one that is still to be handed over only when it is cancelled."""
    runs = Run.objects.filter(job__state__in=[state.value for state in HOLDS_NODES], ended_at=None)
    return runs.exclude(job__state=JobState.STARTING, backend_id="").select_related("job", "placement")


def _follow_all(cluster: str, runs: Sequence[Run]) -> int:
    at = backend(cluster)
    try:
        answers = at.poll([run.key for run in runs])
    except BackendError as error:
        for run in runs:
            _unreachable(run, str(error))
        return 0
    return sum(_follow_alone(at, run, answers[run.key]) for run in runs)


def _follow_alone(at: Backend, run: Run, status: RunStatus) -> bool:
    """One run that cannot be read or written must not keep the others from being followed."""
    try:
        return _follow(at, run, status)
    except (DatabaseError, OSError, ValueError):
        log.exception("job %s: %s could not be followed this time", run.job_id, run.key)
        return False


def _follow(at: Backend, run: Run, status: RunStatus) -> bool:
    ingest(run)
    if status.state in (RunState.PENDING, RunState.RUNNING):
        return _goes_on(at, run, status)
    record = run_directory.exit_record(Path(run.run_dir))
    if status.state is RunState.UNKNOWN and record is None:
        return _forgotten(run)
    ingest(run)  # what it wrote between the first look and its end
    return _end(run, status, record)


def _goes_on(at: Backend, run: Run, status: RunStatus) -> bool:
    if run.job.state == JobState.CANCELLING:
        _cancel(at, run)
        return False
    if run.job.state == JobState.RUNNING:
        if run.job.reason:
            Job.objects.filter(pk=run.job_id, state=JobState.RUNNING).update(reason="")
        return False
    if status.state is RunState.PENDING:
        return False
    started = _moment(status.started_at) or timezone.now()
    return move(run.job, JobState.RUNNING, run=run, run_fields={"started_at": started}, started_at=started)


def _cancel(at: Backend, run: Run) -> None:
    try:
        at.cancel(run.key)
    except BackendError as error:
        log.warning("job %s: could not be cancelled yet: %s", run.job_id, error)


def _end(run: Run, status: RunStatus, record: ExitRecord | None) -> bool:
    """The run is over: the exit record says how, else the backend."""
    exit_code = record.exit_code if record else status.exit_code
    if exit_code is None and status.signal:
        exit_code = 128 + status.signal
    ended = _moment(record.ended_at if record else status.ended_at) or timezone.now()
    fields: dict[str, Any] = {"exit_code": exit_code, "ended_at": ended, "backend_id": run.key}
    started = run.started_at or _moment(status.started_at)
    if started:
        fields["started_at"] = started
    to, reason = _verdict(run, status, exit_code)
    moved = move(run.job, to, reason, run=run, run_fields=fields, started_at=started)
    if moved:
        log.info("job %s: %s ended with exit code %s", run.job_id, run.key, exit_code)
    return moved


def _verdict(run: Run, status: RunStatus, exit_code: int | None) -> tuple[JobState, str]:
    good = exit_code == 0 and run.verified is not False
    if run.job.state == JobState.CANCELLING:
        by = run.job.cancel_requested_by or "the portal"
        return JobState.CANCELLED, f"Cancelled by {by} while it was running."
    if good:
        return JobState.SUCCEEDED, "Verified by the program's own check." if run.verified else ""
    said = run_directory.last_lines(Path(run.run_dir))
    return JobState.FAILED, sentences.ended(exit_code, run.verified, status.reason, said)


def _forgotten(run: Run) -> bool:
    """The backend knows nothing of the run and there is no exit record: it went down with the Grid."""
    if timezone.now() - (run.started_at or run.created_at) < _GRACE and run.job.state != JobState.CANCELLING:
        return False
    fields = {"ended_at": timezone.now()}
    if run.job.state != JobState.CANCELLING:
        return move(run.job, JobState.FAILED, _FORGOTTEN, run=run, run_fields=fields)
    if run.job.lease_until and run.job.lease_until > timezone.now():
        return False  # a worker may be handing it over at this moment
    return move(run.job, JobState.CANCELLED, f"Cancelled by {run.job.cancel_requested_by}.", run=run, run_fields=fields)


def _unreachable(run: Run, error: str) -> None:
    reason = f"The Grid that it runs on does not answer; what became of it is seen when the Grid is back. ({error})"
    if run.job.state == JobState.RUNNING and run.job.reason != reason:
        Job.objects.filter(pk=run.job_id, state=JobState.RUNNING).update(reason=reason)
        log.warning("job %s: %s", run.job_id, reason)


def _moment(seconds: float | None) -> datetime | None:
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
