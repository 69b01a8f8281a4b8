"""Taking over what programs keep in the folders of their jobs (Migration 2003, 4.1: the Runtime Support System).

Read when something in the folder has changed, as its times tell; nothing in it is trusted. A portal that was restarted
reads on, for what it knows are rows.
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from gridportal.base.errors import ImpossibleError
from gridportal.base.job_files import MAPS, STOP
from gridportal.base.run_files import LATEST
from scheduling.checkpoints.models import Checkpoint, RestartFile, RuntimeSupport
from scheduling.jobs.core.states import ACTIVE
from scheduling.jobs.models import Application, Job
from scheduling.runs.core import restart_file
from scheduling.runs.core.checkpoint_manifest import ArrayFacts
from scheduling.runs.core.run_states import OPEN
from scheduling.runs.services import checkpoint_facts, job_folder, own_restarts
from scheduling.runs.services.checkpoint_facts import CheckpointFacts
from scheduling.runs.services.isolation import isolated

log = logging.getLogger(__name__)
_MOST_BYTES = 2**62
#: Within so long everything that ended is looked at, also by a portal that was away.
_SINCE = timedelta(hours=1)
#: So many restart files are kept as rows, the newest.
_MOST_FILES = 20
#: Each with what is to be thought of it, the newest first.
_Files = list[tuple[restart_file.RestartFile, restart_file.FileHealth]]


def follow_runtime_support(cluster: str = "") -> int:
    """Take over what has changed of the jobs of a cluster; of how many."""
    _begin(cluster)
    rows = _followed().filter(**({"job__cluster": cluster} if cluster else {}))
    return sum(bool(isolated(f"job {row.job_id}", partial(_read, row)).value) for row in rows)


def _begin(cluster: str) -> None:
    """A row for each job whose first run is made: it is there before the program starts, or where that has come to its
    end since the last look."""
    stoppable = [each.pk for each in Application.objects.only("stop_means", "slug") if each.stop_means]
    states = [state.value for state in OPEN]
    jobs = Job.objects.filter(application__in=stoppable, runtime_support=None).order_by().values_list("pk", flat=True)
    of_cluster = jobs.filter(cluster=cluster) if cluster else jobs
    now_open = of_cluster.filter(runs__state__in=states)
    just_over = of_cluster.filter(ended_at__gte=timezone.now() - _SINCE, runs__isnull=False)
    rows = [RuntimeSupport(job_id=job) for job in now_open.union(just_over)]
    RuntimeSupport.objects.bulk_create(rows, ignore_conflicts=True)


def _followed() -> QuerySet[RuntimeSupport]:
    """Those of jobs that are not over, or were read last before they were."""
    ended = Q(read_at=None) | Q(read_at__lte=F("job__ended_at"))
    active = Q(job__state__in=[state.value for state in ACTIVE])
    return (
        RuntimeSupport.objects.filter(active | ended, freed_at=None).select_related("job__application").order_by("job")
    )


def _read(row: RuntimeSupport) -> bool:
    """Whether anything was new."""
    files = _restart_files(row.job)
    mark = _mark(row.job, files)
    if mark == row.folder_mark and not row.job.is_final:
        return False
    now, found = timezone.now(), checkpoint_facts.checkpoints(row.job)
    data = checkpoint_facts.data_map(row.job)
    row.stop_asked = STOP in mark.split()
    row.folder_mark, row.read_at = mark, now
    row.ranks, row.hosts = data.ranks, list(data.hosts)
    row.arrays = [array.document() for array in data.arrays]
    row.bytes = size_of(data.arrays) if data.arrays else None
    with transaction.atomic():
        row.save()
        _write(row.job, found)
        _write_files(row.job, files)
    return True


def _restart_files(job: Job) -> _Files:
    """Those of a program with a restart of its own."""
    try:
        return own_restarts.files(job)[:_MOST_FILES]
    except ImpossibleError as error:
        log.info("job %s: its restart files are not taken over: %s", job.pk, error)
        return []


def _mark(job: Job, files: _Files) -> str:
    """How the folder is: when an entry of it changed last, what of ours is in it, and the files of a restart, which may
    change where the folder does not."""
    place = job_folder.checkpoints(job)
    try:
        changed = os.lstat(place).st_mtime_ns
        names = [name for name in (STOP, MAPS) if os.path.lexists(place / name)]
        at = os.lstat(place / MAPS).st_mtime_ns if MAPS in names else 0
    except OSError:
        return "none"
    seen = [hashlib.sha256(repr(files).encode()).hexdigest()[:8]] if files else []
    return " ".join([str(changed), str(at), *names, *seen])


def _write(job: Job, found: list[CheckpointFacts]) -> None:
    Checkpoint.objects.filter(job=job).exclude(number__in=[each.number for each in found]).delete()
    rows = [_row(job, each) for each in {each.number: each for each in found}.values()]
    names = ["written_at", "ranks", "bytes", "arrays", "depots", "health", "problem"]
    Checkpoint.objects.bulk_create(rows, update_conflicts=True, unique_fields=["job", "number"], update_fields=names)


def _write_files(job: Job, files: _Files) -> None:
    folder = job_folder.checkpoints(job)
    RestartFile.objects.filter(job=job).delete()
    RestartFile.objects.bulk_create(
        RestartFile(
            job=job,
            name=file.path.removeprefix(f"{folder}/")[:400],
            bytes=min(file.size, _MOST_BYTES),
            written_at=datetime.fromtimestamp(min(max(0.0, file.written_at), LATEST), UTC),
            health=health.value,
        )
        for file, health in files
    )


def _row(job: Job, facts: CheckpointFacts) -> Checkpoint:
    made = Checkpoint(job=job, number=facts.number, health=facts.health.value, problem=facts.problem)
    if (manifest := facts.manifest) is not None:
        made.written_at = datetime.fromtimestamp(manifest.written_at, UTC)
        made.ranks, made.bytes = manifest.ranks, manifest.bytes
        made.arrays = [array.document() for array in manifest.arrays]
        made.depots = list(manifest.depots)
    return made


def size_of(arrays: Iterable[ArrayFacts]) -> int | None:
    """Bytes of all arrays of a map; None where the type of one is not known here.

    >>> size_of([ArrayFacts("x", "<f8", (10, 10), "block")])
    800
    >>> size_of([ArrayFacts("x", "oops", (10, 10), "block")])
    """
    total = 0
    for array in arrays:
        try:
            total += np.dtype(array.dtype).itemsize * math.prod(array.shape)
        except TypeError:
            return None
    return min(total, _MOST_BYTES)
