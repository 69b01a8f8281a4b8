"""Choosing the nodes on which a job goes on, as for a new job, and reserving them while its program still computes.

What the user asked for holds as before: method, pattern, requirements, options, a request in ClassAds. Only the number
of ranks may differ, and nodes that somebody named are held against the same requirements, as if every rank was pinned.
What administrators say in ads of nodes holds, too. Its own nodes count as free, for it leaves them, and as free of the
load of its own ranks.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.db import transaction

from gridportal.base.available_cpu import without_processes
from gridportal.base.errors import ImpossibleError, InputError
from gridportal.base.rank_places import in_short, ranks_by_node
from gridportal.base.reasons import Code, Reason, text_reason
from gridportal.network.topology import Topology
from monitoring.clusters.models import Cluster
from monitoring.clusters.selectors import traits
from monitoring.status.selectors.network_status import NetworkStatus
from scheduling.checkpoints.services import nodes_by_hand
from scheduling.jobs.core import patterns
from scheduling.jobs.core.candidates import CandidateGroup
from scheduling.jobs.core.patterns import Pattern
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import advance
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.placing.core.match_notes import NO_NOTES
from scheduling.placing.core.room import uses
from scheduling.placing.models import Placement
from scheduling.placing.selectors import rooms
from scheduling.placing.selectors.occupancy import Occupancy, occupancy
from scheduling.placing.services.choosing import Answer, WaitsError, answer, choose, on_all_nodes, policy_of
from scheduling.placing.services.explaining import MOST_STORED, explain
from scheduling.placing.services.matched_nodes import MatchedNodes, of_moved
from scheduling.placing.services.requests import question, read_pattern, with_cluster_defaults
from scheduling.placing.services.snapshot import PlacementSnapshot, Took
from scheduling.placing.services.storing import Chosen, placement_of, write_remarks
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.continuation_states import ContinuationState
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.runs.services.steps import advance_run
from scheduling.selection.core.placement import Request

#: Where a pattern cannot be had on that many ranks, named nodes are judged by this.
_WITHOUT_PATTERN = "balanced"


class _Chosen(NamedTuple):
    """Where it goes on, the seconds of Migration 2003, table I, that the choice took, and what is not used of a
    mapper's answer."""

    placement: Placement
    free: bool
    took: Took
    schedule: float
    topology: Topology
    remarks: tuple[Reason, ...]


class PlannedMove(NamedTuple):
    """A move that is only thought of: a job, the nodes that it would leave, and those it would take, rank by rank.

    Where it has left none yet, it has those that it had as well."""

    job: Job
    left: tuple[str, ...]
    nodes: tuple[str, ...]


class NodeChoice(NamedTuple):
    """Where a job could go: nodes rank by rank, the least free processor there, the network as it was seen, the seconds
    that looking at it and choosing took, when the network was measured, and what the pairs that talk would get."""

    nodes: tuple[str, ...]
    min_cpu: float | None
    topology: Topology
    took: Took
    schedule: float
    measured_at: datetime | None
    group: CandidateGroup


def choose_elsewhere(
    run: Run,
    nodes: Sequence[str] = (),
    ranks: int | None = None,
    planned: Sequence[PlannedMove] = (),
    *,
    anywhere: bool = False,
    max_age: float | None = None,
) -> NodeChoice:
    """Where the job of a running `run` would go now, or what `nodes` are worth; nothing is reserved.

    On none of its own nodes where that is possible, unless `anywhere`. `ranks`: on how many, as many as before unless
    told. `planned`: moves that count as made. `max_age`: seconds, as of a PlacementSnapshot. Raises WaitsError where
    there are no such nodes now, InputError and ImpossibleError where there never are.
    """
    count = len(nodes) or ranks or len(run.placement.nodes)
    row = Continuation(job=run.job, source=run, nodes=list(nodes), ranks=count)
    try:
        chosen = _choose(row, elsewhere=not nodes and not anywhere, planned=planned, max_age=max_age)
    except (WaitsError, ImpossibleError):
        if nodes or anywhere:
            raise
        chosen = _choose(row, planned=planned, max_age=max_age)
    placement = chosen.placement
    nodes_there, min_cpu = tuple(placement.nodes), placement.objective.min_cpu
    group, seen = placement.candidates[0], placement.measured_at
    return NodeChoice(nodes_there, min_cpu, chosen.topology, chosen.took, chosen.schedule, seen, group)


def reserve(row: Continuation) -> bool:
    """Choose and reserve the nodes, and have the program asked to stop; in one step. False where somebody else was
    faster.

    Raises WaitsError where there are no such nodes now, InputError and ImpossibleError where there never are.
    """
    chosen = _chosen_for(row)
    with transaction.atomic():
        Cluster.objects.select_for_update().filter(name=row.job.cluster).first()
        _check_still_free(row.job, chosen)
        chosen.placement.save()
        to = ContinuationState.STOPPING if row.source.state == RunState.RUNNING else ContinuationState.STOPPED
        step = advance(
            row,
            to,
            holder=row.lease_holder,
            placement=chosen.placement,
            telemetry=chosen.took.telemetry,
            information=chosen.took.information,
            schedule=chosen.schedule,
        )
        if not step:
            transaction.set_rollback(True)
            return False
        if not _take_along(row):
            transaction.set_rollback(True)
            return False
        write_remarks([(row.job, chosen.remarks)])
    return True


def _chosen_for(row: Continuation) -> _Chosen:
    """Where somebody named neither nodes nor another number of ranks, the nodes are others than those where its
    program runs, as far as any are free. Raises ImpossibleError where it would be stopped only to go on there."""
    own = row.source.placement.nodes
    if row.source.state != RunState.RUNNING or row.nodes or row.ranks != len(own):
        return _choose(row)
    with suppress(WaitsError, ImpossibleError):
        chosen = _choose(row, elsewhere=True)
        if chosen.free:
            return chosen
    chosen = _choose(row)
    if sorted(chosen.placement.nodes) == sorted(own):
        raise ImpossibleError(f"No other nodes that are free will do; it has the best already, {in_short(own)}.")
    return chosen


def _take_along(row: Continuation) -> bool:
    """The job is moving from now on."""
    nodes = row.placement.nodes if row.placement else []
    run = row.source
    run.job = row.job
    runs = run.state == RunState.RUNNING
    code = Code.ASKED_TO_STOP if runs else Code.ASKED_TO_GO_ON
    why = Reason.of(code, person=row.by, nodes=nodes, ranks=row.ranks, text=row.why)
    if runs:
        return advance_run(run, RunState.HALTING, why, actor=row.by)
    if row.job.state == JobState.MOVING:
        return True
    return advance(row.job, JobState.MOVING, expected=(JobState.STOPPED,), event={"actor": row.by}, reason=why)


def _choose(
    row: Continuation,
    *,
    elsewhere: bool = False,
    planned: Sequence[PlannedMove] = (),
    max_age: float | None = None,
) -> _Chosen:
    """`elsewhere`: on none of the nodes where it runs."""
    job = row.job
    snapshot = PlacementSnapshot(job.cluster, max_age)
    begun = time.perf_counter()
    spec, pattern = spec_of(row)
    asked = replace(question(spec, pattern), time_budget=settings.PORTAL.time_budget)
    own = row.source.placement.nodes
    seen = occupancy_without(job, spec, own, planned)
    seen.unfit.update(dict.fromkeys(own, "") if elsewhere else {})
    status = snapshot.status_for(job.requirements)
    if row.source.state == RunState.RUNNING:
        status = replace(status, topology=_without_ranks(status.topology, own, rooms.processors(job.cluster)))
    ask = _answer(row, snapshot, status, asked, seen)
    in_queue = traits(job.cluster).has_queue
    choice = choose(status, asked, seen, policy_of(job.cluster, job.busy_policy), in_queue=in_queue, answer=ask)
    match = ask.notes_on(choice.selection) if isinstance(ask, MatchedNodes) else NO_NOTES
    why = explain(status, asked, seen, choice.selection, free=choice.free, most=MOST_STORED, match=match)
    placement = placement_of(Chosen(job, replace(choice, explanation=why)), status)
    if row.nodes and row.by:
        nodes_by_hand.note(placement, row.by)
    took = time.perf_counter() - begun
    return _Chosen(placement, choice.free, snapshot.took, took, status.topology, match.remarks)


def _answer(
    row: Continuation, snapshot: PlacementSnapshot, status: NetworkStatus, asked: Request, seen: Occupancy
) -> Answer:
    """Who answers the question. Raises ImpossibleError where nodes that somebody named do not match."""
    if not (row.job.classad or snapshot.has_policies):
        return answer
    matched = of_moved(row.job, answer)
    if row.nodes:
        others = (node.id for node in status.topology.compute_nodes() if node.id not in row.nodes)
        seen.unfit.update(dict.fromkeys(others, ""))
        matched.check_named(status, on_all_nodes(asked, seen), row.nodes)
    return matched


def spec_of(row: Continuation) -> tuple[JobSpec, Pattern | None]:
    """What the job asked for, on the ranks and nodes where it goes on. Raises InputError."""
    job, spec = row.job, JobSpec.from_row(row.job)
    if row.ranks != job.ranks:
        spec = replace(spec, pattern=_for_any_count(job.pattern, job.ranks))
    if row.nodes:
        spec = _pinned(spec, row.nodes)
    else:
        spec = spec_on(job, row.ranks, row.source.placement.nodes, spec)
    try:
        return spec, read_pattern(spec)
    except InputError:
        if not row.nodes:
            raise
        return replace(spec, method=_WITHOUT_PATTERN, pattern="", pattern_graph=None), None


def spec_on(job: Job, ranks: int, before: Sequence[str], spec: JobSpec | None = None) -> JobSpec:
    """What the job asked for, else `spec`, on that many ranks of nodes that nobody named; `before`: where it ran, rank
    by rank."""
    asked = spec or JobSpec.from_row(job)
    if ranks == job.ranks and not job.ranks_open:
        return asked
    most = max(ranks_by_node(before).values())
    return replace(asked, ranks=ranks, node_count=None if job.nodes_open else -(-ranks // most))


def _for_any_count(pattern: str, ranks: int) -> str:
    """The pattern as it was asked for, where its size only followed from the number of ranks.

    >>> _for_any_count("mesh-2d:2x2", 4), _for_any_count("mesh-2d:4x1", 4)
    ('mesh-2d', 'mesh-2d:4x1')
    """
    kind = pattern.partition(":")[0]
    try:
        return kind if kind and patterns.named(kind, ranks).name == pattern else pattern
    except InputError:
        return pattern


def _pinned(spec: JobSpec, nodes: list[str]) -> JobSpec:
    """The same with every rank on its node."""
    counts = ranks_by_node(nodes)
    pins = {str(rank): node for rank, node in enumerate(nodes)}
    most = max(counts.values())
    return replace(
        spec,
        ranks=len(nodes),
        node_count=len(counts),
        ranks_per_node=most if most > 1 else None,
        specification=spec.specification.with_pins(pins),
    )


def _without_ranks(topology: Topology, own: Sequence[str], processors: Mapping[str, int]) -> Topology:
    """Its nodes as if the job had left them: each of its ranks counts as one process that always computes, so that
    threads of ranks and the job's own traffic stay in the figures. processors: of each node, one where nobody says.

    Source: Selection 1999, 3.3, which leaves out the load of the application itself when it migrates.
    """
    ranks = ranks_by_node(own)
    nodes = (
        replace(node, cpu=without_processes(node.cpu, ranks[node.id] / processors.get(node.id, 1)))
        if node.id in ranks
        else node
        for node in topology.nodes
    )
    return replace(topology, nodes=tuple(nodes))


def occupancy_without(job: Job, spec: JobSpec, own: list[str], planned: Sequence[PlannedMove]) -> Occupancy:
    """Who has which nodes, but for this job, which leaves its own; `planned` moves count as made."""
    book = rooms.ledger(job.cluster)
    book.drop(job.pk)
    for each in planned:
        if each.left:
            book.drop(each.job.pk)
        book.take(each.job.pk, uses(each.job.rank_request, each.nodes, exclusive=each.job.options.exclusive))
    options = with_cluster_defaults(job.options, job.cluster)
    seen = occupancy(job.cluster, options, job.time_limit, spec.rank_request, book, job.application.mpi)
    for node in {*own, *(node for each in planned for node in each.left)}:
        seen.busy.pop(node, None)
    return seen


def _check_still_free(job: Job, chosen: _Chosen) -> None:
    book = rooms.ledger(job.cluster)
    book.drop(job.pk)
    taken = uses(job.rank_request, chosen.placement.nodes, exclusive=job.options.exclusive)
    if chosen.free and not book.fits(taken):
        raise WaitsError(Reason.of(Code.NODES_TAKEN))


def impossible(error: InputError | ImpossibleError | WaitsError) -> Reason:
    """Why there are no such nodes."""
    return error.reason if isinstance(error, WaitsError) else text_reason(str(error))


def without_prospect(why: Reason) -> Reason:
    """The same without what is only true of a job that waits: when it is tried again, or starts."""
    return why.facts["why"] if why.code in (Code.NOT_NOW, Code.NOT_AMONG_FREE) else why
