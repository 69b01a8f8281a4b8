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
from monitoring.services import note_error
from scheduling.adapters import run_directory
from scheduling.adapters.base import RunState, RunStatus
from scheduling.adapters.run_directory import ExitRecord
from scheduling.adapters.slurm.words import STATES, out_of_memory
from scheduling.core import sentences
from scheduling.core.states import HOLDS_NODES, JobState
from scheduling.models import Job, Run
from scheduling.selectors import queues
from scheduling.services import leases, profiles, requeued
from scheduling.services.asking import alone
from scheduling.services.backends import backend
from scheduling.services.progress import ingest
from scheduling.services.transitions import move
from scheduling.trial_selectors import clusters_with_trials

log = logging.getLogger(__name__)
_GRACE = timedelta(seconds=10)
#: For how long a queue must not know a run before it is given up.
_MISSED = timedelta(seconds=30)
#: What is said of a run that may be over.
_OVER_SOON = ("", STATES["COMPLETING"][1])
_CANCELLED_THERE = "The job was cancelled"
_LOST = "Its cluster knows nothing of it any more, and it left no exit record; see its log and resubmit the job."
_AGAIN = "It is in the queue again and starts by itself when its nodes are free."
_FORGOTTEN = "The Grid was restarted while the job ran on it; resubmit the job."


def poll_runs(cluster: str = "") -> int:
    """Follow every run that a backend has, or those of one cluster; how many changed state. A backend that is silent
    is asked again later. One question to each cluster, however many runs it has."""
    runs: dict[str, list[Run]] = defaultdict(list)
    for run in _followed().filter(**({"job__cluster": cluster} if cluster else {})):
        runs[run.job.cluster].append(run)
    return sum(_poll(name, theirs) for name, theirs in runs.items())


def clusters_with_runs() -> list[str]:
    """The clusters that have something to follow, runs or skeletons."""
    runs = _followed().order_by("job__cluster").values_list("job__cluster", flat=True).distinct()
    return sorted({*runs, *clusters_with_trials()})


def _poll(cluster: str, runs: Sequence[Run]) -> int:
    with alone(cluster) as mine:
        return _follow_all(cluster, runs) if mine else 0


def cancel_run(job_id: int) -> None:
    """Tell the backend to stop the run of a job that is being cancelled; poll_runs says so again until it has."""
    run = _followed().filter(job_id=job_id, job__state=JobState.CANCELLING).first()
    if run is not None:
        _follow_all(run.job.cluster, [run])


def _followed() -> QuerySet[Run]:
    """The last run of each job that holds nodes; one that is still to be handed over only when it is cancelled."""
    runs = Run.objects.filter(job__state__in=[state.value for state in HOLDS_NODES], ended_at=None)
    return runs.exclude(job__state=JobState.STARTING, backend_id="").select_related("job__owner")


def _follow_all(cluster: str, runs: Sequence[Run]) -> int:
    try:
        answers = backend(cluster).poll([_id(run) for run in runs])
    except BackendError as error:
        if queues(cluster):
            note_error(cluster, str(error))
        for run in runs:
            _unreachable(run, str(error))
        return 0
    return sum(_follow_alone(run, answers[_id(run)]) for run in runs)


def _id(run: Run) -> str:
    """What its backend knows it by; the key while the number is not known."""
    return run.backend_id or run.key


def _follow_alone(run: Run, status: RunStatus) -> bool:
    """One run that cannot be read or written must not keep the others from being followed."""
    try:
        return _follow(run, status)
    except (DatabaseError, OSError, ValueError):
        log.exception("job %s: %s could not be followed this time", run.job_id, run.key)
        return False


def _follow(run: Run, status: RunStatus) -> bool:
    ingest(run)
    if status.state in (RunState.PENDING, RunState.RUNNING):
        return _goes_on(run, status)
    record = run_directory.exit_record(Path(run.run_dir))
    if status.state is RunState.UNKNOWN and (run.taken_back or not _over(run, record)):
        return _forgotten(run)
    if _is_out(run) and status.reason.startswith(_CANCELLED_THERE):
        return requeued.place_anew(run)
    ingest(run)  # what it wrote between the first look and its end
    return _end(run, status, record)


def _over(run: Run, record: ExitRecord | None) -> bool:
    """Whether an exit record tells the end of a run that its backend does not know.

    Where runs may start again a failure may be that of an attempt which is being put back, so that it counts only once
    the run was missed for a while.
    """
    if record is None:
        return False
    return record.exit_code == 0 or not queues(run.job.cluster) or _missed(run)


def _missed(run: Run) -> bool:
    """Whether its cluster has not known it for so long that this was no mishap; from now on, if not yet."""
    now = timezone.now()
    if run.missed_at is None:
        run.missed_at = now
        Run.objects.filter(pk=run.pk).update(missed_at=now)
    return now - run.missed_at >= _MISSED


def _goes_on(run: Run, status: RunStatus) -> bool:
    if run.missed_at is not None:
        Run.objects.filter(pk=run.pk).update(missed_at=None)
    if run.job.state == JobState.CANCELLING:
        _cancel(run)
        return False
    if status.state is RunState.PENDING:
        return _waits(run, status)
    if status.reason in _OVER_SOON and (record := _succeeded(run)):
        return _end(run, status, record)  # to clean its nodes up, or to hear of its end, may take Slurm minutes
    if run.job.state == JobState.RUNNING:
        _say(run, status.reason)
        return False
    started = _moment(status.started_at) or timezone.now()
    fields = {"started_at": started, "expected_start": None, "held": False, "taken_back": False}
    return move(run.job, JobState.RUNNING, status.reason, run=run, run_fields=fields, started_at=started)


def _is_out(run: Run) -> bool:
    """Whether the portal took it out of the queue to place it anew, and nobody cancels it."""
    return run.taken_back and run.job.state == JobState.STARTING


def _succeeded(run: Run) -> ExitRecord | None:
    """The exit record of a run that ended well; any other may be that of an attempt which is put back."""
    record = run_directory.exit_record(Path(run.run_dir))
    return record if record is not None and record.exit_code == 0 else None


def _waits(run: Run, status: RunStatus) -> bool:
    """In the queue of its cluster: for the first time, or again after it had started.

    A controller that crashed may have forgotten that the run was over, and want to start it again: not one that has
    recorded success.
    """
    if record := _succeeded(run):
        _cancel(run)
        return _end(run, status, record)
    if run.job.state == JobState.STARTING and (why := requeued.take_back(run, status)):
        _say(run, why)
        return False
    expected = None if status.delayed else _moment(status.expected_start)
    if status.delayed:
        requeued.hurry(run, status)
    if expected is not None:  # to the minute, or every poll would write a row
        expected = None if status.held else expected.replace(second=0, microsecond=0)
    fields: dict[str, Any] = {"expected_start": expected, "held": status.held}
    start = f"{expected:%H:%M} UTC" + (f" on {expected:%d %B}" if expected.date() != timezone.now().date() else "") \
        if expected else ""  # fmt: skip
    why = _AGAIN if status.delayed else status.reason
    if status.restarts:
        why = f"{requeued.because(run)} {why}".strip()
    reason = sentences.queued_there(run.job.cluster, why, start) if queues(run.job.cluster) else ""
    if run.job.state == JobState.RUNNING:
        return move(run.job, JobState.STARTING, reason, run=run, run_fields={**fields, "started_at": None})
    if any(getattr(run, name) != value for name, value in fields.items()):
        Run.objects.filter(pk=run.pk).update(**fields)
    if reason:
        _say(run, reason)
    return False


def _say(run: Run, reason: str) -> None:
    """Why the job is where it is; written only when it is something new."""
    if run.job.reason != reason:
        Job.objects.filter(pk=run.job_id, state=run.job.state).update(reason=reason)


def _cancel(run: Run) -> None:
    try:
        backend(run.job.cluster, run.job.owner).cancel(_id(run))
    except BackendError as error:
        log.warning("job %s: could not be cancelled yet: %s", run.job_id, error)


def _end(run: Run, status: RunStatus, record: ExitRecord | None) -> bool:
    """The run is over: the exit record says how, else the backend."""
    exit_code = record.exit_code if record else status.exit_code
    if exit_code is None and status.signal:
        exit_code = 128 + status.signal
    ended = _moment(record.ended_at if record else status.ended_at) or timezone.now()
    fields: dict[str, Any] = {"exit_code": exit_code, "ended_at": ended, "backend_id": _id(run), "held": False}
    started = run.started_at or _moment(status.started_at)
    if started:
        fields["started_at"] = started
    to, reason = _verdict(run, status, exit_code)
    moved = move(run.job, to, reason, run=run, run_fields=fields, started_at=started)
    if moved and run.job.trace:
        profiles.keep_trace(run)
    if moved:
        log.info("job %s: %s ended with exit code %s", run.job_id, run.key, exit_code)
    return moved


def _verdict(run: Run, status: RunStatus, exit_code: int | None) -> tuple[JobState, str]:
    if status.reason.startswith(_CANCELLED_THERE) and run.job.state != JobState.CANCELLING:
        return JobState.CANCELLED, "Cancelled in the cluster itself, by its owner's or an administrator's command."
    good = exit_code == 0 and run.verified is not False
    if run.job.state == JobState.CANCELLING:
        by = run.job.cancel_requested_by or "the portal"
        return JobState.CANCELLED, f"Cancelled by {by} while it was running."
    if good:
        return JobState.SUCCEEDED, "Verified by the program's own check." if run.verified else ""
    said = run_directory.last_lines(Path(run.run_dir))
    if not status.reason and status.signal and out_of_memory(said):
        return JobState.FAILED, sentences.ended(exit_code, run.verified, STATES["OUT_OF_MEMORY"][1], said)
    return JobState.FAILED, sentences.ended(exit_code, run.verified, status.reason, said)


def _forgotten(run: Run) -> bool:
    """The backend knows nothing of the run and there is no exit record: it went down with the Grid.

    A queue's answer may be cut short, or come from a controller that is only just back: there a run has to be
    missed for a while.
    """
    cancelling, queued = run.job.state == JobState.CANCELLING, queues(run.job.cluster)
    now = timezone.now()
    if queued and not _missed(run):
        return False
    if now - (run.started_at or run.created_at) < _GRACE and not cancelling:
        return False
    if _is_out(run):
        return requeued.place_anew(run)
    if queued and run.job.state == JobState.STARTING and not run_directory.begun(Path(run.run_dir)):
        return _submit_again(run)
    fields = {"ended_at": now}
    if not cancelling:
        return move(run.job, JobState.FAILED, _LOST if queued else _FORGOTTEN, run=run, run_fields=fields)
    if not leases.is_over(run.job.lease_until, now):
        return False  # a worker may be handing it over at this moment
    return move(run.job, JobState.CANCELLED, f"Cancelled by {run.job.cancel_requested_by}.", run=run, run_fields=fields)


def _submit_again(run: Run) -> bool:
    """The cluster lost the run before it began, as a controller does that crashes right after sbatch has answered.
    Submitted under the same key, it is found should it turn up after all."""
    log.warning("job %s: %s was lost by its cluster before it began; it is submitted again", run.job_id, run.key)
    Run.objects.filter(pk=run.pk).update(backend_id="", missed_at=None, expected_start=None, held=False)
    reason = "Its cluster lost it before it began, so it is submitted again under the same name."
    Job.objects.filter(pk=run.job_id, state=JobState.STARTING).update(reason=reason)
    return True


def _unreachable(run: Run, error: str) -> None:
    if queues(run.job.cluster):
        what = f"The cluster {run.job.cluster} does not answer; the job goes on there, and what became of it is seen"
        reason = f"{what} when the cluster is back. ({error})"
    else:
        reason = f"The Grid that it runs on does not answer; what became of it is seen when the Grid is back. ({error})"
    there = run.job.state == JobState.RUNNING or (run.job.state == JobState.STARTING and run.backend_id)
    if there and run.job.reason != reason:
        Job.objects.filter(pk=run.job_id, state=run.job.state).update(reason=reason)
        log.warning("job %s: %s", run.job_id, reason)


def _moment(seconds: float | None) -> datetime | None:
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
