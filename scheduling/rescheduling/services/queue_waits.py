"""How long the next run of a job would wait for its nodes: by the queue's own forecast, else by who has them.

Source: the cost of Migration 2003, 6.2 has no queue, since nobody waited in one on its machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone

from scheduling.jobs.services.job_spec import JobSpec
from scheduling.placing.selectors import rooms
from scheduling.placing.selectors.occupancy import expected_start, free_times, occupancy
from scheduling.placing.services.requests import with_cluster_defaults
from scheduling.placing.services.start_forecast import better, forecast_starts
from scheduling.runs.models import Run


def seconds(run: Run, nodes: Sequence[str]) -> float | None:
    """Seconds until these nodes, rank by rank, could run it, were it submitted now; None where nobody knows.

    Its own nodes are free by then: the run ends that has them. Slurm says it of the others (`sbatch --test-only`); on a
    cluster without a queue, or where Slurm does not answer, the time limits of the jobs that have them do.
    """
    own = set(run.placement.nodes)
    others = [node for node in nodes if node not in own]
    if not others:
        return 0.0
    job = run.job
    forecasts = forecast_starts(job, [others], job.owner)
    return _from_now(better(others, forecasts, _by_time_limits(run, others)))


def _by_time_limits(run: Run, nodes: Sequence[str]) -> datetime | str | None:
    job = run.job
    book = rooms.ledger(job.cluster)
    book.drop(job.pk)
    options = with_cluster_defaults(job.options, job.cluster)
    seen = occupancy(job.cluster, options, job.time_limit, JobSpec.from_row(job).rank_request, book)
    free_at = free_times(seen)
    return expected_start(nodes, {node: at for node, at in free_at.items() if node in seen.occupied})


def _from_now(start: datetime | str | None) -> float | None:
    if isinstance(start, datetime):
        return max(0.0, (start - timezone.now()).total_seconds())
    return None if start is None else 0.0
