"""Weighing a move of one job: fresh figures, a new choice of nodes, both costs, then one decision that is kept.

Source: Migration 2003, 4.3, 6.2 and 8.3. ret_new is predicted by the model whose promise the contract is; where that
knows nothing of other nodes, it is the promise itself on processors as free as they are there.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import ConflictError, GridPortalError, ImpossibleError, InputError
from scheduling.checkpoints.services import requesting
from scheduling.checkpoints.services.reserving import NodeChoice, choose_elsewhere
from scheduling.contracts.core.limits import Refusal
from scheduling.contracts.core.outlook import Outlook, break_even, remaining_elsewhere
from scheduling.contracts.models import Contract
from scheduling.contracts.selectors import promises
from scheduling.contracts.services import answering
from scheduling.contracts.services.opening import network_for
from scheduling.contracts.services.predicting import predict_all
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import take_over
from scheduling.performance.core.performance_model import RunQuestion
from scheduling.placing.services.choosing import WaitsError
from scheduling.rescheduling import selectors
from scheduling.rescheduling.core.decision_states import DecisionState, Policy
from scheduling.rescheduling.core.learnt_threshold import threshold
from scheduling.rescheduling.core.move_cost import CostKind, MoveCost
from scheduling.rescheduling.core.weighing import MoveFigures, MoveMode, MoveRules, Verdict, Weighing, weigh
from scheduling.rescheduling.models import DecisionEvent, MoveDecision, ReschedulingPolicy
from scheduling.rescheduling.services import costing, policies
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run

log = logging.getLogger(__name__)
#: Least part of a processor that a prediction counts with.
_LEAST_CPU = 0.01


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """Where the job could go, what it would still take there, and what the move costs by each kind."""

    choice: NodeChoice | None
    ret_new: float | None
    costs: dict[CostKind, MoveCost]

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(self.choice.nodes) if self.choice else ()


def weigh_on_request(actor: User, job: Job) -> MoveDecision:
    """Weigh because a person asks. Raises InputError or ConflictError where the job cannot be moved at all."""
    if problem := requesting.problem(job):
        raise InputError("job", job.pk, f"one that can be moved now. {problem}")
    decision = weigh_job(_running(job), MoveMode.OPERATOR, actor=actor)
    audit(actor, "move.propose", decision, job=job.pk, verdict=decision.verdict)
    return decision


def weigh_job(run: Run, mode: MoveMode, *, actor: User | None = None) -> MoveDecision:
    """Weigh a move of the job of `run`, and keep the decision. Raises ConflictError where one is open already."""
    weighing, decision = weighed(run, mode)
    decision.take_weighing(weighing)
    return keep(decision, actor)


def weighed(run: Run, mode: MoveMode) -> tuple[Weighing, MoveDecision]:
    """The weighing, and a decision that is not kept yet."""
    job, now = run.job, timezone.now()
    contract = promises.contract_of(run)
    view = promises.view_of(contract, now) if contract else None
    policy = selectors.policy(job.cluster)
    there = _elsewhere(run, contract, view, policy)
    figures = MoveFigures(view.remaining if view else None, there.ret_new, there.nodes)
    cost, rules = there.costs[CostKind(policy.cost_kind)], _rules(policy)
    weighing = weigh(figures, cost, rules, selectors.history(job, now), timezone.localtime(now), mode)
    return weighing, _row(run, mode, now, contract, view, there)


def keep(decision: MoveDecision, actor: User | None = None) -> MoveDecision:
    """Write it down, in the state that its verdict and the policy of its job give it."""
    job = decision.job
    policy = policies.policy_for(job)
    state = _state(decision, policy)
    if state is DecisionState.PROPOSED:
        seconds = selectors.policy(job.cluster).expires_after
        decision.expires_at = decision.created_at + timedelta(seconds=seconds)
    take_over(decision, {"policy": policy, "state": state})
    who = actor.username if actor else "portal"
    try:
        with transaction.atomic():
            decision.save(force_insert=True)
            DecisionEvent.objects.create(decision=decision, to_state=state, actor=who)
    except IntegrityError as error:
        raise ConflictError(f"A move of job {job.pk} is proposed or under way already.") from error
    log.info("%s: %s, %s", decision, decision.verdict, decision.state)
    return decision


def figures_there(decision: MoveDecision, nodes: Sequence[str]) -> dict[str, Any]:
    """The columns of a decision for other nodes, which somebody has named. Raises InputError where they cannot be."""
    run = _running(decision.job)
    contract = promises.contract_of(run)
    view = promises.view_of(contract) if contract else None
    policy = selectors.policy(decision.cluster)
    requesting.check_target(decision.job, run, nodes)
    try:
        choice = choose_elsewhere(run, nodes=nodes)
    except WaitsError as error:
        raise InputError("nodes", " ".join(nodes), "nodes that are free and take jobs") from error
    except ImpossibleError as error:
        raise InputError("nodes", " ".join(nodes), f"nodes that can take the job. {error}") from error
    there = _there(run, contract, view, policy, choice)
    figures = MoveFigures(view.remaining if view else None, there.ret_new, there.nodes)
    cost = there.costs[CostKind(policy.cost_kind)]
    return {
        "nodes": list(nodes),
        "ret_current": figures.ret_current,
        "ret_new": figures.ret_new,
        "cost": cost.total,
        "cost_kind": cost.kind,
        "costs": _documents(there.costs),
        "gain": figures.gain(cost.total),
    }


def tell_contract(decision: MoveDecision) -> None:
    """The job stays: the limits of its contract adapt, so that the same slowdown does not ask again at once."""
    run = decision.job.runs.filter(number=decision.run_number).first()
    contract = promises.contract_of(run)
    if contract is not None:
        answering.decline(contract.pk, refusal_of(contract, decision))


def refusal_of(contract: Contract, decision: MoveDecision) -> Refusal:
    """From which ratio on the move would pay, and for how long the answer stays the same."""
    lasting = None
    if decision.verdict_until is not None:
        lasting = max(0.0, (decision.verdict_until - timezone.now()).total_seconds())
    if decision.verdict != Verdict.TOO_LITTLE_GAIN or decision.ret_new is None:
        return Refusal(lasting=lasting)
    view = promises.view_of(contract)
    ratio = break_even(view, decision.ret_new, decision.cost, decision.threshold) if view else None
    return Refusal(ratio, lasting)


def _running(job: Job) -> Run:
    run = job.runs.filter(state=RunState.RUNNING).select_related("job__application", "placement").first()
    if run is None:
        raise InputError("job", f"{job.pk}, {job.state}", "one whose program runs")
    return run


def _elsewhere(run: Run, contract: Contract | None, view: Outlook | None, policy: ReschedulingPolicy) -> _Elsewhere:
    try:
        choice = choose_elsewhere(run)
    except (WaitsError, GridPortalError) as error:
        log.info("job %s: no other nodes now: %s", run.job_id, error)
        return _Elsewhere(None, None, costing.without_nodes(policy))
    if list(choice.nodes) == list(run.placement.nodes):
        return _Elsewhere(None, None, costing.without_nodes(policy))
    return _there(run, contract, view, policy, choice)


def _there(
    run: Run, contract: Contract | None, view: Outlook | None, policy: ReschedulingPolicy, choice: NodeChoice
) -> _Elsewhere:
    whole = _predicted_there(run, contract, choice)
    ret_new = remaining_elsewhere(view, whole) if view and whole is not None else None
    return _Elsewhere(choice, ret_new, costing.costs(run, choice, policy))


def _predicted_there(run: Run, contract: Contract | None, choice: NodeChoice) -> float | None:
    """Seconds of the whole run there: as the promise's own model says, else as was promised on a free processor."""
    promised = contract.prediction if contract else None
    if promised is None:
        return None
    network = network_for(run.job.cluster, tuple(choice.nodes), choice.min_cpu)
    question = RunQuestion(run.job.application.slug, run.job.parameters, tuple(choice.nodes), network)
    answers = predict_all(question, run.job, choice.min_cpu).predictions
    same = next((each.total for each in answers if each.model == promised.model), None)
    if same is not None or promised.total is None:
        return same
    return promised.total / max(choice.min_cpu if choice.min_cpu is not None else 1.0, _LEAST_CPU)


def _rules(policy: ReschedulingPolicy) -> MoveRules:
    learnt = policy.threshold
    if policy.learns_threshold:
        learnt = threshold(list(selectors.outcomes(policy.cluster)), otherwise=policy.threshold)
    return policies.rules_of(policy, learnt)


def _row(
    run: Run, mode: MoveMode, now: datetime, contract: Contract | None, view: Outlook | None, there: _Elsewhere
) -> MoveDecision:
    return MoveDecision(
        job=run.job,
        cluster=run.job.cluster,
        run_number=run.number,
        mode=mode,
        nodes_now=list(run.placement.nodes),
        complete=view.complete if view else None,
        costs=_documents(there.costs),
        average=contract.monitor_state.average if contract else None,
        measured_at=there.choice.measured_at if there.choice else None,
        created_at=now,
        state_since=now,
    )


def _documents(costs: dict[CostKind, MoveCost]) -> dict[str, Any]:
    return {kind.value: cost.document() for kind, cost in costs.items()}


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
