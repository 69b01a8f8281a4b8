"""Which ranks of one node talk: what the picture of a placement has beside its links."""

from __future__ import annotations

from collections.abc import Sequence

from gridportal.base.errors import GridPortalError
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.placing.services.requests import read_pattern
from scheduling.profiles.charts import picture


def inner_pairs(nodes: Sequence[str], asked: Job | JobSpec | None) -> list[tuple[int, int]]:
    """By the pattern; none where each rank has a node of its own, or where the pattern cannot be read any more."""
    if asked is None or len(set(nodes)) == len(nodes) or len(nodes) > picture.MOST_NODES:
        return []
    try:
        pattern = read_pattern(asked)
    except GridPortalError:  # its state says so
        return []
    if pattern is None or pattern.ranks != len(nodes):
        return []
    return picture.inner_pairs(nodes, ((a, b) for a, b, _ in pattern.edges))
