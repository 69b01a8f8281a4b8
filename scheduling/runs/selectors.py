"""Reading runs: the log, the phases, and what can be done with them in a queue."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypedDict

from django.conf import settings

from gridportal.base import run_directory, run_files
from gridportal.base.run_directory import RunFileError
from monitoring.clusters.selectors import traits
from scheduling.jobs.models import Job
from scheduling.runs.core.run_states import WAITS, RunState
from scheduling.runs.models import Run
from scheduling.runs.phase_models import PhaseReport


@dataclass(frozen=True)
class LogPart:
    """A piece of a log. `offset` and `end` in bytes; `complete`: nothing more will be written and `end` is the end."""

    text: str
    offset: int
    end: int
    complete: bool


def verbs(job: Job, run: Run | None) -> tuple[str, ...]:
    """What can be done with the job in its cluster's queue now: hold, release, requeue."""
    if run is None or not traits(job.cluster).has_queue:
        return ()
    if run.state in WAITS:
        return ("release",) if run.held else ("hold",)
    configured = settings.CLUSTERS[job.cluster]
    return ("requeue",) if run.state == RunState.RUNNING and configured.requeue else ()


def last_run(job: Job) -> Run | None:
    """The newest run with its placement."""
    return job.runs.select_related("placement").order_by("-number").first()


def run_starts(jobs: Collection[int]) -> dict[int, datetime]:
    """When the run of each job began that goes on now; jobs without one are left out. Backends end a run by the time
    limit of its job from this moment on: one that goes on elsewhere has the whole limit anew."""
    rows = Run.objects.filter(job__in=jobs, started_at__isnull=False, ended_at=None).order_by("number")
    return {job: began for job, began in rows.values_list("job_id", "started_at") if began}


def run_of(job: Job, number: int) -> Run | None:
    """The run of this number with its placement."""
    return job.runs.select_related("placement").filter(number=number).first()


def is_over(run: Run) -> bool:
    """Whether this run has ended; its job may go on with the next."""
    return run.ended_at is not None or run.job.is_final


def log_tail(run: Run, *, offset: int | None = None, limit: int = 64_000, done: bool | None = None) -> LogPart:
    """The same as `read_log`, with the sentence in place of a log that cannot be read any more.

    `done` is None: when its job is over.
    """
    done = run.job.is_final if done is None else done
    try:
        return read_log(run, offset=offset, limit=limit, done=done)
    except RunFileError as error:
        return LogPart(str(error) if done and not offset else "", 0, 0, done)


def read_log(run: Run, *, offset: int | None = None, limit: int = 64_000, done: bool) -> LogPart:
    """At most `limit` bytes of the run's log from `offset`, or its end. Never reads outside the run directory.

    `done`: whether nothing more comes. A letter of several bytes that is only half there is left for the next call.
    Raises RunFileError.
    """
    directory = directory_of(run)
    if directory is None:
        return LogPart("", 0, 0, done)
    part = run_directory.read_part(directory, run_files.OUTPUT, offset, limit)
    data, start = part.data, part.offset
    if offset is None and start > 0:
        cut = data.find(b"\n") + 1
        data, start = data[cut:], start + cut
    data = _whole_letters(data, final=done and part.end == part.size)
    end = start + len(data)
    return LogPart(data.decode("utf-8", "replace"), start, end, done and end >= part.size)


def directory_of(run: Run) -> Path | None:
    """The run directory, or None when the row names a place that is not below the folder of runs."""
    given = Path(run.run_dir)
    directory = given.parent.resolve() / given.name  # its last part may be a link by now, which nobody follows
    homes = [Path(settings.PORTAL.home) / "runs", *(c.runs for c in settings.CLUSTERS.values() if c.runs)]
    return directory if any(home.resolve() in directory.parents for home in homes) else None


class PhaseSummary(TypedDict):
    """What one phase took, as pages and the API have it. Times in seconds, maxima over ranks, where `compute` and
    `communicate` are None for programs that do not tell; `share` of all phases' seconds, 0..1."""

    phase: str
    count: int
    seconds: float
    mean: float
    min: float
    max: float
    compute: float | None
    communicate: float | None
    share: float
    iteration: int | None
    of: int | None


def phase_summary(run: Run) -> list[PhaseSummary]:
    """The phases of a run, in the order they began; sums are of all reports, however many are kept."""
    sums = [row.as_sum() for row in run.phase_totals.order_by("pk")]
    whole = sum(each.seconds.value for each in sums) or 1.0
    return [
        {
            "phase": each.phase,
            "count": each.count,
            "seconds": each.seconds.value,
            "mean": each.seconds.value / each.count,
            "min": each.least,
            "max": each.most,
            "compute": each.compute.value if each.compute else None,
            "communicate": each.communicate.value if each.communicate else None,
            "share": each.seconds.value / whole,
            "iteration": each.iteration,
            "of": each.of,
        }
        for each in sums
    ]


def phase_history(run: Run, phase: str) -> Sequence[Mapping[str, Any]]:
    """The reports of one phase that are kept, in their order: of many the longest of each stretch."""
    rows = PhaseReport.objects.filter(run=run, phase=phase).order_by("pk")
    return list(rows.values("phase", "number", "iteration", "seconds", "communicate"))


def _whole_letters(data: bytes, *, final: bool) -> bytes:
    if final:
        return data
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return data
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if length > back else data
    return data
