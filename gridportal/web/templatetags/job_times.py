"""What a job is called, and for how long it ran or runs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django import template
from django.utils import timezone

register = template.Library()


@register.filter
def job_name(job: Any) -> str:
    """What a person called a job, else what it runs: `NAS CG class W`."""
    size = job.parameters.get("class") if isinstance(job.parameters, dict) else None
    return job.name or f"{job.application.name}{f' class {size}' if size else ''}"


@register.filter
def ran(job: Any) -> float | None:
    """For how long a job's program was there, in seconds, starting and ending included; None while it is not over. Of
    all its runs, where the query has added them up (`all_runs`); else of the last one."""
    return running_seconds(job.started_at, job.ended_at, getattr(job, "all_runs", None), job.state)


def running_seconds(
    started: datetime | None, ended: datetime | None, all_runs: timedelta | None, state: str
) -> float | None:
    """The same of what a row has: `all_runs`: how long all runs lasted together, None where nobody added them up.
    A stopped job is not over, but none of its runs goes on."""
    if state == "stopped" and all_runs is not None:
        return all_runs.total_seconds()
    if started is None or ended is None:
        return None
    return (all_runs or ended - started).total_seconds()


@register.filter
def runs_for(job: Any) -> float | None:
    """For how long a job that runs did so until now, in seconds, with its earlier runs; None where it does not run.
    Its own start is that of its first run, so where earlier runs were added up (`all_runs`) the query says when this
    one began, too (`run_began`)."""
    if job.started_at is None or job.ended_at is not None or job.state != "running":
        return None
    return seconds_until_now(job.started_at, getattr(job, "all_runs", None), getattr(job, "run_began", None))


def seconds_until_now(started: datetime, all_runs: timedelta | None, run_began: datetime | None) -> float:
    """The same of what a row has."""
    before = all_runs or timedelta()
    return max(0.0, (before + (timezone.now() - (run_began or started))).total_seconds())
