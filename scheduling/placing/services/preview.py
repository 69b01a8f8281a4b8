"""What would be chosen now, and the script that would be submitted; nothing is written, nothing is measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypedDict, cast

from django.conf import settings

from gridportal.accounts.models import User
from gridportal.base.clusters import BUSY, Busy
from gridportal.base.errors import ImpossibleError
from gridportal.base.reasons import NOTHING, Code, Reason, text_reason
from gridportal.network.link_columns import link_columns
from monitoring.clusters.selectors import setting, traits
from monitoring.status.selectors import network_status as status_network
from monitoring.status.selectors.network_status import NetworkStatus
from scheduling.jobs.core.candidates import CandidateGroup
from scheduling.jobs.core.explanation import MOST_KEPT, NO_EXPLANATION, Explanation
from scheduling.jobs.selectors import waiting_reason
from scheduling.jobs.services.dependencies import check_dependencies
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.jobs.services.program_clusters import check_use
from scheduling.matching.selectors import resource_ads
from scheduling.placing.core import rank_shares
from scheduling.placing.core.expected_ends import EndsOf, EndSource, ExpectedEnd, last_end
from scheduling.placing.core.match_notes import NO_NOTES
from scheduling.placing.core.room import Size
from scheduling.placing.selectors.occupancy import (
    Occupancy,
    ends_by_limits,
    expected_start,
    free_times,
    occupancy,
    too_little_room,
)
from scheduling.placing.selectors.rooms import free_room
from scheduling.placing.services import trials
from scheduling.placing.services.choosing import (
    Answer,
    Choice,
    Remembered,
    WaitsError,
    choose,
    on_all_nodes,
    policy_of,
)
from scheduling.placing.services.explaining import explain
from scheduling.placing.services.matched_nodes import MatchedNodes, of_spec
from scheduling.placing.services.requests import check, with_cluster_defaults
from scheduling.placing.services.sharing_out import shares_on
from scheduling.placing.services.start_forecast import GroupForecasts, better, forecast_starts
from scheduling.runs.services.paths import run_dir
from scheduling.runs.services.scripts import script_of
from scheduling.selection.core.placement import Request, Selection, candidate_group
from scheduling.skeletons.services import stored_skeletons

_LONGEST = 1.0


class ExpectedStart(TypedDict):
    """`expected_start`: "now", a moment, or None when nobody knows; `by`: what a moment comes from, an `EndSource`,
    else empty."""

    expected_start: datetime | str | None
    by: str


class Way(ExpectedStart):
    """A way of dealing with busy nodes."""

    policy: Busy
    label: str
    nodes: list[str]
    chosen: bool


@dataclass(frozen=True)
class Preview:
    """The answer for a form. `candidates`: the groups, the chosen one first; `peak`: capacity, bit/s, of the link that
    binds it; `talks`: only the pairs of a pattern count.

    `problem`: why the job could not start at once, or none. `on_free_nodes`: False when the candidates
    also use nodes that are taken now. `script`: where no nodes can be had its
    nodes are those of pins, and names that no node has. `seconds`: time of the choice. `starts`: when each candidate
    could start, "now", a moment, or None when nobody knows. `ways`: each way of dealing with busy nodes, while some are
    busy. `trial`: whether its skeleton would be tried on the groups; none where there is none, or none is asked for.
    `explanation`: why the other nodes would not be taken. `after`: for which jobs it would wait before its nodes are
    chosen.
    """

    candidates: tuple[CandidateGroup, ...] = ()
    starts: tuple[datetime | str | None, ...] = ()
    peak: float | None = None
    talks: bool = True
    optimal: bool = False
    seconds: float = 0.0
    measured_at: datetime | None = None
    warning: str = ""
    script: str = ""
    problem: Reason = NOTHING
    on_free_nodes: bool = True
    ways: list[Way] = field(default_factory=list)
    trial: Reason = NOTHING
    explanation: Explanation = NO_EXPLANATION
    after: Reason = NOTHING


def preview(
    request: JobSpec, owner: User | None = None, until: float = math.inf, ends_of: EndsOf = ends_by_limits
) -> Preview:
    """Raises InputError or ImpossibleError as submit_job does; what only has to be waited for is a `problem`. `until`:
    on the monotonic clock, when matches of a request in ClassAds are over; `ends_of`: when jobs that run will end."""
    if owner is None:
        return _preview(request, owner, until, ends_of)
    check_use(owner, request.application, setting(request.cluster))
    befores = check_dependencies(owner, request)
    return replace(_preview(request, owner, until, ends_of), after=waiting_reason(befores))


def _preview(request: JobSpec, owner: User | None, until: float, ends_of: EndsOf) -> Preview:
    checked = check(request, owner.username if owner else "")
    status = status_network.network_status(request.cluster, when=request.requirements.figures)
    if status is None:
        shown = "" if traits(request.cluster).part_of_portal else request.cluster
        return Preview(
            script=_script(request, _named_nodes(request)), problem=Reason.of(Code.NOT_MEASURED, cluster=shown)
        )
    asked = replace(checked.question, time_budget=min(_LONGEST, settings.PORTAL.time_budget))
    options = with_cluster_defaults(checked.spec.options, request.cluster)
    mpi = request.application.mpi
    seen = occupancy(request.cluster, options, request.time_limit, request.rank_request, mpi=mpi)
    policy = policy_of(request.cluster, request.busy_policy)
    ask: Answer = Remembered()
    if request.classad.strip() or resource_ads(request.cluster).exists():
        ask = of_spec(request, owner, ask, until)
        ask.match_all(status, on_all_nodes(asked, seen))
    size = Size(checked.least_nodes, request.rank_request.total * request.rank_request.cpus_per_rank)
    found, problem, free = _chosen(size, status, asked, seen, policy, ask, request.cluster)
    answer = _answer(request, status, found, problem, free=free)
    if found is None:
        return answer
    trial = _trial(request, Choice(found, free=True), asked, status, seen) if free else NOTHING
    match = NO_NOTES
    if isinstance(ask, MatchedNodes):
        match = ask.notes_on(found)
        asked, choice = ask.settled(asked, Choice(found, free))
        shares = rank_shares.of_machines(found.nodes, choice.shares)
        answer = replace(answer, script=_script(request, list(found.nodes), shares))
    why = explain(status, asked, seen, found, free=free, most=MOST_KEPT, match=match)
    answer = replace(answer, trial=trial, explanation=why)
    free_at = free_times(seen, ends_of)
    return _with_starts(request, status, asked, seen, policy, answer, owner, ask, free_at, in_queue=problem is None)


def _named_nodes(request: JobSpec) -> list[str]:
    """For a script without chosen nodes: those to which ranks are pinned, and names that no node has for the others."""
    pinned = request.specification.pinned()
    ranks = range(request.rank_request.total)
    return [pinned[rank][0] if pinned.get(rank) else f"node-{rank + 1}" for rank in ranks]


def _trial(request: JobSpec, choice: Choice, asked: Request, status: NetworkStatus, seen: Occupancy) -> Reason:
    """Whether the groups would be tried by the program's skeleton first, and if not why."""
    if not trials.wants_trial(request) or not settings.PORTAL.trial_seconds:
        return NOTHING
    skeleton = stored_skeletons.best_figures(request.application, request.parameters, request.rank_request.total)
    if skeleton is None:
        return stored_skeletons.why_none(request.application, request.parameters, request.rank_request.total)
    here = traits(request.cluster).one_machine
    plan = trials.planned(skeleton, choice, asked.pattern, status.topology, seen, one_machine=here)
    if plan.plan is None:
        return plan.untried.with_facts(ahead=True)
    return Reason.of(Code.TRIAL_PLANNED, groups=len(plan.plan.groups), budget=plan.plan.budget)


def _chosen(
    size: Size, status: NetworkStatus, asked: Request, seen: Occupancy, policy: Busy, ask: Answer, cluster: str
) -> tuple[Selection | None, Reason | None, bool]:
    """What would be chosen, what is in its way (None: nodes that are busy in a queue of their own), and whether
    its nodes are free."""
    try:
        choice = choose(status, asked, seen, policy, in_queue=traits(cluster).has_queue, answer=ask)
    except WaitsError as error:
        problem = error.reason
    else:
        return choice.selection, NOTHING if choice.free else None, choice.free
    try:
        best = ask(status, on_all_nodes(asked, seen))
    except ImpossibleError as error:
        if not seen.closed:
            problem = _out_of_reach(error, asked)
        return None, problem, True
    room = free_room(cluster)
    if not room.admits(*size):
        problem = too_little_room(room, size, sorted(set(seen.taken.values())))
    return best, problem, False


def _with_starts(
    request: JobSpec,
    status: NetworkStatus,
    asked: Request,
    seen: Occupancy,
    policy: Busy,
    answer: Preview,
    owner: User | None,
    ask: Answer,
    free_at: Mapping[str, ExpectedEnd | None],
    *,
    in_queue: bool,
) -> Preview:
    """The answer with when each candidate, and each way of dealing with busy nodes, would start."""
    chosen = nodes_by_way(status, asked, seen, ask)
    first = [list(candidate.nodes) for candidate in answer.candidates[:1]]
    forecasts = forecast_starts(request, [*first, *chosen.values()], owner)
    ways: list[Way] = [
        {
            "policy": way,
            "label": BUSY[way],
            "nodes": nodes,
            "chosen": way == policy,
            **start_of(nodes, forecasts, free_at),
        }
        for way, nodes in chosen.items()
    ]
    groups = [list(group.nodes) for group in answer.candidates]
    starts = tuple(better(nodes, forecasts, expected_start(nodes, free_at)) for nodes in groups)
    problem = answer.problem if answer.problem or not forecasts.refused else text_reason(forecasts.refused)
    if in_queue and not problem:
        at = starts[0].isoformat() if isinstance(starts[0], datetime) else None
        problem = Reason.of(Code.BUSY_IN_QUEUE, cluster=request.cluster, start=at)
    return replace(answer, starts=starts, ways=ways if seen.occupied else [], problem=problem)


def start_of(
    nodes: Sequence[str], forecasts: GroupForecasts, free_at: Mapping[str, ExpectedEnd | None]
) -> ExpectedStart:
    """When these nodes would be had, and what says so."""
    last = last_end(nodes, free_at)
    by = EndSource.CLUSTER if tuple(nodes) in forecasts.starts else last.by if last else ""
    start = better(nodes, forecasts, expected_start(nodes, free_at))
    return {"expected_start": start, "by": by if isinstance(start, datetime) else ""}


def nodes_by_way(
    status: NetworkStatus, asked: Request, seen: Occupancy, ask: Answer | None = None
) -> dict[Busy, list[str]]:
    """The nodes that each way of dealing with busy ones would take now; a way that finds none is left out."""
    found: dict[Busy, list[str]] = {}
    ask = ask or Remembered()
    for way in BUSY:
        policy = cast(Busy, way)
        with suppress(WaitsError):
            found[policy] = list(choose(status, asked, seen, policy, in_queue=True, answer=ask).selection.nodes)
    return found


def _answer(
    request: JobSpec, status: NetworkStatus, selection: Selection | None, problem: Reason | None, *, free: bool
) -> Preview:
    if selection is None:
        return Preview(
            measured_at=status.measured_at,
            warning=status.warning,
            script=_script(request, _named_nodes(request)),
            problem=problem or NOTHING,
        )
    groups = tuple(map(candidate_group, selection.candidates))
    slowest = groups[0].bottleneck
    return Preview(
        candidates=groups,
        peak=link_columns(status.topology).capacity_between(*slowest.ends) if slowest else None,
        talks=request.method == "pattern",
        optimal=selection.optimal,
        seconds=selection.seconds,
        measured_at=status.measured_at,
        warning=status.warning,
        script=_script(request, list(selection.nodes)),
        problem=problem or NOTHING,
        on_free_nodes=free,
    )


def _out_of_reach(error: ImpossibleError, asked: Request) -> Reason:
    limits = {"min_bandwidth": asked.min_bandwidth, "min_cpu": asked.min_cpu}
    return Reason.of(Code.OUT_OF_REACH, why=text_reason(str(error)), **limits)


def _script(request: JobSpec, nodes: list[str], shares: Sequence[float] = ()) -> str:
    key = "job-NUMBER-run-1"
    directory, title = str(run_dir(key, request.cluster)), f"{key}: {request.application.name}"
    return script_of(request, nodes, directory, title, shares or shares_on(request, nodes))
