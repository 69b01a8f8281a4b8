"""Reading trials: how the skeleton of a job fares on its candidate groups, what it cost and won."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q
from django.utils import timezone

from gridportal.base.reasons import Code, Reason
from scheduling.jobs.core.states import JobState
from scheduling.jobs.core.unreadable import Unreadable
from scheduling.jobs.models import Job
from scheduling.placing.models import Placement
from scheduling.skeletons.core.trial_budget import running_time
from scheduling.skeletons.core.trial_record import NO_OUTCOME
from scheduling.skeletons.core.trial_story import TrialStory, TriedGroup
from scheduling.skeletons.models import SkeletonRun

#: Not those that are only reserved for a move, or were for one that came to nothing.
IN_USE = Q(run__isnull=False) | Q(continuations__isnull=True)


def last_placement(job: Job) -> Placement | None:
    """The newest placement, also while its groups are tried and there is no run yet; not one where a move alone was to
    go on and no run was made."""
    return job.placements.filter(IN_USE).order_by("-pk").first()


def override(placement: Placement) -> dict[str, object] | None:
    """Who took another candidate, as the API has it; None where nobody did."""
    found = placement.decision
    if found is None:
        return None
    return {"candidate": found.candidate, "by": found.by, "reason": found.why, "at": found.at.isoformat()}


def trial(placement: Placement | None) -> TrialStory | None:
    """How the groups of a placement were tried, or why they were not; None when nobody asked for that."""
    if placement is None or placement.trial is None:
        return None
    if isinstance(placement.trial, Unreadable):
        return TrialStory(untried=Reason.of(Code.PLAIN_TEXT, text=f"Its trial cannot be read: {placement.trial.why}"))
    if placement.trial.untried:
        return TrialStory(untried=placement.trial.untried)
    plan, outcome = placement.plan, placement.trial.outcome or NO_OUTCOME
    runs = list(SkeletonRun.objects.filter(placement=placement).defer("script").order_by("candidate"))
    over = placement.trial.outcome is not None
    own = next((run.predicted for run in runs if run.candidate == outcome.taken), None)
    return TrialStory(
        rows=tuple(_group(run, outcome.taken, plan.groups[0], own) for run in runs),
        outcome=outcome,
        over=over,
        groups=len(plan.groups),
        spent=_spent(runs) if outcome.spent is None else outcome.spent,
        budget=plan.budget,
        application=plan.application,
        override=override(placement),
        awaits_choice=not over and awaits_choice(placement.job),
    )


def awaits_choice(job: Job) -> bool:
    """Whether its groups are tried and nothing of it runs until a person has taken one."""
    return job.state == JobState.TRIAL and job.reason.code is Code.TRIAL_AWAITS


def jobs_awaiting_choice() -> int:
    """How many jobs wait for a person who takes one of their groups."""
    reasons = Job.objects.filter(state=JobState.TRIAL, by_hand=True).order_by().values_list("reason", flat=True)
    return sum(1 for reason in reasons if reason.code is Code.TRIAL_AWAITS)


def _spent(runs: Sequence[SkeletonRun]) -> float:
    """Seconds in which skeletons ran until now."""
    now = timezone.now()
    return running_time((run.started_at, run.ended_at or now) for run in runs if run.started_at)


def _group(run: SkeletonRun, taken: int | None, selection: int, own: float | None) -> TriedGroup:
    return TriedGroup(
        place=run.candidate,
        nodes=run.nodes,
        state=run.state,
        seconds=run.seconds,
        predicted=run.predicted,
        more=run.predicted - own if run.predicted is not None and own is not None else None,
        reason=run.reason,
        cause=run.cause,
        allowed=run.allowed,
        taken=run.candidate == taken,
        selection=run.candidate == selection,
        since=run.started_at if run.is_open else None,
        ended_at=run.ended_at,
    )
