"""The folder of a job, which lives over all its runs: its checkpoints, and who asks the program to stop.

The job's user owns it as soon as a run of it starts, so that nothing in it is trusted. It goes when the job does not
need it any more.
"""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

from gridportal.base import run_directory
from gridportal.base.clusters import Cluster
from gridportal.base.errors import BackendError, InputError
from gridportal.base.job_files import CHECKPOINTS, NOT_STOPPED, STOP
from monitoring.clusters.selectors import setting
from scheduling.jobs.models import Job
from scheduling.runs.services import sharing
from scheduling.runs.services.paths import job_dir

log = logging.getLogger(__name__)
#: Of the folder of all jobs' folders, where people have to pass: they need not see what others have.
_PASSED = 0o711


def folder(job: Job) -> Path:
    """Where it is, or would be. Numbers begin anew when the database does, folders do not: the job's key tells them
    apart."""
    return job_dir(f"job-{job.pk}-{job.request_key.hex[:8]}", job.cluster)


def checkpoints(job: Job) -> Path:
    """Where its program has its checkpoints."""
    return folder(job) / CHECKPOINTS


def prepared(job: Job, cluster: Cluster) -> Path | None:
    """The folder; None for a program that cannot be stopped. Where it is missing it is made and shared with the job's
    user aside, then renamed: what has its name is never shared again, for the user may have put links into it.

    Raises OSError, and as `share` does.
    """
    if not job.application.stop_means:
        return None
    wanted = folder(job)
    if not wanted.exists():
        _make_parent(wanted.parent, cluster)
        part = wanted.with_name(f".{wanted.name}.part")
        (part / CHECKPOINTS).mkdir(parents=True, exist_ok=True)
        for each in (part / CHECKPOINTS, part):
            sharing.share(each, cluster, job.owner.username)
        part.rename(wanted)
    return wanted


def _make_parent(parent: Path, cluster: Cluster) -> None:
    """Whatever the portal's umask is, people get through to their own folders."""
    if not parent.exists():
        parent.mkdir(parents=True, exist_ok=True)
        if cluster.as_person:
            parent.chmod(_PASSED)


def reopen(job: Job) -> bool:
    """Have the job's user open to the portal what a program closed to it, as where its script was killed before it
    could; whether there was anything to do, and it was done."""
    try:
        return folder(job).exists() and sharing.reopen(folder(job), setting(job.cluster), job.owner.username)
    except (BackendError, InputError) as error:
        log.warning("job %s: its folder cannot be opened to the portal: %s", job.pk, error)
        return False


def ask_stop(job: Job) -> None:
    """Ask its program to stop, by a file; asking again changes nothing. Raises OSError, RunFileError."""
    run_directory.write(checkpoints(job), STOP, "")


def take_stop_back(job: Job) -> None:
    """Ask no more. Raises OSError."""
    _remove(job, STOP)


def forget_answer(job: Job) -> None:
    """Take away what an earlier request was answered. Raises OSError."""
    _remove(job, NOT_STOPPED)


def _remove(job: Job, name: str) -> None:
    if folder(job).exists():
        run_directory.remove(checkpoints(job), name)


def free(job: Job) -> None:
    """Let go of the folder with all that is in it. Raises OSError."""
    if not folder(job).exists():
        return
    try:
        shutil.rmtree(folder(job))
    except PermissionError:
        if not reopen(job):
            raise
        shutil.rmtree(folder(job))
