"""Weighing a move of one job: fresh figures, a new choice of nodes, both costs, then one decision that is kept.

Source: Migration 2003, 4.3, 6.2 and 8.3.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import ConflictError, GridPortalError
from scheduling.checkpoints.services import requesting
from scheduling.checkpoints.services.nodes_lacking import nodes_lacking
from scheduling.checkpoints.services.reserving import PlannedMove, choose_elsewhere
from scheduling.contracts.core.outlook import Outlook
from scheduling.contracts.models import Contract
from scheduling.contracts.selectors import promises
from scheduling.jobs.core.candidates import CandidateGroup
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import take_over
from scheduling.notices.services.writing_notices import tell_of_proposal
from scheduling.placing.services.choosing import WaitsError
from scheduling.rescheduling import selectors
from scheduling.rescheduling.core.decision_states import DecisionState, Policy
from scheduling.rescheduling.core.learnt_threshold import threshold
from scheduling.rescheduling.core.move_cost import CostKind
from scheduling.rescheduling.core.weighing import (
    MoveFigures,
    MoveHistory,
    MoveMode,
    MoveRules,
    Verdict,
    Weighing,
    weigh,
)
from scheduling.rescheduling.core.weighing_stage import Watcher, unwatched
from scheduling.rescheduling.models import DecisionEvent, MoveDecision, ReschedulingPolicy
from scheduling.rescheduling.services import policies
from scheduling.rescheduling.services.job_elsewhere import JobElsewhere, best_elsewhere, running
from scheduling.runs.models import Run

log = logging.getLogger(__name__)


def weigh_on_request(actor: User, job: Job) -> MoveDecision:
    """Weigh because a person asks, and keep the decision. Raises InputError or ConflictError where the job cannot be
    moved at all."""
    return keep_on_request(actor, weighed_on_request(job))


def weighable(job: Job) -> Run:
    """The run that would be stopped. Raises InputError where none runs or its program cannot be stopped, ConflictError
    where a move is under way."""
    run = running(job) if requesting.open_continuation(job) is None else None
    requesting.check_movable(job)
    return run or running(job)


def weighed_on_request(job: Job, watch: Watcher = unwatched) -> MoveDecision:
    """The same, not kept yet."""
    weighing, decision = weighed(weighable(job), MoveMode.OPERATOR, watch=watch)
    decision.take_weighing(weighing)
    return decision


def keep_on_request(actor: User | None, decision: MoveDecision) -> MoveDecision:
    """Write down what `weighed_on_request` found for `actor`; None: somebody who is no more."""
    keep(decision, actor)
    asked_by = actor.username if actor else ""
    audit("portal", "move.weigh", decision, job=decision.job_id, verdict=decision.verdict, asked_by=asked_by)
    return decision


def weigh_job(run: Run, mode: MoveMode) -> MoveDecision:
    """Weigh a move of the job of `run`, and keep the decision. Raises ConflictError where one is open already."""
    weighing, decision = weighed(run, mode)
    decision.take_weighing(weighing)
    return keep(decision)


def weighed(
    run: Run, mode: MoveMode, planned: Sequence[PlannedMove] = (), watch: Watcher = unwatched
) -> tuple[Weighing, MoveDecision]:
    """The weighing, and a decision that is not kept yet. `planned`: moves that count as made at this moment.

    What moves of other jobs that are decided, and not begun, will take counts as taken; the nodes of proposals are left
    to these while others will do."""
    job, now = run.job, timezone.now()
    contract = promises.contract_of(run)
    view = promises.view_of(contract, now) if contract else None
    policy = selectors.policy(job.cluster)
    decided, proposed = _earlier_moves(job)
    there = best_elsewhere(run, contract, view, policy, [*planned, *decided], watch, proposed)
    figures = MoveFigures(view.remaining if view else None, there.ret_new, there.nodes)
    cost, rules = there.costs[CostKind(policy.cost_kind)], _rules(policy)
    history = _with_planned(selectors.history(job, now), planned, now)
    weighing = weigh(figures, cost, rules, history, timezone.localtime(now), mode)
    decision = _row(run, mode, now, contract, view, there)
    if there.choice is None:
        decision.lacking = nodes_lacking(run, [*planned, *decided]).document()
    return weighing, decision


def keep(decision: MoveDecision, actor: User | None = None) -> MoveDecision:
    """Write it down, in the state that its verdict and the policy of its job give it."""
    job = decision.job
    policy = policies.policy_for(job)
    state = _state(decision, policy)
    if state is DecisionState.PROPOSED:
        seconds = selectors.policy(job.cluster).expires_after
        decision.expires_at = decision.created_at + timedelta(seconds=seconds)
    take_over(decision, {"policy": policy, "state": state})
    if decision.verdict == Verdict.MOVE:
        decision.groups |= {"now": _group_now(decision).document()}
    who = actor.username if actor else "portal"
    try:
        with transaction.atomic():
            decision.save(force_insert=True)
            DecisionEvent.objects.create(decision=decision, to_state=state, actor=who)
            if state is DecisionState.PROPOSED:
                tell_of_proposal(decision)
    except IntegrityError as error:
        raise ConflictError(f"A move of job {job.pk} is proposed or under way already.") from error
    log.info("%s: %s, %s", decision, decision.verdict, decision.state)
    return decision


def _group_now(decision: MoveDecision) -> CandidateGroup:
    """What its own nodes give it at this moment; as they were chosen where that cannot be computed now."""
    run = decision.job.runs.select_related("job__application", "placement").get(number=decision.run_number)
    try:
        return choose_elsewhere(run, nodes=run.placement.nodes).group
    except (WaitsError, GridPortalError):
        chosen = run.placement.candidates
        return chosen[0] if chosen else CandidateGroup(tuple(run.placement.nodes))


def _earlier_moves(job: Job) -> tuple[list[PlannedMove], list[PlannedMove]]:
    """What moves of other jobs are to take that are decided, and that are proposed; they have left nothing yet."""
    decided, proposed = list[PlannedMove](), list[PlannedMove]()
    for each in selectors.earlier_moves(job):
        rows = proposed if each.state == DecisionState.PROPOSED else decided
        rows.append(PlannedMove(each.job, (), tuple(each.nodes)))
    return decided, proposed


def _with_planned(history: MoveHistory, planned: Sequence[PlannedMove], now: datetime) -> MoveHistory:
    """The same as if the planned moves had begun now."""
    nodes = {node: now for each in planned for node in (*each.left, *each.nodes)}
    starts = (*history.starts, *[now] * len(planned))
    return replace(history, nodes_moved={**history.nodes_moved, **nodes}, starts=starts)


def _rules(policy: ReschedulingPolicy) -> MoveRules:
    learnt = policy.threshold
    if policy.learns_threshold:
        learnt = threshold(list(selectors.outcomes(policy.cluster)), otherwise=policy.threshold)
    return policies.rules_of(policy, learnt)


def _row(
    run: Run, mode: MoveMode, now: datetime, contract: Contract | None, view: Outlook | None, there: JobElsewhere
) -> MoveDecision:
    return MoveDecision(
        job=run.job,
        cluster=run.job.cluster,
        run_number=run.number,
        mode=mode,
        nodes_now=list(run.placement.nodes),
        complete=view.complete if view else None,
        costs=there.documents,
        groups={"there": there.choice.group.document()} if there.choice else {},
        average=promises.state_now(contract, now).average if contract else None,
        measured_at=there.choice.measured_at if there.choice else None,
        created_at=now,
        state_since=now,
    )


def _state(decision: MoveDecision, policy: Policy) -> DecisionState:
    if decision.verdict != Verdict.MOVE:
        return DecisionState.DECLINED
    if decision.mode == MoveMode.OPERATOR:
        return DecisionState.PROPOSED
    by_policy = {
        Policy.OBSERVE: DecisionState.OBSERVED,
        Policy.ASK: DecisionState.PROPOSED,
        Policy.AUTOMATIC: DecisionState.APPROVED,
    }
    return by_policy[policy]
