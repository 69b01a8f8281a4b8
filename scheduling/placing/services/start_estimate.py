"""When a job that waits would start, by each way of dealing with busy nodes; asked anew every half a minute at most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.cache import cache

from gridportal.base.clusters import BUSY
from gridportal.base.errors import ImpossibleError, InputError
from monitoring.clusters.selectors import traits
from monitoring.status.selectors import network_status as status_network
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.placing.core.expected_ends import EndsOf, EndSource
from scheduling.placing.selectors.occupancy import ends_by_limits, free_times, occupancy
from scheduling.placing.selectors.rooms import ledger
from scheduling.placing.services.choosing import policy_of
from scheduling.placing.services.preview import Way, nodes_by_way, start_of
from scheduling.placing.services.requests import question, read_pattern, with_cluster_defaults
from scheduling.placing.services.start_forecast import forecast_starts
from scheduling.runs.core.run_states import WAITS
from scheduling.runs.models import Run
from scheduling.runs.selectors import last_run

_KEPT = 30
_LONGEST = 0.5
_THERE = "wait for the nodes that it has in the queue"


def ways_to_start(job: Job, ends_of: EndsOf = ends_by_limits) -> list[Way]:
    """Each way; nothing for a job that waits for no nodes, or while no node is busy. What the job has in its cluster's
    queue comes first. `ends_of`: when jobs that run will end."""
    run = last_run(job) if job.state == JobState.STARTING else None
    pending = run is not None and run.state in WAITS and traits(job.cluster).has_queue
    if not (pending or (job.state == JobState.WAITING and not job.held_back)):
        return []
    key = f"start-outlook-{job.request_key.hex}-{job.state}-{run.pk if run else 0}"
    kept: list[Mapping[str, Any]] | None = cache.get(key)
    if kept is None:
        kept = [_plain(way) for way in _look(job, ends_of)]
        cache.set(key, kept, _KEPT)
    ways = [_way(row) for row in kept]
    return [_there(job, run), *(way for way in ways if not way["chosen"])] if run and ways else ways


def _there(job: Job, run: Run) -> Way:
    """Where it stands in the queue of its cluster, as the cluster itself foresees it."""
    policy = policy_of(job.cluster, job.busy_policy)
    return {
        "policy": policy,
        "label": _THERE,
        "nodes": run.placement.nodes,
        "chosen": True,
        "expected_start": run.expected_start,
        "by": EndSource.CLUSTER if run.expected_start else "",
    }


def _look(job: Job, ends_of: EndsOf) -> list[Way]:
    status = status_network.network_status(job.cluster, when=job.requirements.figures)
    book = ledger(job.cluster)
    book.drop(job.pk)
    options = with_cluster_defaults(job.options, job.cluster)
    seen = occupancy(job.cluster, options, job.time_limit, job.rank_request, book, job.application.mpi)
    if status is None or not seen.occupied:
        return []
    try:
        asked = question(job, read_pattern(job))
    except (InputError, ImpossibleError):  # what it was asked with is gone; its state says so
        return []
    chosen = nodes_by_way(status, replace(asked, time_budget=min(_LONGEST, settings.PORTAL.time_budget)), seen)
    forecasts, free_at = forecast_starts(job, chosen.values(), job.owner), free_times(seen, ends_of)
    policy = policy_of(job.cluster, job.busy_policy)
    return [
        {
            "policy": way,
            "label": BUSY[way],
            "nodes": nodes,
            "chosen": way == policy,
            **start_of(nodes, forecasts, free_at),
        }
        for way, nodes in chosen.items()
    ]


def _plain(way: Way) -> dict[str, object]:
    """As JSON for the cache, and back by `_way`."""
    start = way["expected_start"]
    return {**way, "expected_start": start.timestamp() if isinstance(start, datetime) else start}


def _way(row: Mapping[str, Any]) -> Way:
    start = row["expected_start"]
    return {
        "policy": row["policy"],
        "label": row["label"],
        "nodes": row["nodes"],
        "chosen": row["chosen"],
        "expected_start": datetime.fromtimestamp(start, UTC) if isinstance(start, float) else start,
        "by": row["by"],
    }
