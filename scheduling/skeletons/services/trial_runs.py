"""One run of a skeleton: handed to its backend once, judged by what it left."""

from __future__ import annotations

import json
import logging
import math
from datetime import datetime
from pathlib import Path
from typing import Any

from gridportal.base import run_directory, run_files
from gridportal.base.batch_system import BackendState, RunStatus
from gridportal.base.errors import BackendError, GridPortalError, InputError
from gridportal.base.reasons import NOTHING, Code, Reason, text_reason
from gridportal.base.run_directory import ExitRecord, RunFileError
from scheduling.jobs.services.advance import advance
from scheduling.messages import message
from scheduling.runs.core import progress
from scheduling.runs.services.backends import backend, cluster_setting, slurm_options
from scheduling.runs.services.follow import Passing, Step
from scheduling.runs.services.skeleton_player import player_of
from scheduling.runs.services.submissions import ForgottenError, Stage, cancel, ended, is_refused, moment, submit
from scheduling.skeletons.adapters import skeleton_runs
from scheduling.skeletons.core.skeleton_run_states import SkeletonState
from scheduling.skeletons.core.trial_budget import ENDING, Cause
from scheduling.skeletons.models import OPEN, Skeleton, SkeletonRun

log = logging.getLogger(__name__)
_MOST_PROGRESS = 1_000_000
_MOST_LETTERS = 200


class OvertakenError(GridPortalError):
    """Another worker has the job by now."""


def hand_over(row: SkeletonRun, seconds: float) -> str:
    """Submit a row that is prepared; why its backend is silent, in which case it is submitted again later.

    One that its backend refuses, or has forgotten after it had begun, has failed.
    """
    job = row.job
    try:
        to = backend(job.cluster, job.owner, slurm_options(job.options, job.cluster))
        row.backend_id = submit(row, to, cluster_setting(job.cluster), row.nodes, seconds, _files(row))
    except ForgottenError:
        close(row, SkeletonState.FAILED, Reason.of(Code.SKELETON_FORGOTTEN), Cause.FAILED)
        return ""
    except (BackendError, InputError, OSError) as error:
        if not is_refused(row, error):
            return str(error)
        close(row, SkeletonState.FAILED, Reason.of(Code.SKELETON_REFUSED, error=str(error)), Cause.FAILED)
        return ""
    _note_submitted(row)
    log.info("job %s: %s handed to the backend", row.job_id, row.key)
    return ""


def _note_submitted(row: SkeletonRun) -> None:
    """It runs; unless it is being stopped, or this worker was held up and it is over: then it is taken back."""
    if advance(row, SkeletonState.RUNNING, backend_id=row.backend_id):
        return
    if not SkeletonRun.objects.filter(pk=row.pk, state__in=OPEN).update(backend_id=row.backend_id):
        cancel(row)


class FollowedSkeleton:
    """A `FollowedRun`, for one look at a skeleton's run: what comes of it is a prediction, or why there is none."""

    def __init__(self, row: SkeletonRun) -> None:
        self.row = row

    def read(self, *, over: bool) -> bool:
        """What it found is read once, at its end."""
        return True

    def step(self, to: Passing) -> None:
        """Why it is being stopped stays written."""
        advance(self.row, SkeletonState(to))

    def goes_on(self, stage: Stage, status: RunStatus) -> Step:
        """Remember when it started."""
        row = self.row
        if row.state == SkeletonState.MISSING:
            advance(row, SkeletonState.RUNNING)
        if status.started_at and row.started_at is None:
            row.started_at = moment(status.started_at)
            SkeletonRun.objects.filter(pk=row.pk).update(started_at=row.started_at)
        return Step.NONE

    def ends(self, status: RunStatus, record: ExitRecord | None) -> Step:
        """With what its skeleton found, if that ran to its end."""
        row = self.row
        found = _found(row)
        code, at, started = ended(row, status, record)
        times: dict[str, Any] = {"ended_at": at, "started_at": started}
        # Times are left at the very end; a wrapper around the player may fail for what the program itself would do.
        if found and (code == 0 or _is_played_in_c(row)):
            return Step(close(row, SkeletonState.DONE, NOTHING, "", **found, **times))
        if row.is_stopping:
            return Step(close(row, SkeletonState.STOPPED, row.reason, row.cause, **times))
        if _had_its_time(row, at):  # the backend has ended it before this portal did
            why = Reason.of(Code.TRIAL_TIME, allowed=row.allowed or 0.0)
            return Step(close(row, SkeletonState.STOPPED, why, Cause.TIME, **times))
        return Step(close(row, SkeletonState.FAILED, _why(row, status, code), Cause.FAILED, **times))

    def forgotten(self) -> Step:
        """It is on its way to its backend, where who still hands it over takes it back; or it was lost there."""
        if self.row.is_stopping:
            return Step(close(self.row, SkeletonState.STOPPED, self.row.reason, self.row.cause))
        return Step(close(self.row, SkeletonState.FAILED, Reason.of(Code.SKELETON_FORGOTTEN), Cause.FAILED))

    def fails(self, status: RunStatus, failure: RunFileError) -> Step:
        """It has failed once it is over, where looking again would find the same."""
        if status.state is not BackendState.FINISHED or not failure.fault.lasts:
            return Step.NONE
        return Step(close(self.row, SkeletonState.FAILED, text_reason(str(failure)), Cause.FAILED))


def close(row: SkeletonRun, state: SkeletonState, reason: Reason, cause: str = "", **fields: Any) -> bool:
    """The row is over; False when somebody else was faster, and then the next step sees what became of it."""
    return advance(row, state, reason=reason, cause=str(cause), **fields)


def _files(row: SkeletonRun) -> dict[str, str]:
    """The skeleton itself, for who plays it. Raises InputError when it is gone."""
    document = _document(row)
    if not _is_played_in_c(row):
        return {run_files.SKELETON: json.dumps(document)}
    player = player_of(row.job.application, row.job.cluster)
    if player.program is None:
        raise InputError("skeleton", row.skeleton_id, f"a program that can be played ({message(player.reason)})")
    return {run_files.SKELETON_PLAN: skeleton_runs.plan_of(document, player.program)}


def _document(row: SkeletonRun) -> dict[str, Any]:
    rows = Skeleton.objects.none() if row.skeleton_id is None else Skeleton.objects.filter(pk=row.skeleton_id)
    document: dict[str, Any] | None = rows.values_list("document", flat=True).first()
    if document is None:
        raise InputError("skeleton", row.skeleton_id, "a skeleton that is still there")
    return document


def _is_played_in_c(row: SkeletonRun) -> bool:
    return row.player.code is Code.PLAYED_IN_C


def _had_its_time(row: SkeletonRun, ended: datetime) -> bool:
    if row.allowed is None or row.handed_at is None:
        return False
    return (ended - row.handed_at).total_seconds() >= row.allowed - ENDING


def _found(row: SkeletonRun) -> dict[str, float] | None:
    """Seconds of a skeleton that ran to its end, and those that it predicts."""
    return _counted(row) if _is_played_in_c(row) else _printed(row)


def _counted(row: SkeletonRun) -> dict[str, float] | None:
    """From the times that the player in C left."""
    try:
        outcome = skeleton_runs.outcome(_document(row), Path(row.run_dir))
    except GridPortalError as error:
        log.info("%s has no times that can be read: %s", row.key, error)
        return None
    return {name: outcome[name] for name in ("seconds", "predicted")}


def _printed(row: SkeletonRun) -> dict[str, float] | None:
    """From what the player in Python reported."""
    part = run_directory.read_part(Path(row.run_dir), run_files.PROGRESS, None, _MOST_PROGRESS)
    result = progress.read(part.data).result
    if result is None:
        return None
    found = {"seconds": result.seconds, "predicted": result.figures.get("predicted")}
    good = all(isinstance(one, int | float) and math.isfinite(one) and one >= 0 for one in found.values())
    return {field: float(one) for field, one in found.items()} if good else None  # type: ignore[arg-type]


def _why(row: SkeletonRun, status: RunStatus, code: int | None) -> Reason:
    log_lines = [line.strip() for line in run_directory.last_lines(Path(row.run_dir), 3) if line.strip()]
    last = [line[:_MOST_LETTERS] for line in log_lines[-2:]]
    return Reason.of(Code.SKELETON_ENDED, exit_code=code, why=status.reason, log=last)
