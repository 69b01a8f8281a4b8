"""When jobs that run will end: by their contracts, by trials, by earlier runs like them, and by their time limits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from django.core.cache import cache
from django.utils import timezone

from scheduling.contracts.core.first_reports import FIRST_REPORTS
from scheduling.contracts.core.outlook import next_report, outlook, remaining_now
from scheduling.contracts.models import Contract
from scheduling.contracts.selectors.promises import elapsed
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.placing.core.expected_ends import EndSource, ExpectedEnd
from scheduling.placing.selectors.occupancy import ends_by_limits
from scheduling.placing.selectors.trial_stories import last_placement, trial
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run

#: For so many seconds what earlier runs took is not read again: pages ask every second.
_KEPT = 60
#: So many of the latest are looked at.
_LATEST = 20


@dataclass(frozen=True, slots=True)
class RestOfRun:
    """seconds: still to run, below 0 where it takes longer than that; by: what says so; late: for how many seconds the
    next report of the run should have come, where reports say so."""

    seconds: float
    by: EndSource
    late: float = 0.0


def expected_ends(jobs: Iterable[int]) -> dict[int, ExpectedEnd]:
    """Of those that run, the others are left out; at the latest when its time limit ends a job. What is overdue is
    expected to end now by its contract, and else by its time limit."""
    now, numbers = timezone.now(), set(jobs)
    found = ends_by_limits(numbers)
    running = Job.objects.filter(pk__in=numbers, state=JobState.RUNNING, started_at__isnull=False)
    rows = Contract.objects.filter(run__job__in=running).select_related("run").order_by("run_id")
    newest = {contract.run.job_id: contract for contract in rows}
    for job in running:
        rest = rest_of_run(job, newest.get(job.pk), now)
        if rest is not None and rest.seconds >= 0:
            end, limit = ExpectedEnd(now + timedelta(seconds=rest.seconds), rest.by), found.get(job.pk)
            found[job.pk] = limit if limit is not None and limit.at < end.at else end
    return found


def rest_of_run(job: Job, contract: Contract | None, now: datetime) -> RestOfRun | None:
    """What is left of a job that runs; None where nobody knows.

    One source, the first of these that there is: its contract, its trial (of its own nodes), earlier runs (on any
    nodes), the contract that was made of its own first reports. Only the last comes up later than with the contract
    itself, and takes the place of none.
    """
    by_contract = _by_contract(contract, now)
    if by_contract is not None and by_contract.by is EndSource.CONTRACT:
        return by_contract
    whole = [(_tried_seconds(job), EndSource.TRIAL), (usual_seconds(job), EndSource.RUNS)]
    since = (now - job.started_at).total_seconds() if job.started_at else 0.0
    return next((RestOfRun(seconds - since, by) for seconds, by in whole if seconds is not None), by_contract)


def _by_contract(contract: Contract | None, now: datetime) -> RestOfRun | None:
    promised = contract.prediction if contract else None
    if contract is None or promised is None:
        return None
    state, ran = contract.monitor_state, elapsed(contract, now)
    view = outlook(promised, state, ran)
    if view is None:
        return None
    quiet = min(ran, max(0.0, now.timestamp() - state.read_at))
    by = EndSource.FIRST_REPORTS if promised.model == FIRST_REPORTS else EndSource.CONTRACT
    late = max(0.0, quiet - next_report(promised, state))
    return RestOfRun(remaining_now(promised, state, view, quiet), by, late)


def usual_seconds(job: Job) -> float | None:
    """The median of the latest runs with the same parameters on as many ranks of this cluster that ended before this
    one began, so that it stays the same while it runs; None without any."""
    key = f"usual-seconds-{job.pk}-{job.started_at:%s}"
    kept: float | None = cache.get(key)
    if kept is None:
        same = {"job__parameters": job.parameters, "job__ranks": job.ranks, "job__cluster": job.cluster}
        rows = Run.objects.filter(job__application=job.application_id, state=RunState.SUCCEEDED, **same)
        rows = rows.filter(started_at__isnull=False, ended_at__lt=job.started_at).exclude(job=job).order_by("-job_id")
        times = rows.values_list("started_at", "ended_at")[:_LATEST]
        took = [(ended - began).total_seconds() for began, ended in times if began and ended]
        kept = median(took) if took else 0.0
        cache.set(key, kept, _KEPT)
    return kept or None


def _tried_seconds(job: Job) -> float | None:
    """What its skeleton predicts on the nodes that it has."""
    found = trial(last_placement(job))
    return found.predicted if found else None
