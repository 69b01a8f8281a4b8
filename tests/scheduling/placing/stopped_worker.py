"""A worker, a process of its own, that is stopped between two steps."""

from __future__ import annotations

from scheduling.jobs.services.leases import release_all
from scheduling.placing.services.placing import Round


def place_without_starting(cluster: str) -> list[int]:
    """Place all jobs of a cluster that fit, and hand none of them over; their ids. Nobody has leased them then."""
    placed: list[int] = []
    for batch in Round(cluster).batches():
        release_all([run.job for run in batch])
        placed += [run.job_id for run in batch]
    return placed
