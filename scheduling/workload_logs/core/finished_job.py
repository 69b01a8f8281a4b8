"""A job of a log as the portal's rows want it: times, nodes and state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from scheduling.jobs.core.states import JobState
from scheduling.workload_logs.core.standard_workload import LogHeader, LogJob, LogStatus

_ENDS = {
    LogStatus.COMPLETED: JobState.SUCCEEDED,
    LogStatus.UNKNOWN: JobState.SUCCEEDED,
    LogStatus.FAILED: JobState.FAILED,
    LogStatus.CANCELLED: JobState.CANCELLED,
}


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """`started` is None for one that never ran; `limit`: seconds, or None."""

    line: int
    number: int
    created: datetime
    started: datetime | None
    ended: datetime
    state: JobState
    nodes: int
    ranks: int
    limit: int | None
    person: int
    group: int
    program: int


def processors_per_node(header: LogHeader) -> int:
    """Of a log that says how many nodes and processors there are; else 1.

    >>> processors_per_node(LogHeader(nodes=128, processors=1024))
    8
    """
    if not header.nodes or not header.processors:
        return 1
    return max(1, round(header.processors / header.nodes))


def finished(job: LogJob, start: datetime, per_node: int) -> FinishedJob:
    """The job with its times from the start of the log on. Waiting and running that nobody knows take no time; one that
    did not run ends when it would have started."""
    created = start.astimezone(UTC) + timedelta(seconds=job.submitted)
    began = created + timedelta(seconds=max(0.0, job.waited))
    ran = job.ran > 0
    ranks = job.processors if job.processors > 0 else job.asked_processors
    return FinishedJob(
        line=job.line,
        number=job.number,
        created=created,
        started=began if ran else None,
        ended=began + timedelta(seconds=max(0.0, job.ran)),
        state=_ENDS[job.status],
        nodes=-(-ranks // per_node),
        ranks=ranks,
        limit=int(job.limit) if 0 < job.limit < 2**31 else None,
        person=job.person,
        group=job.group,
        program=job.program,
    )
