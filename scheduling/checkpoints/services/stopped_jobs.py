"""Jobs whose program has stopped though nobody has a continuation under way: they go on by themselves, or wait."""

from __future__ import annotations

from django.db import IntegrityError
from django.db.models import Q, QuerySet

from gridportal.base.reasons import Code, Reason
from scheduling.checkpoints.services.requesting import PORTAL
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import advance
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.continuation_states import OPEN_CONTINUATIONS, ContinuationState
from scheduling.runs.core.run_states import RUN_LIFE, RunState
from scheduling.runs.models import Run
from scheduling.runs.services import checkpoint_facts, own_restarts

#: Of a run whose time limit was nearer than that part of it when it stopped by itself, the limit was why.
_LATE = 0.5


def stopped_jobs(cluster: str = "") -> QuerySet[Job]:
    """Jobs between two runs: their last run ended with a checkpoint, and none follows yet."""
    open_rows = Continuation.objects.filter(state__in=OPEN_CONTINUATIONS).values("job")
    rows = Job.objects.filter(state=JobState.MOVING).exclude(pk__in=open_rows)
    runs = Run.objects.filter(~Q(state__in=[state.value for state in RunState if RUN_LIFE.is_final(state)]))
    between = rows.exclude(pk__in=runs.values("job")).order_by("pk")
    return between.filter(cluster=cluster) if cluster else between


def conclude(job_id: int) -> bool:
    """The program stopped by itself, or after the portal had given up waiting for it: the job goes on by itself, or
    waits for a person. False where another worker was faster."""
    job = Job.objects.select_related("application").get(pk=job_id)
    run = job.runs.select_related("placement").order_by("-number").first()
    if run is None or run.state != RunState.CHECKPOINTED or job.state != JobState.MOVING:
        return False
    if _goes_on_by_itself(job, run):
        try:
            Continuation.objects.create(job=job, source=run, by=PORTAL, ranks=len(run.placement.nodes))
        except IntegrityError:
            return False
        return True
    return advance(job, JobState.STOPPED, reason=_waits_with(job))


def _waits_with(job: Job) -> Reason:
    if job.application.stop_means.own:
        found = own_restarts.newest(job)
        return Reason.of(Code.WAITS_WITH_FILE, file=found.name if found else "")
    return Reason.of(Code.WAITS_FOR_PERSON, checkpoint=checkpoint_facts.newest_whole(job) or 0)


def _goes_on_by_itself(job: Job, run: Run) -> bool:
    """Where it stopped late, as it was asked; or where its time limit was near, and the job is to go on then."""
    if job.continuations.filter(source=run, state=ContinuationState.NOT_STOPPED).exists():
        return True
    if not job.continues or not job.time_limit or run.started_at is None or run.ended_at is None:
        return False
    return (run.ended_at - run.started_at).total_seconds() >= _LATE * job.time_limit
