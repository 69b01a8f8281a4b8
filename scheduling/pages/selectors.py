"""Reading jobs for pages: lists for a person, and the story of one job."""

from __future__ import annotations

from datetime import timedelta
from typing import TypedDict

from django.db.models import DurationField, F, OuterRef, QuerySet, Subquery, Sum

from gridportal.accounts.models import User
from gridportal.base.reasons import Reason, text_reason
from scheduling.jobs.core.requirements import Requirements
from scheduling.jobs.models import Job, JobEvent
from scheduling.jobs.selectors import jobs_of
from scheduling.placing.models import Placement
from scheduling.placing.selectors.occupancy import explanation
from scheduling.placing.selectors.trial_stories import IN_USE
from scheduling.runs.models import Run
from scheduling.runs.selectors import LogPart, PhaseSummary, log_tail, phase_summary, verbs


def jobs_visible_to(user: User) -> QuerySet[Job]:
    """A person's own jobs, or everybody's for operators, managers and administrators; newest first.

    Each carries `chosen_nodes` (list or None), `run_seconds` and `run_verified` of its last run, and `all_runs`, for
    how long all its runs lasted together (None without any that has ended), and `run_began`, since when one of them
    goes on. One query a page.
    """
    return with_outcomes(jobs_of(user))


def with_outcomes(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """The same of other jobs."""
    runs = Run.objects.filter(job=OuterRef("pk")).order_by("-number")
    placements = Placement.objects.filter(IN_USE, job=OuterRef("pk")).order_by("-pk")
    return jobs.select_related("owner", "application").annotate(
        chosen_nodes=Subquery(placements.values("nodes")[:1]),
        run_seconds=Subquery(runs.values("seconds")[:1]),
        run_verified=Subquery(runs.values("verified")[:1]),
        all_runs=Subquery(_lasted()),
        run_began=Subquery(runs.filter(ended_at=None).values("started_at")[:1]),
    )


def _lasted() -> QuerySet[Run, timedelta]:
    """How long the runs of a job lasted together, of those that have ended."""
    runs = Run.objects.filter(job=OuterRef("pk"), started_at__isnull=False, ended_at__isnull=False).order_by()
    lasted = Sum(F("ended_at") - F("started_at"), output_field=DurationField())
    return runs.values("job").annotate(lasted=lasted).values_list("lasted", flat=True)


def as_new(job: Job) -> Job:
    """A job that was submitted a moment ago, with what `jobs_visible_to` adds to each: nothing yet, without asking."""
    job.chosen_nodes = job.run_seconds = job.run_verified = None  # type: ignore[attr-defined]
    job.all_runs = job.run_began = None  # type: ignore[attr-defined]
    job._prefetched_objects_cache = {"runs": Run.objects.none()}  # type: ignore[attr-defined]
    return job


class JobStory(TypedDict):
    """Everything that is told of one job. `verbs`: hold, release, requeue as far as its cluster can do them now."""

    job: Job
    events: list[JobEvent]
    placement: Placement | None
    run: Run | None
    runs: list[Run]
    phases: list[PhaseSummary]
    log: LogPart | None
    explanation: list[Reason]
    requirements: Requirements
    warning: str
    verbs: tuple[str, ...]


def job_story(job: Job) -> JobStory:
    """What there is to tell now."""
    runs = list(job.runs.select_related("placement").order_by("number"))
    run = runs[-1] if runs else None
    placement = run.placement if run else None
    return {
        "job": job,
        "events": list(job.events.all()),
        "placement": placement,
        "run": run,
        "runs": runs,
        "phases": phase_summary(run) if run else [],
        "log": log_tail(run) if run else None,
        "explanation": [*explanation(job), *_fault(job, run)],
        "requirements": job.requirements,
        "warning": placement.warning if placement else "",
        "verbs": verbs(job, run),
    }


def _fault(job: Job, run: Run | None) -> list[Reason]:
    failure = None if job.is_final or run is None else run.failure
    return [text_reason(str(failure))] if failure else []
