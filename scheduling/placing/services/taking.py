"""Taking one of the candidate groups once the skeleton was tried, or because a person says so."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import InputError
from gridportal.base.reasons import NOTHING, Code, Reason, text_reason
from monitoring.clusters.selectors import traits
from scheduling.jobs.core import candidates
from scheduling.jobs.core.candidates import CandidateGroup, SkeletonResult
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import advance
from scheduling.jobs.services.leases import still_leased
from scheduling.placing.models import Decision, Placement
from scheduling.placing.services.group_matches import check_group
from scheduling.placing.services.storing import new_run, note_node_counts
from scheduling.runs.core.run_states import WAITS, RunState
from scheduling.runs.models import Run
from scheduling.runs.services.requeued import closed
from scheduling.runs.services.steps import advance_run
from scheduling.skeletons.core import trial_rounds
from scheduling.skeletons.core.best_prediction import BestPrediction
from scheduling.skeletons.core.skeleton_run_states import SkeletonState
from scheduling.skeletons.core.trial_budget import Account, Attempt, Cause, account, running_time
from scheduling.skeletons.core.trial_reasons import finding, group_reason
from scheduling.skeletons.core.trial_record import NO_OUTCOME, Outcome, Trial
from scheduling.skeletons.models import SkeletonRun
from scheduling.skeletons.services import stored_skeletons

log = logging.getLogger(__name__)
_REASON = "a reason of 3 to 500 characters, for whoever looks at the job later"
_FREED: dict[str, Any] = {"lease_until": None, "lease_holder": "", "attempts": 0, "refused": ""}


def take_group(job: Job, placement: Placement, rows: Sequence[SkeletonRun]) -> bool:
    """Choose among tried groups, write down why, make the run, and go on to starting; all or nothing.

    By the person's word, else the least predicted seconds, else the selection. False when another worker was faster.
    """
    found = _account(placement, rows)
    taken, by = _taken(placement, rows, found)
    outcome = _outcome(placement, rows, found, taken, by)
    with transaction.atomic():
        if job.pk not in still_leased([job]):
            return False
        _write(placement, rows, taken, outcome)
        reason = _finding(placement, rows, found, taken, by, text_reason(_why_taken(placement)))
        Run.objects.bulk_create([new_run(job, placement, job.runs.count() + 1, reason)])
        actor = by if by not in ("skeleton", "selection") else "portal"
        started = {"event": {"actor": actor}, "reason": reason, **_FREED}
        moved = advance(job, JobState.STARTING, holder=job.lease_holder, **started)
    if moved:
        _remember(job, rows)
    return moved


def take_candidate(actor: User, job: Job, place: int, why: str) -> Job:
    """Let a person take a candidate; `place` counts as the selection does, from 0.

    While the skeleton is tried the job starts there once the skeletons are stopped; while the job waits in the queue of
    its cluster it is taken out of that, and put in again with the other nodes. Raises InputError for a job that is past
    that, a candidate that is not to be had, or without a reason; ImpossibleError where its nodes do not match any more.
    """
    text = " ".join(why.split())
    if not 3 <= len(text) <= 500 or not text.isprintable():
        raise InputError("reason", why[:40], _REASON)
    check_group(job, takeable(job).get(place, ()))
    with transaction.atomic():
        locked = Job.objects.select_for_update().get(pk=job.pk)
        groups = takeable(locked)
        if not groups:
            raise InputError("job", f"{job.pk}, {locked.state}", "one that is trying groups or waits in a queue")
        if place not in groups:
            raise InputError("candidate", place, f"one of {', '.join(map(str, groups))}")
        if locked.state == JobState.STARTING:
            _recall(actor, locked)
        placement = locked.placements.order_by("-pk")[:1].get()
        placement.decision = _decided(actor, placement, place, text)
        placement.save(update_fields=["decision"])
        audit(actor, "job.take_candidate", job, candidate=place, reason=text, nodes=groups[place])
    job.refresh_from_db()
    return job


def _recall(actor: User, job: Job) -> None:
    """Its run is taken out of the queue at the next poll. Raises InputError where it has just started."""
    run = job.runs.filter(state__in=WAITS).select_related("job").first()
    why = Reason.of(Code.RECALLED, cluster=job.cluster, closed={})
    if run is None or not advance_run(run, RunState.RECALLING, why, actor=actor.username):
        raise InputError("job", f"{job.pk}, {job.state}", "one that waits in the queue of its cluster")


def _decided(actor: User, placement: Placement, place: int, why: str) -> Decision:
    return Decision.objects.create(
        job_id=placement.job_id,
        by=actor.username,
        at=timezone.now(),
        why=why,
        candidate=place,
        proposed=placement.nodes,
        taken=list(candidates.placed(placement.candidates)[place].nodes),
    )


def takeable(job: Job) -> dict[int, list[str]]:
    """The groups that a person may take for the job now: place in the selection's order, nodes; empty for none."""
    placement = job.placements.order_by("-pk").first()
    if placement is None:
        return {}
    found = {place: list(group.nodes) for place, group in candidates.placed(placement.candidates).items()}
    if job.state == JobState.TRIAL:
        tried = () if placement.decision_id or placement.trial is None else placement.trial.groups
        return {place: found[place] for place in tried}
    run = job.runs.order_by("-number").first()
    if run is None or run.state not in WAITS or not traits(job.cluster).has_queue:
        return {}
    return {place: nodes for place, nodes in found.items() if nodes != placement.nodes}


def place_anew(run: Run) -> bool:
    """The run is out of the queue of its cluster: other nodes are to be chosen for the job, unless a person has done
    so."""
    if run.placement.wanted:
        return start_on_wanted(run)
    why = Reason.of(Code.PLACED_ANEW, nodes=run.placement.nodes, closed=closed(run))
    return _withdraw(run, why)


def start_on_wanted(run: Run) -> bool:
    """The run is out of the queue because a person took another candidate: the next run is on that. In one step."""
    job, old = run.job, run.placement
    decision = old.decision
    if decision is None:
        return False
    person = decision.by
    why = Reason.of(Code.GROUP_TAKEN, nodes=decision.taken, person=person, why=text_reason(decision.why))
    with transaction.atomic():
        if not _withdraw(run, why, person):
            return False
        chosen = _copied(old, decision, why)
        Run.objects.bulk_create([new_run(job, chosen, run.number + 1, why)])
        by: dict[str, Any] = {"event": {"actor": person}, "reason": why}
        advance(job, JobState.PLACING, **by)
        return advance(job, JobState.STARTING, **by, **_FREED)


def _withdraw(run: Run, why: Reason, actor: str = "portal") -> bool:
    """The run is out of the queue of its cluster, and its job is queued."""
    return advance_run(run, RunState.RECALLED, why, actor=actor)


def _copied(old: Placement, decision: Decision, why: Reason) -> Placement:
    """The same placement with the wanted group first."""
    taken, by = decision.candidate, decision.by
    places = candidates.placed(old.candidates)
    groups = tuple(replace(places[place], place=place) for place in sorted(places, key=lambda place: place != taken))
    trial, first = old.trial, groups[0]
    if trial is not None and trial.plan is not None:
        outcome = replace(trial.outcome or NO_OUTCOME, taken=taken, by=by, won=None, finding=why)
        trial = replace(trial, outcome=outcome)
    chosen = Placement.objects.create(
        job=old.job,
        method=old.method,
        pattern=old.pattern,
        nodes=list(first.nodes),
        objective=first.objective,
        bottleneck=first.bottleneck,
        optimal=False,
        candidates=groups,
        trial=trial,
        decision=decision,
        seconds=old.seconds,
        measured_at=old.measured_at,
        warning=old.warning,
    )
    SkeletonRun.objects.filter(placement=old).update(placement=chosen)
    note_node_counts([(old.job, chosen.nodes)])
    return chosen


def _account(placement: Placement, rows: Sequence[SkeletonRun]) -> Account:
    """What the trial came to. Waiting, for nodes or for a person, is no part of it."""
    spent = running_time((row.started_at, row.ended_at) for row in rows if row.started_at and row.ended_at)
    attempts = [Attempt(_ran(row), row.predicted is not None, row.state == SkeletonState.FAILED) for row in rows]
    return account(attempts, spent, placement.plan.budget)


def _ran(row: SkeletonRun) -> float:
    return (row.ended_at - row.started_at).total_seconds() if row.started_at and row.ended_at else 0.0


def _taken(placement: Placement, rows: Sequence[SkeletonRun], found: Account) -> tuple[int, str]:
    """The place of the group and who chose it: a person, else the skeleton where it compared groups or failed on the
    selection's own, else the selection."""
    if placement.decision is not None:
        return placement.decision.candidate, placement.decision.by
    best = trial_rounds.winner({row.candidate: row.predicted for row in rows if row.predicted is not None})
    if best is None or not (found.compared or rows[0].state == SkeletonState.FAILED):
        return rows[0].candidate, "selection"
    return best, "skeleton"


def _outcome(placement: Placement, rows: Sequence[SkeletonRun], found: Account, taken: int, by: str) -> Outcome:
    """What the trial cost and won."""
    predicted = {row.candidate: row.predicted for row in rows}
    own, selection = predicted[taken], predicted[rows[0].candidate]
    won = selection - own if found.compared and own is not None and selection is not None else None
    return Outcome(
        taken=taken,
        by=by,
        ran=found.ran,
        ended=found.ended,
        compared=found.compared,
        spent=found.spent,
        overrun=found.overrun,
        node_seconds=_node_seconds(rows),
        won=won,
        finding=_finding(placement, rows, found, taken, by),
    )


def _finding(
    placement: Placement, rows: Sequence[SkeletonRun], found: Account, taken: int, by: str, why: Reason = NOTHING
) -> Reason:
    predicted = {row.candidate: row.predicted for row in rows}
    own, selection = predicted[taken], predicted[rows[0].candidate]
    return finding(candidates.placed(placement.candidates)[taken].nodes, by, found, own, selection, why)


def _why_taken(placement: Placement) -> str:
    """What a person said who took a group; empty when nobody did."""
    return placement.decision.why if placement.decision else ""


def _node_seconds(rows: Sequence[SkeletonRun]) -> float:
    """For how long nodes were busy with the skeleton, summed over the nodes."""
    return sum(_ran(row) * len(set(row.nodes)) for row in rows)


def _write(placement: Placement, rows: Sequence[SkeletonRun], taken: int, outcome: Outcome) -> None:
    person = placement.decision.by if placement.decision else ""
    groups = _judged(placement.candidates, {row.candidate: _tried(row) for row in rows}, taken, person)
    first = groups[0]
    placement.candidates = groups
    if placement.nodes != list(first.nodes):  # what a mapper gave was for the others
        placement.shares = []
    placement.nodes, placement.objective, placement.bottleneck = list(first.nodes), first.objective, first.bottleneck
    placement.optimal = placement.optimal and taken == 0
    placement.trial = Trial(placement.plan, outcome)
    placement.save(update_fields=["candidates", "nodes", "shares", "objective", "bottleneck", "optimal", "trial"])
    note_node_counts([(placement.job, placement.nodes)])


def _judged(
    groups: Sequence[CandidateGroup], tried: Mapping[int, SkeletonResult], taken: int, person: str
) -> tuple[CandidateGroup, ...]:
    """The groups with what the skeleton found of each, and why each was taken or left; the taken one first."""
    busy = SkeletonResult(SkeletonState.SKIPPED, str(Cause.BUSY), reason=Reason.of(Code.NODES_NOT_FREE))
    found = []
    for place, group in enumerate(groups):
        result = tried.get(place, busy)
        why = group_reason(result, tried[taken], person)
        judged = replace(group, place=place, selected=group.reason, skeleton=result, reason=why)
        found.append(((place != taken, result.predicted or float("inf"), place), judged))
    return tuple(group for _, group in sorted(found, key=lambda one: one[0]))


def _tried(row: SkeletonRun) -> SkeletonResult:
    return SkeletonResult(row.state, row.cause, row.seconds, row.predicted, row.reason)


def _remember(job: Job, rows: Sequence[SkeletonRun]) -> None:
    done = [
        (row.predicted, row.skeleton, row) for row in rows if row.predicted is not None and row.skeleton is not None
    ]
    if done:
        predicted, skeleton, row = min(done, key=lambda each: each[0])
        at = timezone.now().isoformat()
        stored_skeletons.remember(skeleton, BestPrediction(predicted, row.seconds, tuple(row.nodes), job.cluster, at))
