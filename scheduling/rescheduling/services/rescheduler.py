"""The rescheduler: it answers the calls of contracts, looks who gains by nodes that became free, and moves jobs.

Source: Migration 2003, 4.3 and 6.2. One queue over all jobs, one weighing at a time: each leaves the nodes to the ones
before it that these are to move to. What a person asked for comes before the next weighing, for somebody waits.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from functools import partial

from django.db.models import Max
from django.utils import timezone

from gridportal.base.errors import ConflictError
from scheduling.contracts.core.limits import Refusal
from scheduling.contracts.models import ContractCall
from scheduling.contracts.services import answering
from scheduling.rescheduling import selectors
from scheduling.rescheduling.core.decision_states import DecisionState
from scheduling.rescheduling.core.opportunities import Opportunity, in_turn, one_at_a_time
from scheduling.rescheduling.core.weighing import MoveMode, Verdict
from scheduling.rescheduling.models import MoveDecision, ReschedulingPolicy
from scheduling.rescheduling.services import deciding, moving, telling_contracts, weighing_jobs, weighing_requests
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.runs.services.isolation import isolated
from scheduling.runs.services.one_at_a_time import OneAtATime

log = logging.getLogger(__name__)
_turns = OneAtATime()
#: So many calls, and so many jobs for each cluster with freed nodes, are weighed in one pass.
_MOST_CALLS, _MOST_JOBS = 20, 50
#: Of an end that a cluster tells later than that nobody takes the nodes for free.
_TOLD_WITHIN = timedelta(days=1)


def reschedule() -> int:
    """Whatever there is to do; how many decisions went on or were made."""
    turn = _turns.begin("")
    if turn is None:
        return 0
    with turn:
        people, moves = weighing_requests.answer_requests, (moving.follow_moves, moving.verify_moves)
        steps = (people, answer_calls, deciding.expire_proposals, *moves, use_freed_nodes, moving.start_moves)
        count = sum(step() for step in steps)
        while turn.again():
            count += people()
    return count


def answer_calls() -> int:
    """Answer the calls of running jobs that nobody has answered, the oldest first; how many.

    While a run is being stopped its job is moved already.
    """
    rows = ContractCall.objects.filter(answer={}, contract__closed_at=None, contract__run__state=RunState.RUNNING)
    related = ("contract__run__job__application", "contract__run__placement")
    calls = list(rows.select_related(*related).order_by("pk")[:_MOST_CALLS])
    return sum(bool(isolated(f"call {call.pk}", partial(_answer, call)).value) for call in calls)


def use_freed_nodes() -> int:
    """Weigh the jobs of clusters where a run has ended since this was done last; how many moves are decided."""
    clusters = selectors.movable_runs().order_by().values_list("job__cluster", flat=True).distinct()
    return sum(_use_freed_nodes(name) for name in clusters)


def _answer(call: ContractCall) -> bool:
    """Weigh the job of a call, and tell its contract where it stays."""
    run = call.contract.run
    if not run.job.application.stop_means:
        answered = answering.answer(call, {"verdict": Verdict.NOT_STOPPABLE.value})
        return answered and answering.decline(call.contract_id, Refusal())
    weighing_requests.answer_requests()
    try:
        decision = weighing_jobs.weigh_job(run, MoveMode.ON_REQUEST)
    except ConflictError:
        under_way = selectors.open_decision(run.job)
        return answering.answer(call, {"verdict": "", "decision": under_way.pk if under_way else None})
    answered = answering.answer(call, {"verdict": decision.verdict, "decision": decision.pk})
    if decision.state in (DecisionState.DECLINED, DecisionState.OBSERVED):
        answering.decline(call.contract_id, telling_contracts.refusal_of(call.contract, decision))
    return answered


def _use_freed_nodes(cluster: str) -> int:
    policy, _ = ReschedulingPolicy.objects.get_or_create(cluster=cluster)
    since = policy.freed_at
    newest = _newest_end(cluster, since) if since else timezone.now()
    if newest is None:
        return 0
    if not ReschedulingPolicy.objects.filter(pk=policy.pk, freed_at=since).update(freed_at=newest):
        return 0
    return 0 if since is None else _weigh_all(cluster, int(newest.timestamp()))


def _newest_end(cluster: str, since: datetime) -> datetime | None:
    """When the portal last saw a run end after `since`: by its own clock, for a cluster may tell late of an end, or by
    another clock."""
    ended = Run.objects.filter(job__cluster=cluster, started_at__isnull=False, ended_at__gte=since - _TOLD_WITHIN)
    newest: datetime | None = ended.filter(state_since__gt=since).aggregate(newest=Max("state_since"))["newest"]
    return newest


def _weigh_all(cluster: str, turn: int) -> int:
    """Weigh the jobs that could be moved; those moves are decided that can all be made. `turn`: a number that is
    another one each time, by which of many jobs others are weighed."""
    opportunities, decisions = [], {}
    movable = selectors.movable_runs().filter(job__cluster=cluster)
    chosen = in_turn(list(movable.values_list("pk", "contract__standing")), turn, _MOST_JOBS)
    for run in movable.filter(pk__in=chosen).select_related("job__application", "placement"):
        weighing_requests.answer_requests()
        outcome = isolated(f"job {run.job_id}", partial(weighing_jobs.weighed, run, MoveMode.OPPORTUNISTIC))
        if outcome.value is not None:
            weighing, decision = outcome.value
            decision.take_weighing(weighing)
            decisions[run.job_id] = decision
            opportunities.append(Opportunity(run.job_id, weighing, selectors.lost_work(run, timezone.now())))
    return sum(_kept(decisions[each.job]) for each in one_at_a_time(opportunities))


def _kept(decision: MoveDecision) -> bool:
    try:
        weighing_jobs.keep(decision)
    except ConflictError:
        return False
    return True
