"""Following runs: one question to each backend for all of them, then each run's next step."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from pathlib import Path
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from gridportal.base import run_directory
from gridportal.base.batch_system import BackendState, RunStatus
from gridportal.base.errors import BackendError
from gridportal.base.reasons import NOTHING, Code, Reason
from gridportal.base.run_directory import ExitRecord, Fault
from monitoring.clusters.selectors import traits
from monitoring.telemetry.services.clusters import note_error, note_poll
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services import leases
from scheduling.runs.core.run_states import OPEN, RunState
from scheduling.runs.models import Run
from scheduling.runs.services import requeued
from scheduling.runs.services.backends import backend
from scheduling.runs.services.ending import end
from scheduling.runs.services.ending_together import end_together
from scheduling.runs.services.isolation import counts, isolated, note
from scheduling.runs.services.one_at_a_time import OneAtATime
from scheduling.runs.services.poll_lock import poll_lock
from scheduling.runs.services.progress import ingest, is_behind
from scheduling.runs.services.steps import advance_run
from scheduling.runs.services.submissions import Sighting, Stage, cancel, look, moment, name_of

log = logging.getLogger(__name__)
_polls = OneAtATime()
_GRACE = timedelta(seconds=10)
#: For how long a queue must not know a run before it is given up.
_MISSED = timedelta(seconds=30)


class Step(IntEnum):
    """What became of a run when it was followed."""

    NONE = 0
    CHANGED = 1
    WITHDRAWN = 2


@dataclass
class Followed:
    """What became of some runs. changed: their jobs changed state; withdrawn: they are out of the queue of their
    cluster, because the portal took them out, and other nodes are to be found."""

    changed: list[Run] = field(default_factory=list)
    withdrawn: list[Run] = field(default_factory=list)


def follow_runs(cluster: str = "") -> Followed:
    """Follow every run that a backend has, or those of one cluster. A backend that is silent is asked again later. One
    question to each cluster, however many runs it has. Nothing while another thread is at it: it would read the same
    files and write the same rows."""
    found = Followed()
    turn = _polls.begin(cluster)
    if turn is None:
        return found
    with turn:
        runs: dict[str, list[Run]] = defaultdict(list)
        for run in _followed().filter(**({"job__cluster": cluster} if cluster else {})):
            runs[run.job.cluster].append(run)
        for name, theirs in runs.items():
            _poll(name, theirs, found)
    return found


def clusters_with_runs() -> list[str]:
    """The clusters that have runs to follow."""
    return list(_followed().order_by("job__cluster").values_list("job__cluster", flat=True).distinct())


def _poll(cluster: str, runs: Sequence[Run], found: Followed) -> None:
    with poll_lock(cluster) as mine:
        if mine:
            _follow_all(cluster, runs, found)


def cancel_run(job_id: int) -> Followed:
    """Tell the backend to stop the run of a job that is being cancelled; follow_runs says so again until it has."""
    found = Followed()
    run = _followed().filter(job_id=job_id, job__state=JobState.CANCELLING).first()
    if run is not None:
        _follow_all(run.job.cluster, [run], found)
    return found


def _followed() -> QuerySet[Run]:
    """The runs that may be at their backends."""
    states = [state for state in OPEN if state != RunState.PREPARED]
    return Run.objects.filter(state__in=states).select_related("job__owner")


def _follow_all(cluster: str, runs: Sequence[Run], found: Followed) -> None:
    asked = isolated(f"cluster {cluster}", lambda: _ask(cluster, runs))
    answers = asked.value
    if answers is None:
        isolated(f"cluster {cluster}", lambda: note_poll(cluster, asked.failure.detail if asked.failure else ""))
        return
    note_poll(cluster, "")
    ended = end_together(runs, {run.pk: answers[name_of(run)] for run in runs})
    done = {run.pk for run in ended}
    found.changed += ended
    for run in runs:
        if run.pk not in done:
            _note_step(run, _follow_alone(run, answers[name_of(run)]), found)


def _note_step(run: Run, step: Step, found: Followed) -> None:
    if step is Step.WITHDRAWN:
        found.withdrawn.append(run)
    elif step is Step.CHANGED:
        found.changed.append(run)


def _ask(cluster: str, runs: Sequence[Run]) -> Mapping[str, RunStatus]:
    """The states of all in one question. Raises BackendError where the backend is silent; the runs are told so."""
    try:
        return backend(cluster).poll([name_of(run) for run in runs])
    except BackendError as error:
        if not traits(cluster).part_of_portal:
            note_error(cluster, str(error))
        for run in runs:
            _unreachable(run, str(error))
        raise


def _follow_alone(run: Run, status: RunStatus) -> Step:
    """One run, whatever it has done to itself: a failure is noted, and ends it once its backend says it is over."""
    followed = isolated(f"job {run.job_id}", lambda: _follow(run, status))
    failure = followed.failure
    if failure is None:
        return followed.value or Step.NONE
    isolated(f"job {run.job_id}", lambda: note(run, failure))
    if status.state is not BackendState.FINISHED or not counts(run, failure):
        return Step.NONE
    return Step(bool(isolated(f"job {run.job_id}", lambda: end(run, status, None, failure)).value))


def _follow(run: Run, status: RunStatus) -> Step:
    going = status.state in (BackendState.PENDING, BackendState.RUNNING)
    failure = isolated(f"job {run.job_id}", lambda: ingest(run, over=not going)).failure
    note(run, failure)
    if going:
        return Step(_goes_on(run, status))
    if (failure is None or failure.fault.stays or failure.fault is Fault.BEHIND) and is_behind(run):
        return Step.NONE  # what its program told at last is read first
    seen = look(run, status)
    if seen.stage is Stage.UNKNOWN:
        if run.is_recalled or not _over(run, seen.record):
            return _forgotten(run)
        return Step(end(run, status, seen.record))
    if run.is_recalled and status.cause is Code.JOB_CANCELLED:
        return Step.WITHDRAWN
    if failure and not counts(run, failure):
        return Step.NONE
    return Step(end(run, status, seen.record, failure if failure and not failure.fault.stays else None))


def _over(run: Run, record: ExitRecord | None) -> bool:
    """Whether an exit record tells the end of a run that its backend does not know.

    Where runs may start again a failure may be that of an attempt which is being put back, so that it counts only once
    the run was missed for a while.
    """
    return record is not None and (record.exit_code == 0 or _missed(run))


def _missed(run: Run) -> bool:
    """Whether its cluster has not known it for so long that this was no mishap; from now on, if not yet."""
    if run.state != RunState.MISSING:
        advance_run(run, RunState.MISSING, NOTHING)
        return False
    return timezone.now() - run.state_since >= _MISSED


def _goes_on(run: Run, status: RunStatus) -> bool:
    if run.job.state == JobState.CANCELLING:
        if run.state == RunState.MISSING:
            advance_run(run, RunState.STOPPING, NOTHING)
        cancel(run)
        return False
    seen = look(run, status)
    if seen.stage is Stage.OVER:
        return _is_over(run, status, seen)
    if seen.stage is Stage.WAITS:
        return _waits(run, status)
    if run.started_at and run.job.state == JobState.RUNNING:
        if run.state == RunState.MISSING:
            advance_run(run, RunState.RUNNING, NOTHING)
        _say(run, status.reason)
        return False
    started = moment(status.started_at) or timezone.now()
    fields: dict[str, Any] = {"started_at": started, "expected_start": None}
    return advance_run(run, RunState.RUNNING, status.reason, job={"started_at": started}, **fields)


def _is_over(run: Run, status: RunStatus, seen: Sighting) -> bool:
    """It has recorded success; its backend may want to start it again."""
    if status.state is BackendState.PENDING:
        cancel(run)
    return end(run, status, seen.record)


def _waits(run: Run, status: RunStatus) -> bool:
    """In the queue of its cluster: for the first time, or again after it had started."""
    if run.job.state != JobState.RUNNING and (why := requeued.recall(run, status)):
        _say(run, why)
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
        _say(run, reason)
    return False


def _place_in_queue(status: RunStatus) -> RunState:
    if status.held:
        return RunState.HELD
    return RunState.REQUEUED if status.restarts or status.delayed else RunState.SUBMITTED


def _in_queue(run: Run, status: RunStatus, expected: datetime | None) -> Reason:
    return Reason.of(
        Code.QUEUED_THERE,
        cluster=run.job.cluster,
        restarted=requeued.because(run) if status.restarts else NOTHING,
        why=Reason.of(Code.IN_QUEUE_AGAIN) if status.delayed else status.reason,
        start=expected.isoformat() if expected else None,
        another_day=expected is not None and expected.date() != timezone.now().date(),
    )


def _say(run: Run, reason: Reason) -> None:
    """Why the job is where it is; written only when it is something new."""
    if run.job.reason != reason:
        Job.objects.filter(pk=run.job_id, state=run.job.state).update(reason=reason)


def _forgotten(run: Run) -> Step:
    """The backend knows nothing of the run and there is no exit record: it went down with the Grid.

    A queue's answer may be cut short, or come from a controller that is only just back: there a run has to be
    missed for a while.
    """
    cancelling, kind = run.job.state == JobState.CANCELLING, traits(run.job.cluster)
    now = timezone.now()
    if kind.shows_runs_late and not _missed(run):
        return Step.NONE
    if now - (run.started_at or run.created_at) < _GRACE and not cancelling:
        return Step.NONE
    if run.is_recalled:
        return Step.WITHDRAWN
    if kind.shows_runs_late and run.job.state == JobState.STARTING and not run_directory.begun(Path(run.run_dir)):
        _submit_again(run)
        return Step.CHANGED
    if not cancelling:
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
        _say(run, Reason.of(Code.SUBMITTED_AGAIN))


def _unreachable(run: Run, error: str) -> None:
    kind = traits(run.job.cluster)
    reason = kind.reason(kind.away, cluster=run.job.cluster, error=error)
    if run.job.state != JobState.CANCELLING and run.job.reason != reason:
        Job.objects.filter(pk=run.job_id, state=run.job.state).update(reason=reason)
        log.warning("job %s: %s", run.job_id, reason.dump())
