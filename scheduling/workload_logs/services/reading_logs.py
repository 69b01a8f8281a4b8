"""A log in the Standard Workload Format read into finished jobs of a cluster of its own, a batch in a transaction.

A job is known by the name of the cluster and its number in the log: whoever reads a log again, or goes on after it was
broken off, gets each job once.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from gridportal.base.errors import InputError
from gridportal.base.reasons import NOTHING, Code, Reason
from monitoring.clusters.models import Cluster
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.placing.models import Placement
from scheduling.runs.models import Run
from scheduling.workload_logs.core.finished_job import FinishedJob, finished, processors_per_node
from scheduling.workload_logs.core.standard_workload import BadLine, LogHeader, LogJob, read_lines
from scheduling.workload_logs.models import LoggedCluster
from scheduling.workload_logs.services.log_owners import LogOwners, has_namesakes

BATCH = 2000
_LATEST_START = 4_000_000_000  # in the year 2096
#: So many lines that are no jobs are told by their number; of the others how many there are.
MOST_LISTED = 20
_JOBS = uuid.UUID("6d5d5a3e-7d0c-4b52-9a7c-0a6f3f6f5d11")
_REASONS = {JobState.FAILED: Code.LOG_FAILED, JobState.CANCELLED: Code.LOG_CANCELLED}


@dataclass(slots=True)
class LogReading:
    """What became of the lines: jobs that were new, that were there before, and parts of jobs, which were left out;
    `bad`: the first lines that are no jobs, of `bad_lines` in all."""

    jobs: int = 0
    repeated: int = 0
    parts: int = 0
    bad_lines: int = 0
    bad: list[BadLine] = field(default_factory=list)

    def note(self, line: BadLine) -> None:
        """One more that is no job."""
        self.bad_lines += 1
        if len(self.bad) < MOST_LISTED:
            self.bad.append(line)


def read_log(
    lines: Iterable[str], cluster: str, start: datetime | None = None, per_node: int | None = None
) -> LogReading:
    """Read a log, line by line. `start`: when its times begin, in place of what its header says; `per_node`:
    processors of a node, likewise. Raises InputError for a name that another cluster has, and where nobody knows when
    the times begin."""
    _check_name(cluster)
    found, header, batch, owners = LogReading(), LogHeader(), list[LogJob](), LogOwners(cluster)
    for item in read_lines(lines):
        if isinstance(item, LogHeader):
            header = item
        elif isinstance(item, BadLine):
            found.note(item)
        elif item.status.is_part:
            found.parts += 1
        else:
            batch.append(item)
        if len(batch) >= BATCH:
            _write(batch, cluster, header, start, per_node, owners, found)
            batch = []
    if batch:
        _write(batch, cluster, header, start, per_node, owners, found)
    return found


def _check_name(cluster: str) -> None:
    if LoggedCluster.objects.filter(name=cluster, removing_at__isnull=False).exists():
        raise InputError("cluster", cluster, "a name whose log is not being removed at this moment")
    taken = cluster in settings.CLUSTERS or Cluster.objects.filter(name=cluster).exists()
    if not LoggedCluster.objects.filter(name=cluster).exists() and has_namesakes(cluster):
        raise InputError("cluster", cluster, "a name with which no person, group or application of this portal begins")
    if taken or not cluster.replace("-", "").replace("_", "").isalnum() or not cluster.isascii() or len(cluster) > 40:
        raise InputError("cluster", cluster, "a name of letters, digits, - and _ that no cluster of this portal has")


def _write(
    batch: Sequence[LogJob],
    cluster: str,
    header: LogHeader,
    start: datetime | None,
    per_node: int | None,
    owners: LogOwners,
    found: LogReading,
) -> None:
    """The jobs of a batch that are not there yet, each with its run; all or nothing."""
    begin = _start(header, start)
    nodes = per_node or processors_per_node(header)
    with transaction.atomic():
        _keep_cluster(cluster, header, begin)
        keys = {uuid.uuid5(_JOBS, f"{cluster}/{job.number}"): job for job in batch}
        there = set(Job.objects.filter(request_key__in=list(keys)).values_list("request_key", flat=True))
        new = [(key, finished(job, begin, nodes)) for key, job in keys.items() if key not in there]
        _insert(cluster, new, owners)
    found.jobs += len(new)
    found.repeated += len(batch) - len(new)


def _start(header: LogHeader, start: datetime | None) -> datetime:
    if start is not None:
        return start
    if header.start is None:
        raise InputError("start", None, "a moment, for the log has no UnixStartTime before its first job")
    if not 0 <= header.start <= _LATEST_START:
        raise InputError("UnixStartTime", f"{header.start:g}", f"seconds from 0 to {_LATEST_START:,}, or --start")
    return datetime.fromtimestamp(header.start, UTC)


def _keep_cluster(cluster: str, header: LogHeader, start: datetime) -> None:
    values = {"computer": header.computer, "nodes": header.nodes, "processors": header.processors, "start": start}
    LoggedCluster.objects.update_or_create(name=cluster, defaults=values)


def _insert(cluster: str, new: Sequence[tuple[uuid.UUID, FinishedJob]], owners: LogOwners) -> None:
    jobs = Job.objects.bulk_create([_job(cluster, key, one, owners) for key, one in new], batch_size=500)
    _set_moments(Job, [(one.created, job.pk) for job, (_, one) in zip(jobs, new, strict=True)])
    ran = [(job, one) for job, (_, one) in zip(jobs, new, strict=True) if one.started is not None]
    placed = Placement.objects.bulk_create(
        [Placement(job=job, method="log", nodes=[], seconds=0.0) for job, _ in ran], batch_size=500
    )
    _set_moments(Placement, [(one.created, row.pk) for row, (_, one) in zip(placed, ran, strict=True)])
    runs = [_run(cluster, job, row, one) for row, (job, one) in zip(placed, ran, strict=True)]
    made = Run.objects.bulk_create(runs, batch_size=500)
    _set_moments(Run, [(one.created, row.pk) for row, (_, one) in zip(made, ran, strict=True)])


def _set_moments(model: type[Any], moments: Sequence[tuple[datetime, int]]) -> None:
    """When rows came to be: a column that is always the present moment in a new row."""
    table, at = model._meta.db_table, model._meta.get_field("created_at")
    values = [(at.get_db_prep_save(moment, connection), pk) for moment, pk in moments]
    with connection.cursor() as cursor:
        cursor.executemany(f'UPDATE "{table}" SET created_at = %s WHERE id = %s', values)  # noqa: S608  (our own table)


def _job(cluster: str, key: uuid.UUID, one: FinishedJob, owners: LogOwners) -> Job:
    return Job(
        owner_id=owners.person(one.person, one.group),
        application_id=owners.program(one.program),
        cluster=cluster,
        name=f"job {one.number} of the log",
        node_count=one.nodes,
        ranks=one.ranks,
        method="log",
        time_limit=one.limit,
        request_key=key,
        state=one.state,
        reason=Reason.of(_REASONS[one.state], line=one.line) if one.state in _REASONS else NOTHING,
        started_at=one.started,
        ended_at=one.ended,
    )


def _run(cluster: str, job: Job, placement: Placement, one: FinishedJob) -> Run:
    return Run(
        job=job,
        placement=placement,
        node_count=one.nodes,
        key=f"log-{cluster}-{one.number}"[:64],
        backend="log",
        state=one.state.value,
        run_dir="",
        script="",
        started_at=one.started,
        ended_at=one.ended,
        seconds=(one.ended - one.started).total_seconds() if one.started else None,
    )
