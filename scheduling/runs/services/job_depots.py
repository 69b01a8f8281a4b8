"""Depots for the runs of a job: the file that lets them in, and letting go of what a job has there when it is over."""

from __future__ import annotations

import hashlib
import logging
import re
from pathlib import Path

from django.conf import settings

from gridportal.base import run_directory
from gridportal.base.clusters import Cluster
from gridportal.base.errors import GridPortalError
from gridportal.base.run_directory import RunFileError
from gridportal.base.run_files import DEPOTS
from gridportal.runtime.depot import depot_access
from monitoring.clusters.selectors import configured, setting
from monitoring.telemetry.services import depots
from scheduling.jobs.models import Job
from scheduling.runs.services import job_folder
from scheduling.runs.services.paths import job_dir
from scheduling.runs.services.sharing import share_file

log = logging.getLogger(__name__)
#: As `job_folder.folder` names it.
_OF_A_JOB = re.compile(r"job-([0-9]{1,18})-([0-9a-f]{8})")


def name(job: Job) -> str:
    """What depots call it: portals that share agents tell their jobs apart."""
    return _mark() + job_folder.folder(job).name


def job_of(depot_name: str) -> tuple[int, str] | None:
    """The number of a job of this portal, and how its key begins, by what depots call it; None for what is of another
    portal, or of nobody."""
    matched = _OF_A_JOB.fullmatch(depot_name.removeprefix(_mark())) if depot_name.startswith(_mark()) else None
    return (int(matched[1]), matched[2]) if matched else None


def variables(job: Job, directory: str) -> dict[str, str]:
    """What tells the program of a run in `directory` that it may use depots. Raises InputError."""
    if not job.application.stop_means or depots.access(setting(job.cluster), name(job)) is None:
        return {}
    return {depot_access.VARIABLE: f"{directory}/{DEPOTS}"}


def hand_over(job: Job, cluster: Cluster, directory: Path) -> None:
    """Put the file into a run's directory, where nobody but the job's user can read it. Raises InputError, OSError,
    BackendError.

    One that is there already stays: a run that was submitted twice may be reading it, and a new file is for a moment
    the portal's alone.
    """
    access = depots.access(cluster, name(job)) if job.application.stop_means else None
    if access is None:
        return
    if not _holds(directory, depot_access.dumped(access)):
        run_directory.write(directory, DEPOTS, depot_access.dumped(access), 0o600)
    share_file(directory / DEPOTS, cluster, job.owner.username)


def free(job: Job, nodes: list[str]) -> None:
    """Let go of what a job has in the depots of `nodes`. What cannot be reached now goes with `sweep`."""
    try:
        depots.free(setting(job.cluster), name(job), nodes)
    except GridPortalError as error:
        log.warning("Depots keep the shards of job %s for now: %s", job.pk, error)


def sweep(cluster: Cluster) -> int:
    """Let go of what depots have of jobs whose folder is gone, be they over or deleted; how many shards they were.
    Raises BackendError where no depot answers."""
    freed, mark = 0, _mark()
    if not job_dir("", cluster.name).exists():
        return 0  # nobody had a folder yet, or the file system of all folders is not there now
    by_job: dict[str, list[str]] = {}
    for node, jobs in depots.usage(cluster).items():
        for each in jobs:
            if each.startswith(mark) and not job_dir(each.removeprefix(mark), cluster.name).exists():
                by_job.setdefault(each, []).append(node)
    for each, nodes in by_job.items():
        freed += depots.free(cluster, each, nodes)
    return freed


def sweep_all() -> None:
    """Sweep every cluster that has depots; one that does not answer is swept the next time."""
    for cluster in configured().values():
        try:
            if depots.access(cluster, _mark() + "any") is not None:
                sweep(cluster)
        except GridPortalError as error:
            log.info("The depots of %s were not swept: %s", cluster.name, error)


def _holds(directory: Path, text: str) -> bool:
    try:
        file = run_directory.open_plain(directory, DEPOTS)
    except RunFileError:
        return False  # the job's user put something else there
    if file is None:
        return False
    with file:
        return file.read(len(text.encode()) + 1) == text.encode()


def _mark() -> str:
    return hashlib.sha256(b"depots of " + settings.SECRET_KEY.encode()).hexdigest()[:8] + "-"
