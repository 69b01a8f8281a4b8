"""Running a job's skeleton on its candidate groups: from trying to starting, whoever is killed on the way.

Every row of SkeletonRun goes from planned by way of running to its end; a row is running before it is handed to the
backend, and its key makes that idempotent. Beat takes each job a step on: its runs are followed, what need not run any
more is left, what may run now is handed over, and when nothing is open a group is taken.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from gridportal.base.reasons import Code, Reason
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job, JobEvent
from scheduling.jobs.services.advance import advance
from scheduling.jobs.services.leases import MAX_ATTEMPTS, acquire, keep, release, still_leased
from scheduling.jobs.services.outbox import announce
from scheduling.placing.models import Placement
from scheduling.placing.services.taking import take_group
from scheduling.runs.services.follow import follow_all
from scheduling.runs.services.isolation import isolated
from scheduling.runs.services.poll_lock import poll_lock
from scheduling.runs.services.starting import start_runs
from scheduling.runs.services.submissions import cancel
from scheduling.skeletons.core import trial_budget, trial_rounds
from scheduling.skeletons.core.skeleton_run_states import AT_WORK, THERE, SkeletonState
from scheduling.skeletons.core.trial_budget import ENDING, Cause
from scheduling.skeletons.models import OPEN, SkeletonRun
from scheduling.skeletons.services.trial_runs import FollowedSkeleton, OvertakenError, close, hand_over

log = logging.getLogger(__name__)
#: Seconds below which a backend is given no limit.
_LEAST_LIMIT = 1.0
_STOPPED = Reason.of(Code.JOB_OVER)


def advance_trials(cluster: str = "") -> int:
    """Take every job a step on whose groups are tried and that nobody has leased, and hand over those that have one
    now; how many were handed over. One question to each cluster, however many skeletons run there."""
    open_rows = SkeletonRun.objects.filter(state__in=OPEN).select_related("job")
    trying = Job.objects.filter(state=JobState.TRIAL)
    if cluster:
        open_rows, trying = open_rows.filter(job__cluster=cluster), trying.filter(cluster=cluster)
    rows, jobs = defaultdict[str, list[SkeletonRun]](list), defaultdict[str, list[int]](list)
    for row in open_rows.defer("script"):
        rows[row.job.cluster].append(row)
    for name_, pk in trying.order_by("pk").values_list("cluster", "pk"):
        jobs[name_].append(pk)
    ready = [job for name_ in sorted({*rows, *jobs}) for job in _try_under_lock(name_, rows[name_], jobs[name_])]
    return start_runs(ready) if ready else 0


def _try_under_lock(cluster: str, rows: Sequence[SkeletonRun], jobs: Sequence[int]) -> list[int]:
    with poll_lock(cluster) as mine:
        return _try_cluster(cluster, rows, jobs) if mine else []


def _try_cluster(cluster: str, rows: Sequence[SkeletonRun], jobs: Sequence[int]) -> list[int]:
    def silent(error: str) -> None:
        reason = Reason.of(Code.TRIAL_SILENT, error=error)
        Job.objects.filter(pk__in=jobs, state=JobState.TRIAL).exclude(reason=reason).update(reason=reason)

    if follow_all(cluster, [FollowedSkeleton(row) for row in rows if row.state in THERE], silent) is None:
        return []
    for row in rows:
        if row.job.state != JobState.TRIAL:
            isolated(f"job {row.job_id}: {row.key}", partial(_end_leftover, row))
    return [job for job in jobs if isolated(f"job {job}", partial(_step, job)).value]


def _end_leftover(row: SkeletonRun) -> None:
    """The job was cancelled meanwhile: its skeleton goes, and holds its nodes until it has."""
    if row.state == SkeletonState.PLANNED:
        close(row, SkeletonState.SKIPPED, _STOPPED, Cause.OVER)
    elif row.is_open and not row.is_stopping:
        _stop(row, _Why(Cause.OVER, _STOPPED))


class _Why(NamedTuple):
    cause: Cause
    reason: Reason


def _stop(row: SkeletonRun, why: _Why) -> None:
    """Ask the backend to end it; who follows it asks again each time until it has."""
    advance(row, SkeletonState.STOPPING, reason=why.reason, cause=str(why.cause))
    cancel(row)


def _step(job_id: int) -> bool:
    """One step of one job; True when it has its group and is to be started."""
    job = acquire(job_id, (JobState.TRIAL,))
    if job is None:
        return False
    with keep(job.lease_holder):
        if job.attempts > 2 * MAX_ATTEMPTS:
            advance(job, JobState.FAILED, reason=Reason.of(Code.TRIAL_LOST), holder=job.lease_holder)
            return False
        trial = _Trial(job)
        try:
            trial.leave()
            trial.start()
        except OvertakenError:
            return False
        if not trial.open:
            until = trial.kept_until()
            if until is None or until <= trial.now:
                return take_group(job, trial.placement, trial.rows)
            _await_choice(job, Reason.of(Code.TRIAL_AWAITS, groups=len(trial.rows), until=until.isoformat()))
            return False
        release(job, reason=trial.reason())
        return False


def _await_choice(job: Job, reason: Reason) -> None:
    """Let it wait for a person, who is told once."""
    with transaction.atomic():
        if job.reason != reason and job.pk in still_leased([job]):
            within = {"from_state": job.state, "to_state": job.state}
            announce([JobEvent.objects.create(job=job, reason=reason, **within)])
        release(job, reason=reason)


def _kind(row: SkeletonRun) -> Hashable:
    """What a prediction on a group comes from: which skeleton, who plays it, and how many ranks share each node, whose
    messages no estimate counts."""
    return row.skeleton_id, row.player.code, tuple(sorted(Counter(row.nodes).values()))


class _Trial:
    """The trial of one job that this worker has leased. Groups are counted as in its plan."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.placement: Placement = job.placements.order_by("-pk")[:1].get()
        self.plan = self.placement.plan
        rows = SkeletonRun.objects.filter(placement=self.placement).select_related("skeleton")
        by_place = {row.candidate: row for row in rows.defer("skeleton__document")}
        self.rows = [by_place[place] for place in self.plan.groups]
        for row in self.rows:
            row.job = job
        self.now = timezone.now()
        self.silent = ""

    @property
    def open(self) -> list[int]:
        """The groups that are not through."""
        return [group for group, row in enumerate(self.rows) if row.is_open]

    def _in(self, *states: str) -> list[int]:
        return [group for group, row in enumerate(self.rows) if row.state in states]

    @property
    def _going(self) -> list[int]:
        """The groups on which it runs, or is about to, and need not be stopped yet."""
        return [group for group in self._in(*AT_WORK) if not self.rows[group].is_stopping]

    def kept_until(self) -> datetime | None:
        """Until when its groups are kept for a person to take one; None where nobody is waited for, or there is nothing
        to choose by."""
        ends = [row.ended_at for row in self.rows if row.ended_at and row.predicted is not None]
        if not self.job.by_hand or self.placement.decision_id or not ends:
            return None
        return max(ends).replace(microsecond=0) + timedelta(seconds=settings.PORTAL.choice_seconds)

    def leave(self) -> None:
        """Skip and stop what need not run any more."""
        for group, why in self._lost().items():
            row = self.rows[group]
            if row.state == SkeletonState.PLANNED:
                close(row, SkeletonState.SKIPPED, why.reason, why.cause)
            else:
                _stop(row, why)

    def start(self) -> None:
        """Hand over what disturbs none of those that run; again what may have been lost on its way there."""
        for group in self._in(SkeletonState.PREPARED):
            self._hand_over(group)
        planned, busy = self._in(SkeletonState.PLANNED), self._in(*AT_WORK)
        chosen = trial_rounds.startable(planned, busy, self.plan.apart)
        begun = sum(row.handed_at is not None and row.state != SkeletonState.FAILED for row in self.rows) + len(chosen)
        allowed = trial_budget.allowance(self.plan.budget - self._spent, begun, len(planned) - len(chosen))
        for group in chosen:
            with transaction.atomic():
                if self.job.pk not in still_leased([self.job]):
                    raise OvertakenError
                advance(self.rows[group], SkeletonState.PREPARED, handed_at=self.now, allowed=allowed)
            self._hand_over(group)

    def reason(self) -> Reason:
        """Where it is."""
        if self.silent:
            return Reason.of(Code.TRIAL_SILENT, error=self.silent)
        return Reason.of(Code.TRIAL_RUNNING, groups=len(self.rows), over=len(self.rows) - len(self.open))

    def _hand_over(self, group: int) -> None:
        """With what it may take as its limit at the backend too, for a portal that is slow or away."""
        allowed = self.rows[group].allowed
        self.silent = hand_over(self.rows[group], max(_LEAST_LIMIT, allowed or 0.0)) or self.silent

    def _lost(self) -> dict[int, _Why]:
        """The groups, planned or running, that need not go on."""
        planned, running = self._in(SkeletonState.PLANNED), self._going
        if why := self._whole_reason():
            return dict.fromkeys([*planned, *running], why) | self._wanted()
        kinds = [_kind(row) for row in self.rows]
        cannot = trial_rounds.hopeless(planned, self._predicted, self.plan.bounds, self.plan.estimates, kinds)
        lost = {group: _Why(Cause.CANNOT_WIN, reason) for group, reason in cannot.items()}
        slow = trial_rounds.too_slow(self._running_for(running), self._took)
        lost |= dict.fromkeys(slow, _Why(Cause.SLOWER, Reason.of(Code.SLOWER_ALREADY)))
        for group in running:
            allowed = self.rows[group].allowed
            if allowed is not None and self._since(group) >= allowed - ENDING:
                lost.setdefault(group, _Why(Cause.TIME, Reason.of(Code.TRIAL_TIME, allowed=allowed)))
        return lost

    def _whole_reason(self) -> _Why | None:
        """Why nothing of it need go on."""
        if self.placement.decision_id:
            return _Why(Cause.ANOTHER, Reason.of(Code.ANOTHER_TAKEN))
        if self.job.attempts > MAX_ATTEMPTS:
            return _Why(Cause.LOST, Reason.of(Code.TRIAL_WORKER_LOST))
        over = self._spent >= self.plan.budget - ENDING
        return _Why(Cause.TIME, Reason.of(Code.TRIAL_TIME, allowed=0.0)) if over else None

    def _wanted(self) -> dict[int, _Why]:
        """The group that a person took, while it is open, with the reason for it."""
        decision = self.placement.decision
        if decision is None:
            return {}
        why = _Why(Cause.TAKEN, Reason.of(Code.TAKEN_EARLY, person=decision.by))
        taken = decision.candidate
        going = [*self._in(SkeletonState.PLANNED), *self._going]
        return {group: why for group in going if self.rows[group].candidate == taken}

    def _since(self, group: int) -> float:
        began = self.rows[group].handed_at
        return (self.now - began).total_seconds() if began else 0.0

    @property
    def _spent(self) -> float:
        began = min((row.handed_at for row in self.rows if row.handed_at), default=None)
        return (self.now - began).total_seconds() if began else 0.0

    @cached_property
    def _predicted(self) -> dict[int, float]:
        return {group: row.predicted for group, row in enumerate(self.rows) if row.predicted is not None}

    @cached_property
    def _took(self) -> list[float]:
        return [
            (row.ended_at - row.started_at).total_seconds()
            for row in self.rows
            if row.state == SkeletonState.DONE and row.started_at and row.ended_at
        ]

    def _running_for(self, groups: Sequence[int]) -> dict[int, float]:
        began = {group: self.rows[group].started_at for group in groups}
        return {group: (self.now - at).total_seconds() for group, at in began.items() if at}
