"""One run of a skeleton: handed to its backend once, judged by what it left."""

from __future__ import annotations

import json
import logging
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gridportal.base import run_directory, run_files
from gridportal.base.batch_system import BackendState, RunSpec, RunStatus
from gridportal.base.errors import BackendError, GridPortalError, InputError, RefusedError
from gridportal.base.reasons import NOTHING, Code, Reason, told
from monitoring.clusters.selectors import traits
from scheduling.jobs.services.advance import advance
from scheduling.runs.core import progress
from scheduling.runs.services.backends import backend, known, slurm_options
from scheduling.runs.services.ending import exit_code, exit_record, moment
from scheduling.runs.services.isolation import isolated
from scheduling.runs.services.sharing import share
from scheduling.skeletons.core.skeleton_run_states import SKELETON_LIFE, SkeletonState
from scheduling.skeletons.core.trial_budget import ENDING, Cause
from scheduling.skeletons.models import Skeleton, SkeletonRun

log = logging.getLogger(__name__)
_MISSED = timedelta(seconds=30)
_GRACE = timedelta(seconds=10)
_MOST_PROGRESS = 1_000_000
_MOST_LETTERS = 200


class LostError(GridPortalError):
    """Another worker has the job by now."""


def name(row: SkeletonRun) -> str:
    """What its backend knows it by; the key while the number is not known."""
    return row.backend_id or row.key


def hand_over(row: SkeletonRun, seconds: float) -> str:
    """Submit a row that is marked as running; why its backend is silent, in which case it is submitted again later.

    One that its backend refuses, or has forgotten after it had begun, has failed.
    """
    job, directory = row.job, Path(row.run_dir)
    try:
        door = backend(job.cluster, job.owner, slurm_options(job.options, job.cluster))
        if run_directory.begun(directory) and door.poll([row.key])[row.key].state is BackendState.UNKNOWN:
            close(row, SkeletonState.FAILED, Reason.of(Code.SKELETON_FORGOTTEN), Cause.FAILED)
            return ""
        _prepare(row, directory)
        share(directory, known(job.cluster), job.owner.username)
        spec = RunSpec(row.key, row.script, tuple(row.nodes), row.run_dir, seconds, job.owner.username)
        row.backend_id = door.submit(spec)
    except (BackendError, InputError, OSError) as error:
        if not _refused(row, error):
            return str(error)
        close(row, SkeletonState.FAILED, Reason.of(Code.SKELETON_REFUSED, error=str(error)), Cause.FAILED)
        return ""
    if not SkeletonRun.objects.filter(pk=row.pk, state__in=SKELETON_LIFE.open).update(backend_id=row.backend_id):
        door.cancel(row.backend_id)  # this worker was held up, and the job is over
    log.info("job %s: %s handed to the backend", row.job_id, row.key)
    return ""


def judge(row: SkeletonRun, status: RunStatus, now: datetime) -> None:
    """Close a row that is over, with what its skeleton found; remember when it started."""
    going = status.state in (BackendState.PENDING, BackendState.RUNNING)
    completing = going and status.cause is Code.CLEANING_UP
    by_record = completing or (status.state is BackendState.UNKNOWN and not traits(row.job.cluster).remembers_ends)
    record = exit_record(row) if by_record else None
    if going and not (record and record.exit_code == 0):
        if status.started_at and row.started_at is None:
            row.started_at = datetime.fromtimestamp(status.started_at, UTC)
            SkeletonRun.objects.filter(pk=row.pk).update(started_at=row.started_at)
        return
    if status.state is BackendState.UNKNOWN and record is None:
        _unknown(row, now)
        return
    found = _found(row)
    ended = status.ended_at if status.ended_at is not None else record.ended_at if record else None
    times: dict[str, Any] = {"ended_at": moment(ended) or now}
    if status.started_at and row.started_at is None:
        times["started_at"] = datetime.fromtimestamp(status.started_at, UTC)
    code = exit_code(status, record)
    if found and code == 0:
        close(row, SkeletonState.DONE, NOTHING, "", **found, **times)
    elif row.state == SkeletonState.STOPPING:
        close(row, SkeletonState.STOPPED, row.reason, row.cause, **times)
    elif _had_its_time(row, times["ended_at"]):  # the backend has ended it before this portal did
        close(row, SkeletonState.STOPPED, Reason.of(Code.TRIAL_TIME, allowed=row.allowed or 0.0), Cause.TIME, **times)
    else:
        close(row, SkeletonState.FAILED, _why(row, status, code), Cause.FAILED, **times)


def judge_alone(row: SkeletonRun, status: RunStatus, now: datetime) -> None:
    """The same, whatever its program has done to its files: what cannot be judged has failed once it is over."""
    failure = isolated(f"job {row.job_id}: {row.key}", lambda: judge(row, status, now)).failure
    if failure and failure.fault.lasts and status.state is BackendState.FINISHED:
        isolated(
            f"job {row.job_id}: {row.key}", lambda: close(row, SkeletonState.FAILED, told(str(failure)), Cause.FAILED)
        )


def close(row: SkeletonRun, state: SkeletonState, reason: Reason, cause: str = "", **fields: Any) -> None:
    """The row is over; nothing when somebody else was faster, for then the next step sees what became of it."""
    advance(row, state, reason=reason, cause=str(cause), **fields)


def _prepare(row: SkeletonRun, directory: Path) -> None:
    """The run directory with the script and the skeleton itself, each whole or not there."""
    rows = Skeleton.objects.none() if row.skeleton_id is None else Skeleton.objects.filter(pk=row.skeleton_id)
    document = rows.values_list("document", flat=True).first()
    if document is None:
        raise InputError("skeleton", row.skeleton_id, "a skeleton that is still there")
    run_directory.prepare(directory, row.script)
    run_directory.write(directory, run_files.SKELETON, json.dumps(document))


def _refused(row: SkeletonRun, error: Exception) -> bool:
    """Whether the backend answers and has no such run; one that shows runs late has to say no plainly."""
    if isinstance(error, RefusedError | InputError):
        return True
    if traits(row.job.cluster).shows_runs_late:
        return False
    try:
        return backend(row.job.cluster).poll([row.key])[row.key].state is BackendState.UNKNOWN
    except BackendError:
        return False


def _unknown(row: SkeletonRun, now: datetime) -> None:
    """Its backend knows nothing of it: it is on its way there, or was forgotten."""
    since = now - (row.handed_at or now)
    if row.state == SkeletonState.STOPPING and not row.backend_id and not traits(row.job.cluster).shows_runs_late:
        # A worker that still hands it over takes it back, see hand_over.
        close(row, SkeletonState.STOPPED, row.reason, row.cause)
        return
    if since < (_MISSED if traits(row.job.cluster).shows_runs_late else _GRACE):
        return
    if row.state == SkeletonState.STOPPING:
        close(row, SkeletonState.STOPPED, row.reason, row.cause)
    elif row.backend_id:
        close(row, SkeletonState.FAILED, Reason.of(Code.SKELETON_FORGOTTEN), Cause.FAILED)


def _had_its_time(row: SkeletonRun, ended: datetime) -> bool:
    if row.allowed is None or row.handed_at is None:
        return False
    return (ended - row.handed_at).total_seconds() >= row.allowed - ENDING


def _found(row: SkeletonRun) -> dict[str, float] | None:
    part = run_directory.read_part(Path(row.run_dir), run_files.PROGRESS, None, _MOST_PROGRESS)
    result = progress.read(part.data).result
    if result is None:
        return None
    found = {"seconds": result.seconds, "predicted": result.figures.get("predicted")}
    good = all(isinstance(one, int | float) and math.isfinite(one) and one >= 0 for one in found.values())
    return {field: float(one) for field, one in found.items()} if good else None  # type: ignore[arg-type]


def _why(row: SkeletonRun, status: RunStatus, code: int | None) -> Reason:
    said = [line.strip() for line in run_directory.last_lines(Path(row.run_dir), 3) if line.strip()]
    last = [line[:_MOST_LETTERS] for line in said[-2:]]
    return Reason.of(Code.SKELETON_ENDED, exit_code=code, why=status.reason, log=last)
