"""Reading decisions on moves: those that wait, what moved before, by which rules."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import QuerySet

from scheduling.jobs.models import Job
from scheduling.rescheduling.core.decision_states import DecisionState
from scheduling.rescheduling.core.learnt_threshold import MoveOutcome
from scheduling.rescheduling.core.weighing import MoveHistory
from scheduling.rescheduling.models import JobMovePolicy, MoveDecision, ReschedulingPolicy

#: The job was stopped, or was to be: these count as moves.
_STARTED = (DecisionState.MOVING, DecisionState.MOVED, DecisionState.VERIFIED, DecisionState.FAILED)
#: So many of the newest moves a threshold is learnt from.
_MOST_OUTCOMES = 200


def policy(cluster: str) -> ReschedulingPolicy:
    """The rules of a cluster; the defaults, not saved, where nobody has changed them."""
    return ReschedulingPolicy.objects.filter(cluster=cluster).first() or ReschedulingPolicy(cluster=cluster)


def job_policy(job: Job) -> JobMovePolicy | None:
    """What was said of moves of one job."""
    return JobMovePolicy.objects.filter(job=job).first()


def proposals() -> QuerySet[MoveDecision]:
    """Those that wait for somebody, the one that expires first before the others."""
    return _shown(MoveDecision.objects.filter(state=DecisionState.PROPOSED)).order_by("expires_at", "pk")


def under_way() -> QuerySet[MoveDecision]:
    """Those that were decided and are not done."""
    states = (DecisionState.APPROVED, DecisionState.OVERRIDDEN, DecisionState.MOVING)
    return _shown(MoveDecision.objects.filter(state__in=states)).order_by("pk")


def moved() -> QuerySet[MoveDecision]:
    """Those by which a job was moved, or should have been; the newest first."""
    return _shown(MoveDecision.objects.filter(state__in=_STARTED).exclude(state=DecisionState.MOVING))


def not_moved() -> QuerySet[MoveDecision]:
    """Those by which a job stayed; the newest first."""
    stayed = (DecisionState.REFUSED, DecisionState.EXPIRED, DecisionState.DECLINED, DecisionState.OBSERVED)
    return _shown(MoveDecision.objects.filter(state__in=stayed))


def of_job(job: Job) -> QuerySet[MoveDecision]:
    """All of one job, the newest first."""
    return MoveDecision.objects.filter(job=job)


def history(job: Job, now: datetime) -> MoveHistory:
    """What moved before, as the rules ask for it."""
    mine = list(MoveDecision.objects.filter(job=job, state__in=_STARTED).values_list("state_since", "state"))
    since = now - timedelta(hours=1)
    rows = MoveDecision.objects.filter(cluster=job.cluster, state__in=_STARTED, state_since__gte=since)
    recent = list(rows.values_list("state_since", "nodes", "nodes_now"))
    nodes = {node: at for at, new, old in sorted(recent, key=lambda each: each[0]) for node in (*new, *old)}
    own = job_policy(job)
    return MoveHistory(
        job_moved=max((at for at, _ in mine), default=None),
        job_moves=len(mine),
        failures=_failures([state for _, state in mine]),
        nodes_moved=nodes,
        starts=tuple(at for at, _, _ in recent),
        opted_out=bool(own and own.opted_out),
    )


def outcomes(cluster: str) -> Iterator[MoveOutcome]:
    """What became of the newest moves of a cluster: predicted gains, and seconds that they really saved."""
    rows = MoveDecision.objects.filter(cluster=cluster, state=DecisionState.VERIFIED)
    for gain, outcome in rows.values_list("gain", "outcome")[:_MOST_OUTCOMES]:
        if gain is not None and isinstance(saved := outcome.get("saved"), int | float):
            yield MoveOutcome(gain, float(saved))


def _failures(states: list[str]) -> int:
    """How many of the last moves failed in a row; `states` are the newest first."""
    count = 0
    for state in states:
        if state != DecisionState.FAILED:
            break
        count += 1
    return count


def _shown(rows: QuerySet[MoveDecision]) -> QuerySet[MoveDecision]:
    return rows.select_related("job__application", "job__owner")
