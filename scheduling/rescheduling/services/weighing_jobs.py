"""Weighing a move of one job: fresh figures, a new choice of nodes, both costs, then one decision that is kept.

Source: Migration 2003, 4.3, 6.2 and 8.3. ret_new is predicted by the model whose promise the contract is; where that
knows nothing of other nodes, it is the promise itself on processors as free as they are there.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import product
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import ConflictError, GridPortalError, ImpossibleError, InputError
from monitoring.clusters import selectors as clusters
from scheduling.checkpoints.core.targets import Target
from scheduling.checkpoints.services import requesting
from scheduling.checkpoints.services.reserving import NodeChoice, PlannedMove, choose_elsewhere
from scheduling.contracts.core.limits import Refusal
from scheduling.contracts.core.outlook import Outlook, break_even, remaining_elsewhere
from scheduling.contracts.models import Contract
from scheduling.contracts.selectors import promises
from scheduling.contracts.services import answering
from scheduling.contracts.services.opening import network_for
from scheduling.contracts.services.predicting import predict_all
from scheduling.jobs.core.candidates import CandidateGroup
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import take_over
from scheduling.notices.services.writing_notices import tell_of_proposal
from scheduling.performance.core.performance_model import RunQuestion
from scheduling.placing.services.choosing import WaitsError
from scheduling.rescheduling import selectors
from scheduling.rescheduling.core import counts_to_weigh
from scheduling.rescheduling.core.decision_states import DecisionState, Policy
from scheduling.rescheduling.core.learnt_threshold import threshold
from scheduling.rescheduling.core.move_cost import CostKind, MoveCost
from scheduling.rescheduling.core.weighing import (
    MoveFigures,
    MoveHistory,
    MoveMode,
    MoveRules,
    Verdict,
    Weighing,
    weigh,
)
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

    def done_in(self, kind: CostKind) -> float:
        """Seconds until the job would be done there, the move included."""
        return math.inf if self.ret_new is None else self.ret_new + self.costs[kind].total


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


def weighed(run: Run, mode: MoveMode, planned: Sequence[PlannedMove] = ()) -> tuple[Weighing, MoveDecision]:
    """The weighing, and a decision that is not kept yet. `planned`: moves that count as made at this moment."""
    job, now = run.job, timezone.now()
    contract = promises.contract_of(run)
    view = promises.view_of(contract, now) if contract else None
    policy = selectors.policy(job.cluster)
    there = _elsewhere(run, contract, view, policy, planned)
    figures = MoveFigures(view.remaining if view else None, there.ret_new, there.nodes)
    cost, rules = there.costs[CostKind(policy.cost_kind)], _rules(policy)
    history = _with_planned(selectors.history(job, now), planned, now)
    weighing = weigh(figures, cost, rules, history, timezone.localtime(now), mode)
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


def figures_there(decision: MoveDecision, nodes: Sequence[str], ranks: int | None = None) -> dict[str, Any]:
    """The columns of a decision for other nodes or another number of ranks, which somebody has named; without nodes the
    portal chooses them. Raises InputError where they cannot be."""
    run = _running(decision.job)
    if not nodes and ranks is None:
        raise InputError("nodes", "", "names of nodes, or another number of ranks")
    contract = promises.contract_of(run)
    view = promises.view_of(contract) if contract else None
    policy = selectors.policy(decision.cluster)
    choice = _choice_of(run, requesting.check_target(decision.job, run, nodes or None, ranks))
    there = _there(run, contract, view, policy, choice)
    figures = MoveFigures(view.remaining if view else None, there.ret_new, there.nodes)
    cost = there.costs[CostKind(policy.cost_kind)]
    return {
        "nodes": list(choice.nodes),
        "groups": decision.groups | {"there": choice.group.document()},
        "measured_at": choice.measured_at,
        "complete": view.complete if view else None,
        "ret_current": figures.ret_current,
        "ret_new": figures.ret_new,
        "cost": cost.total,
        "cost_kind": cost.kind,
        "costs": _documents(there.costs),
        "gain": figures.gain(cost.total),
    }


def decision_there(decision: MoveDecision, nodes: Sequence[str], ranks: int | None = None) -> MoveDecision:
    """The decision as it would be for other nodes; nothing is written. Raises InputError where they cannot be."""
    other = copy(decision)
    take_over(other, figures_there(decision, nodes, ranks))
    return other


def _choice_of(run: Run, asked: Target) -> NodeChoice:
    nodes = list(asked.nodes)
    if nodes == list(run.placement.nodes):
        raise InputError("nodes", " ".join(nodes), "other nodes than those where the job runs")
    field, typed = ("nodes", " ".join(nodes)) if nodes else ("ranks", str(asked.ranks))
    try:
        return choose_elsewhere(run, nodes=nodes, ranks=asked.ranks)
    except WaitsError as error:
        accepted = "nodes that are free and take jobs" if nodes else "a number for which nodes are free"
        raise InputError(field, typed, accepted) from error
    except ImpossibleError as error:
        raise InputError(field, typed, f"nodes that can take the job. {error}") from error


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


def _with_planned(history: MoveHistory, planned: Sequence[PlannedMove], now: datetime) -> MoveHistory:
    """The same as if the planned moves had begun now."""
    nodes = {node: now for each in planned for node in (*each.left, *each.nodes)}
    starts = (*history.starts, *[now] * len(planned))
    return replace(history, nodes_moved={**history.nodes_moved, **nodes}, starts=starts)


def _elsewhere(
    run: Run,
    contract: Contract | None,
    view: Outlook | None,
    policy: ReschedulingPolicy,
    planned: Sequence[PlannedMove],
) -> _Elsewhere:
    """Where it would be done first, as far as that can be foretold; of choices that nobody can foretell the first."""
    found = [_there(run, contract, view, policy, choice) for choice in _choices(run, policy, planned)]
    if not found:
        return _Elsewhere(None, None, costing.without_nodes(policy))
    return min(found, key=lambda each: each.done_in(CostKind(policy.cost_kind)))


def _choices(run: Run, policy: ReschedulingPolicy, planned: Sequence[PlannedMove]) -> list[NodeChoice]:
    """Nodes for as many ranks as it has, and for other numbers where its cluster lets moves change that."""
    now, counts = len(run.placement.nodes), [len(run.placement.nodes)]
    if policy.changes_ranks:
        sites = Counter(node.labels.get("site") for node in clusters.compute_states(run.job.cluster))
        counts = counts_to_weigh.worth_weighing(now, run.job.application.rank_limits, sites.values())
    found: dict[tuple[str, ...], NodeChoice] = {}
    for count, anywhere in product(counts, (False, True)):
        try:
            choice = choose_elsewhere(run, ranks=count, planned=planned, anywhere=anywhere)
        except GridPortalError as error:
            log.info("job %s: no other nodes for %s ranks now: %s", run.job_id, count, error)
            continue
        found.setdefault(choice.nodes, choice)
    return [choice for choice in found.values() if choice.nodes != tuple(run.placement.nodes)]


def _there(
    run: Run, contract: Contract | None, view: Outlook | None, policy: ReschedulingPolicy, choice: NodeChoice
) -> _Elsewhere:
    whole = _predicted_there(run, contract, choice)
    ret_new = remaining_elsewhere(view, whole) if view and whole is not None else None
    return _Elsewhere(choice, ret_new, costing.costs(run, choice, policy))


def _predicted_there(run: Run, contract: Contract | None, choice: NodeChoice) -> float | None:
    """Seconds of the whole run there: as the promise's own model says, else the promise on the processors there, as if
    the work was shared evenly by the ranks."""
    promised = contract.prediction if contract else None
    if promised is None:
        return None
    network = network_for(run.job.cluster, tuple(choice.nodes), choice.min_cpu)
    question = RunQuestion(run.job.application.slug, run.job.parameters, tuple(choice.nodes), network)
    answers = predict_all(question, run.job, choice.min_cpu).predictions
    factors = promises.corrections(run.job.application_id, len(choice.nodes)).get(promised.model, {})
    same = next((each.corrected(factors).total for each in answers if each.model == promised.model), None)
    if same is not None or promised.total is None:
        return same
    before, there = (
        max(1.0 if cpu is None else cpu, _LEAST_CPU) for cpu in (run.placement.objective.min_cpu, choice.min_cpu)
    )
    return promised.total * before / there * len(run.placement.nodes) / len(choice.nodes)


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
        groups={"there": there.choice.group.document()} if there.choice else {},
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
