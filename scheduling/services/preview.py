"""What would be chosen now, and the script that would be submitted; nothing is written, nothing is measured."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

from django.conf import settings

from gridportal.accounts.models import User
from gridportal.clusters import BUSY, Busy
from gridportal.errors import ImpossibleError
from monitoring import selectors as network
from monitoring.selectors import NetworkStatus
from scheduling.core import placement, sentences, trial_words
from scheduling.core.placement import Request, Selection
from scheduling.selectors import Occupancy, expected_start, free_nodes, free_times, occupancy, queues
from scheduling.services import skeletons, trials
from scheduling.services.choosing import Choice, WaitsError, choose, policy_of
from scheduling.services.choosing import answer as select_now
from scheduling.services.foresight import better, foresee
from scheduling.services.job_spec import JobSpec
from scheduling.services.paths import run_dir
from scheduling.services.requests import check, effective
from scheduling.services.scripts import script_of

_LONGEST = 1.0


@dataclass(frozen=True)
class Preview:
    """The answer for a form. `candidates` and `bottleneck` as in Placement; `finding` is their one-line summary.

    `problem`: why the job could not start at once, in words, or None. `on_free_nodes`: False when the candidates
    also use nodes that are taken now. `seconds`: time of the choice. `expected_start` of a candidate: "now", a moment,
    or None when nobody knows. `ways`: for each way of dealing with busy nodes, while some are busy, {"policy",
    "words", "nodes", "expected_start", "chosen"}. `trial`: whether its skeleton would be tried on the groups, in words;
    empty where there is none, or none is asked for.
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
    ways: list[dict[str, Any]] = field(default_factory=list)
    trial: str = ""


def preview(request: JobSpec, owner: User | None = None) -> Preview:
    """Raises InputError or ImpossibleError as submit_job does; what only has to be waited for is a `problem`."""
    checked = check(request, owner.username if owner else "")
    status = network.network_status(request.cluster, when=request.requirements.figures)
    if status is None:
        nodes = [f"node-{rank + 1}" for rank in range(request.node_count)]
        who = request.cluster if queues(request.cluster) else "the emulated Grid"
        problem = f"The network was not measured yet: nodes are chosen once {who} answers."
        return Preview(script=_script(request, nodes), problem=problem)
    asked = replace(checked.question, time_budget=min(_LONGEST, settings.KNOBS.time_budget))
    seen = occupancy(request.cluster, effective(checked.spec.options, request.cluster), request.time_limit)
    policy = policy_of(request.cluster, request.busy_policy)
    found, problem, free = _chosen(request, status, asked, seen, policy)
    answer = _answer(request, status, found, problem, free=free)
    if found is None:
        return answer
    trial = _trial(request, Choice(found, free=True), asked, status, seen) if free else ""
    return replace(answer, trial=trial, **_starts(request, status, asked, seen, policy, answer, owner))


def _trial(request: JobSpec, choice: Choice, asked: Request, status: NetworkStatus, seen: Occupancy) -> str:
    """Whether the groups would be tried by the program's skeleton first, and if not why."""
    if not trials.asked(request) or not settings.KNOBS.trial_seconds:
        return ""
    known = skeletons.known(request.application, request.parameters, request.node_count)
    if known is None:
        some = skeletons.usable(request.application).exists()
        return trial_words.missing(request.node_count) if some else ""
    here = not queues(request.cluster)
    plan = trials.planned(known, choice, asked.pattern, status.topology, seen, one_machine=here)
    if plan.plan is None:
        return plan.untried.replace("was not run", "would not be run", 1)
    return trial_words.ahead(len(plan.plan.groups), plan.plan.budget)


def _chosen(
    request: JobSpec, status: NetworkStatus, asked: Request, seen: Occupancy, policy: Busy
) -> tuple[Selection | None, str | None, bool]:
    """What would be chosen, what is in its way, and whether its nodes are free."""
    try:
        choice = choose(status, asked, seen, policy, in_queue=queues(request.cluster))
    except WaitsError as error:
        problem = str(error)
    else:
        return choice.selection, None if choice.free else "", choice.free
    try:
        best = select_now(status, replace(asked, exclude=frozenset(seen.unfit)))
    except ImpossibleError as error:
        if not seen.closed:
            problem = sentences.out_of_reach(str(error), request.requirements)
        return None, problem, True
    free, total = free_nodes(request.cluster)
    if free < request.node_count:
        problem = sentences.too_few_free(request.node_count, free, total, sorted(set(seen.taken.values())))
    return best, problem, False


def _starts(
    request: JobSpec,
    status: NetworkStatus,
    asked: Request,
    seen: Occupancy,
    policy: Busy,
    answer: Preview,
    owner: User | None,
) -> dict[str, Any]:
    """When each candidate, and each way of dealing with busy nodes, would start."""
    free_at = free_times(request.cluster, seen)
    chosen = nodes_by_way(status, asked, seen)
    first = [candidate["nodes"] for candidate in answer.candidates[:1]]
    said = foresee(request, [*first, *chosen.values()], owner)
    ways = [
        {
            "policy": way,
            "words": BUSY[way],
            "nodes": nodes,
            "chosen": way == policy,
            "expected_start": better(nodes, said, expected_start(nodes, free_at)),
        }
        for way, nodes in chosen.items()
    ]
    candidates = [
        {**c, "expected_start": better(c["nodes"], said, expected_start(c["nodes"], free_at))}
        for c in answer.candidates
    ]
    problem = answer.problem if answer.problem or not said.refused else said.refused
    if problem == "":  # it would wait in the queue of its cluster
        start = candidates[0]["expected_start"]
        when = f"they should be free at {start:%H:%M} UTC" if isinstance(start, datetime) else "nobody knows how long"
        problem = f"Its nodes are busy, and it would wait for them in the queue of {request.cluster}: {when}."
    return {"candidates": candidates, "ways": ways if seen.occupied else [], "problem": problem}


def nodes_by_way(status: NetworkStatus, asked: Request, seen: Occupancy) -> dict[str, list[str]]:
    """The nodes that each way of dealing with busy ones would take now; a way that finds none is left out."""
    found = {}
    for way in BUSY:
        with suppress(WaitsError):
            found[way] = list(choose(status, asked, seen, cast(Busy, way), in_queue=True).selection.nodes)
    return found


def _answer(
    request: JobSpec, status: NetworkStatus, selection: Selection | None, problem: str | None, *, free: bool
) -> Preview:
    if selection is None:
        some = [node.id for node in status.topology.compute_nodes()][: request.node_count]
        return Preview(
            measured_at=status.measured_at, warning=status.warning, script=_script(request, some), problem=problem
        )
    found = placement.document(selection)
    peaks = {frozenset((link.source, link.target)): link.capacity for link in status.topology.links}
    ends = (found["bottleneck"] or {}).get("link") or found["bottleneck"]
    peak = peaks.get(frozenset((ends["source"], ends["target"]))) if ends else None
    return Preview(
        candidates=found["candidates"],
        bottleneck=found["bottleneck"],
        finding=sentences.finding(found["candidates"][0], peak, talks=request.method == "pattern"),
        optimal=found["optimal"],
        seconds=found["seconds"],
        measured_at=status.measured_at,
        warning=status.warning,
        script=_script(request, found["nodes"]),
        problem=problem,
        on_free_nodes=free,
    )


def _script(request: JobSpec, nodes: list[str]) -> str:
    key = "job-NUMBER-run-1"
    return script_of(request, nodes, str(run_dir(key, request.cluster)), f"{key}: {request.application.name}")
