"""Letting go of jobs' folders: at once where a job has come to its end, for nothing goes on from there, else later."""

from __future__ import annotations

import logging
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from scheduling.checkpoints.models import Checkpoint, RestartFile, RuntimeSupport
from scheduling.jobs.core.states import FINAL, JobState
from scheduling.jobs.models import Job
from scheduling.runs.services import job_depots, job_folder
from scheduling.runs.services.isolation import isolated

log = logging.getLogger(__name__)
#: So many at a time.
_MOST = 200


def free_folders() -> int:
    """Free the folders of jobs that succeeded, and of others that ended so long ago as the setting says; how many."""
    before = timezone.now() - timedelta(days=settings.PORTAL.keep_checkpoints_days)
    over = Q(job__state=JobState.SUCCEEDED) | Q(
        job__state__in=[state.value for state in FINAL], job__ended_at__lt=before
    )
    rows = RuntimeSupport.objects.filter(over, freed_at=None).select_related("job")[:_MOST]
    return sum(isolated(f"job {row.job_id}", partial(_free_if_over, row.job)).failure is None for row in rows)


def _free_if_over(job: Job) -> None:
    """Unless somebody has let it go on meanwhile."""
    job.refresh_from_db(fields=["state"])
    if job.is_final:
        free_folder(job)


def free_folder(job: Job) -> None:
    """Let go of all that a job has kept over its runs. Raises OSError, GridPortalError."""
    nodes = {node for checkpoint in Checkpoint.objects.filter(job=job) for node in checkpoint.depots}
    job_folder.free(job)
    job_depots.free(job, sorted(nodes))
    Checkpoint.objects.filter(job=job).delete()
    RestartFile.objects.filter(job=job).delete()
    RuntimeSupport.objects.filter(job=job).update(freed_at=timezone.now(), stop_asked=False)
    log.info("job %s: its checkpoints are freed", job.pk)
