"""Reading decisions on moves: those that wait, what moved before, by which rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any

from django.db.models import Min, Q, QuerySet
from django.db.models.functions import Coalesce

from monitoring.clusters import selectors as clusters
from scheduling.checkpoints.selectors import PHASES, restart_point
from scheduling.contracts.selectors.promises import contract_of
from scheduling.jobs.core.states import FINAL, JobState
from scheduling.jobs.models import Job
from scheduling.performance.core.phase_prediction import Prediction
from scheduling.placing.models import Placement
from scheduling.rescheduling.core.decision_states import OPEN_DECISIONS, DecisionState
from scheduling.rescheduling.core.expected_move import ExpectedMove
from scheduling.rescheduling.core.hindsight import MovesSum, missed_gain, summed_up
from scheduling.rescheduling.core.learnt_threshold import MoveOutcome
from scheduling.rescheduling.core.move_cost import CostKind, CostPhase
from scheduling.rescheduling.core.move_progress import MoveStage, MoveTimestamps, StageProgress, stages
from scheduling.rescheduling.core.weighing import MoveHistory
from scheduling.rescheduling.models import JobMovePolicy, MoveDecision, ReschedulingPolicy
from scheduling.rescheduling.request_models import WeighingRequest
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.continuation_states import ContinuationState
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run

#: The job was stopped, or was to be: these count as moves.
_STARTED = (DecisionState.MOVING, DecisionState.MOVED, DecisionState.VERIFIED, DecisionState.FAILED)
_STAYED = (DecisionState.REFUSED, DecisionState.EXPIRED, DecisionState.DECLINED, DecisionState.OBSERVED)
#: A run in one of these may still be moved: one that its backend does not know at the moment may be found again.
STILL_THERE = (RunState.RUNNING, RunState.MISSING)
#: Seconds by which the event of a step may be later than the step itself.
_LATER = timedelta(minutes=1)
_WENT_WRONG = (DecisionState.FAILED, ContinuationState.FAILED, ContinuationState.NOT_STOPPED)
#: The columns of a move that say what a phase took, by phase.
MEASURED = {
    CostPhase.WRITE: "writing",
    CostPhase.TELEMETRY: "telemetry",
    CostPhase.RESOURCES: "information",
    CostPhase.SCHEDULE: "schedule",
    CostPhase.OTHER: "other",
    CostPhase.START: "start",
    CostPhase.REDISTRIBUTION: "reading",
}
#: So many of the newest moves a threshold is learnt from.
_MOST_OUTCOMES = 200
#: So many of the newest moves are added up.
_MOST_SUMMED = 5000


def policy(cluster: str) -> ReschedulingPolicy:
    """The rules of a cluster; the defaults, not saved, where nobody has changed them."""
    return ReschedulingPolicy.objects.filter(cluster=cluster).first() or ReschedulingPolicy(cluster=cluster)


def job_policy(job: Job) -> JobMovePolicy | None:
    """What was said of moves of one job."""
    return JobMovePolicy.objects.filter(job=job).first()


def open_decision(job: Job) -> MoveDecision | None:
    """The one by which it may still be moved."""
    return MoveDecision.objects.filter(job=job, state__in=OPEN_DECISIONS).first()


def open_request(job: Job) -> WeighingRequest | None:
    """What somebody asked to have weighed and has no answer yet."""
    return WeighingRequest.objects.filter(job=job, ended_at=None).first()


def decisions() -> QuerySet[MoveDecision]:
    """All, the newest first."""
    return _shown(MoveDecision.objects.all())


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
    return _shown(MoveDecision.objects.filter(state__in=_STAYED))


def old_decisions(before: datetime) -> QuerySet[MoveDecision]:
    """Those by which a job stayed that was over before that time; what a move came of is none of them."""
    return MoveDecision.objects.filter(_over(before), state__in=_STAYED, continuation=None)


def old_requests(before: datetime) -> QuerySet[WeighingRequest]:
    """Those of jobs that were over before that time, and whose decision is gone or never was."""
    return WeighingRequest.objects.filter(_over(before), ended_at__isnull=False, decision=None)


def _over(before: datetime) -> Q:
    return Q(job__state__in=list(FINAL), job__ended_at__lt=before)


def earlier_moves(job: Job) -> list[MoveDecision]:
    """Open decisions on other jobs of its cluster whose nodes nobody has reserved yet, the oldest first."""
    rows = MoveDecision.objects.filter(cluster=job.cluster, state__in=OPEN_DECISIONS, continuation__placement=None)
    return list(rows.exclude(job=job).select_related("job").order_by("pk"))


def of_job(job: Job) -> QuerySet[MoveDecision]:
    """All of one job, the newest first."""
    return _shown(MoveDecision.objects.filter(job=job))


def history(job: Job, now: datetime) -> MoveHistory:
    """What moved before, as the rules ask for it: by decisions, and where somebody moved a job without one."""
    mine = list(_dated(MoveDecision.objects.filter(job=job)).values_list("settled", "state"))
    mine += _by_hand(job=job).values_list("settled", "state")
    mine.sort(key=lambda row: row[0], reverse=True)
    since = now - max(timedelta(hours=1), timedelta(seconds=policy(job.cluster).node_cooldown))
    lately = MoveDecision.objects.filter(cluster=job.cluster, state_since__gte=since - _LATER)
    rows = _dated(lately).filter(settled__gte=since)
    recent = list(rows.values_list("settled", "began", "nodes", "nodes_now"))
    others = _by_hand(job__cluster=job.cluster).filter(settled__gte=since)
    recent += others.values_list("settled", "stop_sent_at", "placement__nodes", "source__placement__nodes")
    stopped = sorted((row for row in recent if row[1] is not None), key=lambda row: row[0])
    nodes = {node: at for at, _, new, old in stopped for node in (*(new or ()), *old)}
    own = job_policy(job)
    return MoveHistory(
        job_moved=max((at for at, _ in mine), default=None),
        job_moves=len(mine),
        failures=_failures([state for _, state in mine]),
        nodes_moved=nodes,
        starts=tuple(began for _, began, _, _ in stopped),
        opted_out=bool(own and own.opted_out),
    )


def _dated(rows: QuerySet[MoveDecision]) -> QuerySet[Any]:
    """Those by which a job was moved, or should have been; `began`: when it was to stop, None where that was refused;
    `settled`: when it was over, else began. That a gain is verified, once the job is over, moves nothing any more."""
    over = Q(events__to_state__in=[DecisionState.MOVED.value, DecisionState.FAILED.value])
    began = Min("events__at", filter=Q(events__to_state=DecisionState.MOVING.value))
    dated: QuerySet[Any] = rows.filter(state__in=_STARTED).order_by("-pk").annotate(began=began)
    settled: QuerySet[Any] = dated.annotate(settled=Coalesce(Min("events__at", filter=over), "began", "state_since"))
    return settled


def moves_by_hand(owner: int | None = None) -> QuerySet[Continuation]:
    """Moves of running programs that somebody asked for without a decision, the newest first; `settled`: when it was
    over, else when its program was to stop. Where nothing was to stop yet, nothing was moved.

    `owner`: of whose jobs; of all without it.
    """
    rows = Continuation.objects.filter(decisions=None, stop_sent_at__isnull=False).order_by("-pk")
    rows = rows if owner is None else rows.filter(job__owner=owner)
    settled: QuerySet[Continuation] = rows.annotate(settled=Coalesce("ended_at", "stop_sent_at"))
    return settled


def _by_hand(**of: Any) -> QuerySet[Any]:
    return moves_by_hand().filter(**of)


def progress_of(decision: MoveDecision, now: datetime) -> list[StageProgress]:
    """How far its move is, stage by stage; nothing while it has not begun."""
    move = decision.continuation
    if move is None:
        return []
    at = MoveTimestamps(move.asked_at, move.stop_sent_at, move.stopped_at, move.starting_at, move.ended_at)
    measured = {MoveStage.WRITE: move.writing, MoveStage.START: move.start, MoveStage.READ: move.reading}
    known = {stage: seconds for stage, seconds in measured.items() if seconds is not None}
    costs = decision.costs_by_kind.get(CostKind.PREDICTED)
    return stages(ContinuationState(move.state), at, known, costs.seconds if costs else {}, now)


def real_cost(decision: MoveDecision) -> dict[CostPhase, float]:
    """Seconds of each phase that its move took, as far as they are known."""
    move = decision.continuation
    if move is None:
        return {}
    return measured_phases(move)


def measured_phases(move: Continuation) -> dict[CostPhase, float]:
    """Seconds of each phase of a move, as far as they are known."""
    return {phase: value for phase, name in MEASURED.items() if (value := getattr(move, name)) is not None}


def expected_columns(move: ExpectedMove) -> dict[str, float | None]:
    """Seconds that each phase is expected to take, by the columns of `Continuation`, and `queue`."""
    return {MEASURED.get(phase, phase.value): seconds for phase, seconds in move.seconds.items()}


def expected_rows(move: ExpectedMove) -> list[tuple[str, float | None]]:
    """Each phase in the words of table I, and the seconds that it is expected to take."""
    words = {**dict(PHASES), "queue": "waiting in the queue"}
    return [(words[name], seconds) for name, seconds in expected_columns(move).items()]


def moves_before(decision: MoveDecision) -> int:
    """How often its job was moved, or should have been, before it was weighed, also without a decision."""
    rows = MoveDecision.objects.filter(job=decision.job_id, state__in=_STARTED)
    others = _by_hand(job=decision.job_id).filter(asked_at__lt=decision.created_at)
    return rows.filter(created_at__lt=decision.created_at).count() + others.count()


def with_missed(decisions: Iterable[MoveDecision]) -> list[tuple[MoveDecision, float | None]]:
    """Each with what moving would have gained where its job stayed."""
    return [(each, missed(each)) for each in decisions]


def movable_runs() -> QuerySet[Run]:
    """Runs that could be moved: they run, have a contract, and their job has no decision under way."""
    deciding = MoveDecision.objects.filter(state__in=OPEN_DECISIONS).values("job")
    rows = Run.objects.filter(state=RunState.RUNNING, contract__closed_at=None, contract__isnull=False)
    return rows.exclude(job__application__stop_means={}).exclude(job__in=deciding).order_by("pk")


def lost_work(run: Run, now: datetime) -> float:
    """Seconds of work that the job of `run` may have to do again when it is moved now.

    A program with a restart of its own goes on from a file: what it computed since its newest one, or since it began,
    counts. One that writes its checkpoint when it is stopped loses nothing.
    """
    if run.started_at is None or run.job.application.stop_means.by.has_answer:
        return 0.0
    point = restart_point(run.job)
    written = point.written_at if point else None
    return max(0.0, (now - max(run.started_at, written or run.started_at)).total_seconds())


def missed(decision: MoveDecision) -> float | None:
    """What moving would have gained where the job stayed, by how long it then really took; None while that is not
    known, and where it was moved later all the same."""
    job = decision.job
    if decision.state not in _STAYED or decision.ret_new is None or job.ended_at is None:
        return None
    later = Continuation.objects.filter(job=job, asked_at__gte=decision.created_at, state=ContinuationState.MOVED)
    if job.state != JobState.SUCCEEDED or later.exists():
        return None
    stayed = (job.ended_at - decision.created_at).total_seconds()
    return missed_gain(stayed, decision.ret_new, decision.cost)


def moves_sum(since: datetime | None = None) -> MovesSum:
    """How the newest verified moves turned out together, of all clusters; `since` when they were decided."""
    rows = MoveDecision.objects.filter(state=DecisionState.VERIFIED)
    rows = rows.filter(created_at__gte=since) if since else rows
    found = rows.order_by("-pk").values_list("outcome", flat=True)[:_MOST_SUMMED]
    figures = ((each.get("gain"), each.get("saved")) for each in found)
    return summed_up((gain, saved) for gain, saved in figures if gain is not None and saved is not None)


def outcomes(cluster: str) -> Iterator[MoveOutcome]:
    """What became of the newest moves of a cluster: predicted gains, and seconds that they really saved."""
    rows = MoveDecision.objects.filter(cluster=cluster, state=DecisionState.VERIFIED)
    for gain, outcome in rows.values_list("gain", "outcome")[:_MOST_OUTCOMES]:
        if gain is not None and isinstance(saved := outcome.get("saved"), int | float):
            yield MoveOutcome(gain, float(saved))


def _failures(states: list[str]) -> int:
    """How many of the last moves failed in a row; `states` are the newest first, of decisions and of moves without."""
    return sum(1 for _ in takewhile(_WENT_WRONG.__contains__, states))


def _shown(rows: QuerySet[MoveDecision]) -> QuerySet[MoveDecision]:
    return rows.select_related("job__application", "job__owner", "continuation").prefetch_related("events")


def approval_of(placement: Placement) -> MoveDecision | None:
    """By which these nodes, which the portal had proposed for a move, were approved; None where it was otherwise."""
    rows = MoveDecision.objects.filter(continuation__placement=placement, events__to_state=DecisionState.APPROVED)
    return rows.exclude(by="").first()


def began(decision: MoveDecision) -> datetime | None:
    """When the run began that is, or was, to be stopped."""
    return decision.job.runs.filter(number=decision.run_number).values_list("started_at", flat=True).first()


def to_compare(
    decision: MoveDecision,
) -> tuple[Mapping[tuple[str, str], float], Prediction | None, Mapping[str, float]]:
    """The peak of every link of its cluster, bit/s, what the run that would be stopped was promised, and how fast the
    nodes of both sets are, the reference node being 1."""
    contract = contract_of(decision.job.runs.filter(number=decision.run_number).first())
    speeds = clusters.speeds(decision.cluster, {*decision.nodes_now, *decision.nodes})
    return clusters.peaks(decision.cluster), contract.prediction if contract else None, speeds
