"""Filters that tell where ranks are."""

from __future__ import annotations

from collections.abc import Sequence

from django import template

from gridportal.base import rank_places
from scheduling.jobs.core.states import PENDING, JobState
from scheduling.jobs.models import Job

register = template.Library()


@register.filter
def in_short(nodes: Sequence[str]) -> str:
    """Nodes rank by rank as `n1 ×2 n2`."""
    return rank_places.in_short(nodes)


@register.filter
def in_rank_order(nodes: Sequence[str]) -> str:
    """{{ nodes|in_rank_order }}: the nodes rank by rank, a node again where its ranks do not follow each other."""
    return rank_places.in_rank_order(nodes)


@register.filter
def in_full(nodes: Sequence[str]) -> str:
    """Nodes rank by rank as `n1: ranks 0-1; n2: rank 2`."""
    return rank_places.in_full(nodes)


@register.filter
def distinct(nodes: Sequence[str]) -> tuple[str, ...]:
    """Each node once."""
    return rank_places.distinct(nodes)


@register.filter
def is_shared(nodes: Sequence[str]) -> bool:
    """Whether a node has several of the ranks."""
    return len(set(nodes)) < len(nodes)


@register.filter
def job_size(job: Job) -> str:
    """On how many ranks and nodes a job runs, or is to."""
    return rank_places.full_size(job.ranks, None if nodes_unknown(job) else job.node_count)


@register.filter
def nodes_size(nodes: Sequence[str]) -> str:
    """On how many ranks and nodes a run is, of its nodes rank by rank: after a move others than its job asked for."""
    return rank_places.full_size(len(nodes), len(set(nodes)))


@register.filter
def nodes_unknown(job: Job) -> bool:
    """Whether the selection has yet to decide on how many nodes a job runs."""
    return job.nodes_open and JobState(job.state) in PENDING
