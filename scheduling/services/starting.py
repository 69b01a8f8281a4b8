"""Handing a placed run to its backend, once, whoever is killed on the way."""

from __future__ import annotations

import errno
import logging
from pathlib import Path

from django.utils import timezone

from gridportal.errors import BackendError, GridPortalError, InputError
from scheduling.adapters import run_directory
from scheduling.adapters.base import Backend, RunSpec, RunState
from scheduling.adapters.slurm.commands import RefusedError
from scheduling.core.states import JobState
from scheduling.models import Job, Run
from scheduling.selectors import last_run, queues
from scheduling.services.backends import backend, known, slurm_options
from scheduling.services.placing import silent
from scheduling.services.sharing import share
from scheduling.services.transitions import MAX_ATTEMPTS, move, release, take

log = logging.getLogger(__name__)
_FULL = (errno.ENOSPC, errno.EDQUOT)


def start_run(job_id: int) -> bool:
    """Submit the run of a job that is starting; True when the backend has it.

    The run's key makes this idempotent. A run that left traces in its directory was started before: when the backend
    does not know it any more it is not started again but judged by polling.
    """
    job = take(job_id, (JobState.STARTING,))
    if job is None:
        return False
    run = last_run(job)
    if run is None or run.backend_id:
        release(job)
        return False
    try:
        if job.attempts > MAX_ATTEMPTS:
            raise BackendError(f"Its worker was lost {MAX_ATTEMPTS} times while starting it.")
        _hand_over(backend(job.cluster, job.owner, slurm_options(job.options, job.cluster)), run)
    except (BackendError, InputError, OSError) as error:
        _not_started(job, run, error)
        return False
    release(job)
    _cancel_if_over(job, run)
    return True


def _hand_over(to: Backend, run: Run) -> None:
    directory = Path(run.run_dir)
    if run_directory.begun(directory) and to.poll([run.key])[run.key].state is RunState.UNKNOWN:
        backend_id = run.key
        log.warning("%s was started before and its backend has forgotten it", run.key)
    else:
        run_directory.prepare(directory, run.script)
        share(directory, known(run.job.cluster), run.job.owner.username)
        limit = run.job.time_limit
        backend_id = to.submit(RunSpec(run.key, run.script, tuple(run.placement.nodes), run.run_dir, limit))
    Run.objects.filter(pk=run.pk).update(backend_id=backend_id)
    run.backend_id = backend_id
    log.info("job %s: %s handed to the backend at %s", run.job_id, run.key, timezone.now().isoformat())


def _not_started(job: Job, run: Run, error: Exception) -> None:
    """Wait for a backend that does not answer, or a disk that is full; fail what a backend that answers refuses."""
    log.warning("job %s: %s could not be started: %s", job.pk, run.key, error)
    if isinstance(error, OSError) and error.errno in _FULL:
        release(job, reason=f"There is no room for its run directory: {error} It is tried again every few seconds.")
        return
    if not _refused(job, run, error):
        release(job, reason=silent(job.cluster, str(error)))
        return
    reason = f"The run could not be started: {error} Resubmit the job; nodes will be chosen anew."
    move(job, JobState.FAILED, reason, held_by=job.lease_holder, run=run, run_fields={"ended_at": timezone.now()})


def _refused(job: Job, run: Run, error: Exception) -> bool:
    """Whether the backend answers and has no such run: an answer that came too late may have started it.

    A queue may show a run only after it was said to have failed, so there only a plain refusal counts.
    """
    if queues(job.cluster) and isinstance(error, BackendError) and not isinstance(error, RefusedError):
        return job.attempts > MAX_ATTEMPTS
    try:
        return backend(job.cluster).poll([run.key])[run.key].state is RunState.UNKNOWN
    except GridPortalError:
        return False


def _cancel_if_over(job: Job, run: Run) -> None:
    """A worker that was held up past its lease may submit a run whose job is over by now: take it back."""
    job.refresh_from_db(fields=["state"])
    if job.is_final:
        backend(job.cluster, job.owner).cancel(run.backend_id)
