"""What is handed to a backend once, under its key, and followed until it is over: a run, or a skeleton's run.

What both have in common stands here: how one is submitted, whoever is killed on the way; whether its backend refuses
it; what backend and run directory say of it together; and how it ended. What follows from that each noun decides.
"""

from __future__ import annotations

import logging
import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple, Protocol

from django.conf import settings
from django.utils import timezone

from gridportal.base import run_directory, run_files
from gridportal.base.batch_system import GRACE, Backend, BackendState, RunSpec, RunStatus
from gridportal.base.clusters import Cluster
from gridportal.base.errors import BackendError, GridPortalError, RefusedError
from gridportal.base.reasons import Code
from gridportal.base.run_directory import ExitRecord, RunFileError
from monitoring.clusters.selectors import traits
from scheduling.jobs.core.input_files import InputFile
from scheduling.jobs.models import Job
from scheduling.jobs.services.leases import MAX_ATTEMPTS
from scheduling.runs.services import job_depots, job_folder
from scheduling.runs.services.backends import backend
from scheduling.runs.services.placed_inputs import put_inputs
from scheduling.runs.services.scripts import finds_nodes
from scheduling.runs.services.sharing import share

log = logging.getLogger(__name__)
_EXECUTABLE = 0o755


class Submission(Protocol):
    """The row. `job` with its owner; `backend_id` is empty while the backend's own name of it is not known."""

    @property
    def job(self) -> Job: ...

    @property
    def is_stopping(self) -> bool:
        """Whether it need not go on; true as well while it is missing."""

    @property
    def is_recalled(self) -> bool:
        """Whether the portal takes it out of the queue of its backend; true as well while it is missing."""

    key: str
    backend_id: str
    run_dir: str
    script: str
    state: str
    state_since: datetime
    started_at: datetime | None


class ForgottenError(GridPortalError):
    """It was started before, and its backend does not know it any more."""


class Stage(Enum):
    """Where it is, by what backend and run directory say together."""

    WAITS = auto()
    RUNS = auto()
    OVER = auto()
    UNKNOWN = auto()


class Observation(NamedTuple):
    """With the exit record where that counts; a failure may be that of an attempt which is put back."""

    stage: Stage
    record: ExitRecord | None


class Ended(NamedTuple):
    """How it ended, and when; None where nobody knows."""

    exit_code: int | None
    at: datetime
    started: datetime | None


def name_of(row: Submission) -> str:
    """What its backend knows it by; the key while the number is not known."""
    return row.backend_id or row.key


def submit(
    row: Submission,
    to: Backend,
    cluster: Cluster,
    nodes: Sequence[str],
    seconds: float | None,
    files: Mapping[str, str] | None = None,
    program: bytes | None = None,
    inputs: Sequence[InputFile] = (),
) -> str:
    """Submit it with its script, the `program` that somebody uploaded, the `inputs` of its job and further `files` in
    its directory, each whole or not there; what the backend knows it by. Its key makes this idempotent; one that left
    traces is not started again.

    Touches no database. Raises ForgottenError, BackendError, InputError, OSError.
    """
    directory = Path(row.run_dir)
    if run_directory.begun(directory) and to.poll([row.key])[row.key].state is BackendState.UNKNOWN:
        raise ForgottenError(f"{row.key} was started before, and its backend has forgotten it.")
    run_directory.prepare(directory, row.script)
    for name, text in (files or {}).items():
        run_directory.write(directory, name, text)
    if program is not None:
        run_directory.write(directory, run_files.PROGRAM, program, _EXECUTABLE)
    put_inputs(inputs, directory, cluster, row.job.owner.username)
    job_depots.hand_over(row.job, cluster, directory)
    share(directory, cluster, row.job.owner.username)
    folder = job_folder.prepared(row.job, cluster)
    return to.submit(replace(spec_of(row, nodes, seconds), job_dir=str(folder or "")))


def spec_of(row: Submission, nodes: Sequence[str], seconds: float | None) -> RunSpec:
    """What its backend is told of it."""
    asked, person = row.job.rank_request, row.job.owner.username
    needs = (asked.cpus_per_rank, asked.memory_per_rank, asked.gres_per_rank)
    grace = settings.PORTAL.stop_grace if row.job.application.stop_means else GRACE
    spec = RunSpec(row.key, row.script, tuple(nodes), row.run_dir, seconds, person, *needs, grace=grace)
    return replace(spec, finds_nodes=finds_nodes(row.job))


def is_refused(row: Submission, error: Exception) -> bool:
    """Whether the backend answers and has no such run: an answer that came too late may have started it.

    A cluster may show a run only after it was said to have failed: there only a plain refusal counts; Slurm keeps a
    record of what it refused, as a job that has failed and never started.
    """
    late = traits(row.job.cluster).shows_runs_late
    if late and isinstance(error, BackendError) and not isinstance(error, RefusedError):
        return row.job.attempts > MAX_ATTEMPTS
    try:
        status = backend(row.job.cluster).poll([row.key])[row.key]
        gone = status.state is BackendState.FINISHED and not run_directory.begun(Path(row.run_dir))
        return gone or status.state is BackendState.UNKNOWN
    except GridPortalError:
        return False


def cancel(row: Submission) -> None:
    """Ask its backend to stop it; who asks does so again until it has."""
    try:
        backend(row.job.cluster, row.job.owner).cancel(name_of(row))
    except BackendError as error:
        log.warning("job %s: %s could not be stopped yet: %s", row.job.pk, row.key, error)


def ask_to_stop(row: Submission) -> None:
    """Have its script ask its program to stop, and live on until that has ended. Raises BackendError."""
    backend(row.job.cluster, row.job.owner).signal(name_of(row), signal.SIGUSR1)


def observe(row: Submission, status: RunStatus) -> Observation:
    """What its backend says, and its exit record where that may say more.

    Cleaning up after a success may take minutes. A controller that crashed may have forgotten that it was over, and
    want to start it again: not one that has recorded success. One that was put back is not over, whatever it says, and
    what is recalled may have been put back.
    """
    if status.state is BackendState.FINISHED:
        return Observation(Stage.OVER, exit_record(row))
    if status.state is BackendState.UNKNOWN:
        says_nothing = traits(row.job.cluster).remembers_ends or row.is_recalled
        return Observation(Stage.UNKNOWN, None if says_nothing else exit_record(row))
    waits = status.state is BackendState.PENDING
    if (waits and not status.restarts) or (not waits and status.cause is Code.CLEANING_UP):
        record = exit_record(row)
        if record is not None and record.exit_code == 0:
            return Observation(Stage.OVER, record)
    return Observation(Stage.WAITS if waits else Stage.RUNS, None)


def ended(row: Submission, status: RunStatus, record: ExitRecord | None) -> Ended:
    """How and when it ended. `record` counts only where its backend has no word."""
    at = status.ended_at if status.ended_at is not None else record.ended_at if record else None
    started = row.started_at or moment(status.started_at)
    return Ended(exit_code(status, record), moment(at) or timezone.now(), started)


def exit_code(status: RunStatus, record: ExitRecord | None) -> int | None:
    """How a run ended: its backend's word, else the exit record's.

    Where the backend says that the run is over and not how, a record cannot make it a success. A record of a failure
    counts against a backend that says all is well: a slurmctld that was killed meanwhile may have lost the exit code.
    """
    if status.exit_code == 0 and record is not None and record.exit_code:
        return record.exit_code
    if status.exit_code is not None:
        return status.exit_code
    if status.signal:
        return 128 + status.signal
    if record is None or (status.state is BackendState.FINISHED and record.exit_code == 0):
        return None
    return record.exit_code


def exit_record(row: Submission) -> ExitRecord | None:
    """The exit record; None as well where it cannot be read."""
    try:
        return run_directory.exit_record(Path(row.run_dir))
    except RunFileError as error:
        log.info("job %s: %s", row.job.pk, error)
        return None


def moment(seconds: float | None) -> datetime | None:
    """A time of a backend, or of an exit record."""
    return datetime.fromtimestamp(seconds, UTC) if run_directory.is_time(seconds) else None
