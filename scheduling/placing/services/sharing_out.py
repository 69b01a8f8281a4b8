"""The shares of a job's ranks: those of its mapper, else by the speed of the nodes for a program that wants some."""

from __future__ import annotations

from collections.abc import Sequence

from monitoring.clusters.selectors import effective_cpus
from scheduling.jobs.core.parameters import wants_shares
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.placing.core import rank_shares
from scheduling.placing.models import Placement


def shares_on(job: Job | JobSpec, nodes: Sequence[str]) -> list[float]:
    """By how fast the nodes are and what others leave of them, for a program whose command has {shares}; else none."""
    if not wants_shares(job.application.command):
        return []
    return rank_shares.by_speed(nodes, effective_cpus(job.cluster, set(nodes)))


def note_shares(job: Job, placement: Placement) -> None:
    """Let the placement have shares where its program wants some and no mapper gave any for these nodes."""
    if len(placement.shares) == len(placement.nodes):
        return
    placement.shares = shares_on(job, placement.nodes)
    if placement.pk is not None and placement.shares:
        placement.save(update_fields=["shares"])
