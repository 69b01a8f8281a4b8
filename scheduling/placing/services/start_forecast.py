"""When Slurm itself would start a job on given nodes: all questions at once, and none for longer than people wait."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from django.utils import timezone

from gridportal.accounts.models import User
from gridportal.base.batch_system import RunSpec, StartForecast
from gridportal.base.errors import BackendError, InputError, RefusedError
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.runs.services.backends import backend, cluster_setting, slurm_options
from scheduling.runs.services.scripts import finds_nodes

log = logging.getLogger(__name__)
#: Seconds for all questions together. Slurm answers in milliseconds, unless it is busy: then the estimate stands.
PATIENCE = 2.0
_MOST = 6
_NOW = timedelta(seconds=10)
Start = datetime | str | None


@dataclass(frozen=True)
class GroupForecasts:
    """By node set: "now", a moment, or absent when Slurm did not tell. `refused`: why it would take no such job."""

    starts: dict[tuple[str, ...], Start]
    refused: str = ""


def forecast_starts(asked: Job | JobSpec, groups: Iterable[Sequence[str]], owner: User | None) -> GroupForecasts:
    """What Slurm says of at most six node sets. A Slurm that does not answer in time leaves them out."""
    wanted = list(dict.fromkeys(tuple(group) for group in groups))[:_MOST]
    cluster = asked.cluster
    if not wanted or (owner is None and cluster_setting(cluster).as_person):
        return GroupForecasts({})
    try:
        forecast = backend(cluster, owner, slurm_options(asked.options, cluster)).forecast
    except BackendError as error:
        log.info("%s foresees no start: %s", cluster, error)
        return GroupForecasts({})
    if forecast is None:
        return GroupForecasts({})
    specs = [_as_submitted(asked, nodes) for nodes in wanted]  # here: threads are to read no rows
    with ThreadPoolExecutor(len(wanted)) as pool:
        answers = list(pool.map(lambda spec: _ask(forecast, spec), specs))
    refused = next((answer for answer in answers if isinstance(answer, RefusedError)), "")
    known_starts = {nodes: _start(at) for nodes, at in zip(wanted, answers, strict=True) if isinstance(at, float)}
    return GroupForecasts(known_starts, str(refused))


def _as_submitted(asked: Job | JobSpec, nodes: tuple[str, ...]) -> RunSpec:
    ranks = asked.rank_request
    needs = (ranks.cpus_per_rank, ranks.memory_per_rank, ranks.gres_per_rank)
    spec = RunSpec("preview", "#!/bin/bash\n", nodes, "/", asked.time_limit, "", *needs)
    return replace(spec, finds_nodes=finds_nodes(asked))


def _ask(forecast: StartForecast, spec: RunSpec) -> float | RefusedError | None:
    try:
        found = forecast.expected_start(spec, timeout=PATIENCE)
    except RefusedError as error:
        return error
    except (BackendError, InputError) as error:
        log.info("the start on %s cannot be forecast: %s", " ".join(spec.nodes), error)
        return None
    return found


def _start(seconds: float) -> Start:
    at = datetime.fromtimestamp(seconds, UTC)
    return "now" if at <= timezone.now() + _NOW else at


def better(nodes: Sequence[str], forecast: GroupForecasts, estimate: Start) -> Start:
    """Slurm's word, else the estimate from time limits."""
    return forecast.starts.get(tuple(nodes), estimate)
