"""How long a running job still takes, as far as anybody can say: by its contract, else by earlier runs like it.

And when its time limit would end it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from django.core.cache import cache

from scheduling.contracts.selectors.contract_stories import ContractStory
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run

#: For so many seconds what earlier runs took is not read again: the page asks every second.
_KEPT = 60
#: So many of the latest are looked at.
_LATEST = 20


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """seconds: still to run, below 0 where it takes longer than that, None where nobody knows. by: contract or runs.
    ends_at: when its time limit ends it, None without one."""

    seconds: float | None
    by: str
    ends_at: datetime | None

    @property
    def is_late(self) -> bool:
        """Whether it takes longer than it should."""
        return self.seconds is not None and self.seconds < 0


def time_left(job: Job, contract: ContractStory | None, now: datetime) -> TimeLeft | None:
    """None for a job that does not run, and where nothing at all is known. `contract`: the story of its contract."""
    if job.state != JobState.RUNNING or job.started_at is None:
        return None
    ends_at = job.started_at + timedelta(seconds=job.time_limit) if job.time_limit else None
    view = contract.view if contract else None
    if view is not None:
        return TimeLeft(view.remaining, "contract", ends_at)
    usual = _usual_seconds(job)
    elapsed = (now - job.started_at).total_seconds()
    if usual is None and ends_at is None:
        return None
    return TimeLeft(None if usual is None else usual - elapsed, "runs", ends_at)


def _usual_seconds(job: Job) -> float | None:
    """The median of the latest runs with the same parameters on as many ranks of this cluster; None without any."""
    key = f"usual-seconds-{job.pk}"
    kept: float | None = cache.get(key)
    if kept is None:
        same = {"job__parameters": job.parameters, "job__ranks": job.ranks, "job__cluster": job.cluster}
        rows = Run.objects.filter(job__application=job.application_id, state=RunState.SUCCEEDED, **same)
        rows = rows.filter(started_at__isnull=False, ended_at__isnull=False).exclude(job=job).order_by("-job_id")
        times = rows.values_list("started_at", "ended_at")[:_LATEST]
        took = [(ended - began).total_seconds() for began, ended in times if began and ended]
        kept = median(took) if took else 0.0
        cache.set(key, kept, _KEPT)
    return kept or None
