"""What would be chosen now, and the script that would be submitted; nothing is written, nothing is measured."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.conf import settings

from gridportal.errors import ImpossibleError
from monitoring import selectors as network
from monitoring.selectors import NetworkStatus
from scheduling.core import placement, sentences
from scheduling.core.placement import Request
from scheduling.core.selection import select
from scheduling.selectors import free_nodes, holders
from scheduling.services.paths import run_dir
from scheduling.services.requests import JobRequest, check
from scheduling.services.scripts import script_of

_LONGEST = 1.0


@dataclass(frozen=True)
class Preview:
    """The answer for a form. `candidates` and `bottleneck` as in Placement; `finding` is their one-line summary.

    `problem`: why the job could not start at once, in words, or None. `on_free_nodes`: False when the candidates
    also use nodes that are taken now. `seconds`: time of the choice.
    """

    candidates: list[dict[str, Any]] = field(default_factory=list)
    bottleneck: dict[str, Any] | None = None
    finding: str = ""
    optimal: bool = False
    seconds: float = 0.0
    measured_at: datetime | None = None
    warning: str = ""
    script: str = ""
    problem: str | None = None
    on_free_nodes: bool = True


def preview(request: JobRequest) -> Preview:
    """Raises InputError or ImpossibleError as submit_job does; what only has to be waited for is a `problem`."""
    asked = check(request).question
    status = network.network_status(request.cluster)
    if status is None:
        nodes = [f"node-{rank + 1}" for rank in range(request.node_count)]
        problem = "The network was not measured yet: nodes are chosen once the emulated Grid answers."
        return Preview(script=_script(request, nodes), problem=problem)
    names = {node.id for node in status.topology.compute_nodes()}
    taken = {node: job for node, job in holders(request.cluster).items() if node in names}
    asked = replace(asked, time_budget=min(_LONGEST, settings.KNOBS.time_budget))
    found, problem = _try(status, replace(asked, exclude=frozenset(taken)))
    if found is not None or not taken:
        return _answer(request, status, found, problem, free=True)
    found, still = _try(status, asked)
    if found is None:
        return _answer(request, status, None, still, free=True)
    free, total = free_nodes(request.cluster)
    jobs = sorted(set(taken.values()))
    if free < request.node_count:
        problem = sentences.too_few_free(request.node_count, free, total, jobs)
    else:
        problem = sentences.not_among_free(problem or "", jobs)
    return _answer(request, status, found, problem, free=False)


def _try(status: NetworkStatus, asked: Request) -> tuple[dict[str, Any] | None, str | None]:
    try:
        chosen = select(status.topology, asked, rng=random.Random(asked.seed), clock=time.monotonic)  # noqa: S311
    except ImpossibleError as error:
        return None, str(error)
    return placement.document(chosen), None


def _answer(
    request: JobRequest, status: NetworkStatus, found: dict[str, Any] | None, problem: str | None, *, free: bool
) -> Preview:
    if found is None:
        why = sentences.not_now(problem or "", request.requirements)
        some = [node.id for node in status.topology.compute_nodes()][: request.node_count]
        return Preview(
            measured_at=status.measured_at, warning=status.warning, script=_script(request, some), problem=why
        )
    peaks = {frozenset((link.source, link.target)): link.capacity for link in status.topology.links}
    ends = (found["bottleneck"] or {}).get("link") or found["bottleneck"]
    peak = peaks.get(frozenset((ends["source"], ends["target"]))) if ends else None
    return Preview(
        candidates=found["candidates"],
        bottleneck=found["bottleneck"],
        finding=sentences.finding(found["candidates"][0], peak),
        optimal=found["optimal"],
        seconds=found["seconds"],
        measured_at=status.measured_at,
        warning=status.warning,
        script=_script(request, found["nodes"]),
        problem=problem,
        on_free_nodes=free,
    )


def _script(request: JobRequest, nodes: list[str]) -> str:
    key = "job-NUMBER-run-1"
    return script_of(request, nodes, str(run_dir(key)), f"{key}: {request.application.name}")
