"""What a person does with a job in the queue of its cluster: hold it, release it, put it back."""

from __future__ import annotations

from collections.abc import Callable

from django.db import transaction

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.batch_system import Queue
from gridportal.base.errors import BackendError, Described, InputError
from gridportal.base.reasons import Code, Reason
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import advance
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.runs.selectors import last_run, verbs
from scheduling.runs.services.backends import backend

#: verb -> what the queue does, its cause, and what the job must be for it.
_VERBS: dict[str, tuple[Callable[[Queue, str], None], Code, str]] = {
    "hold": (lambda queue, run: queue.hold(run), Code.HELD_BY, "a job that waits in the queue of its cluster"),
    "release": (
        lambda queue, run: queue.release(run),
        Code.RELEASED_BY,
        "a job that is held in the queue of its cluster",
    ),
    "requeue": (
        lambda queue, run: queue.requeue(run),
        Code.REQUEUED_BY,
        "a job that runs on a cluster which may start it again",
    ),
}


def hold_job(actor: User, job: Job) -> Job:
    """Keep a job that waits in its cluster's queue from starting. Raises InputError, BackendError."""
    return _do("hold", actor, job, held=True)


def release_job(actor: User, job: Job) -> Job:
    """Let a held job start. Raises InputError; BackendError also when an administrator of the cluster holds it."""
    return _do("release", actor, job, held=False)


def requeue_job(actor: User, job: Job) -> Job:
    """Stop a running job and put it back into the queue under its own number. Raises InputError, BackendError."""
    return _do("requeue", actor, job)


def _do(verb: str, actor: User, job: Job, *, held: bool | None = None) -> Job:
    job.refresh_from_db()
    run = last_run(job)
    act, code, accepted = _VERBS[verb]
    if run is None or verb not in verbs(job, run):
        raise InputError(verb, Described(f"job {job.pk}, which is {job.state}"), accepted)
    queue = backend(job.cluster, job.owner).queue
    if queue is None:
        raise BackendError(f"The cluster {job.cluster} has no queue in which a job could be held.")
    act(queue, run.backend_id)
    _write(verb, actor, job, run, Reason.of(code, person=actor.username), held)
    return job


def _write(verb: str, actor: User, job: Job, run: Run, reason: Reason, held: bool | None) -> None:
    """The event and the trail; polling sees what the cluster makes of it, and may have moved the job meanwhile."""
    with transaction.atomic():
        job.refresh_from_db(fields=["state"], from_queryset=Job.objects.select_for_update())
        event = {"reason": reason, "actor": actor.username, "run_number": run.number}
        job.step_event(job.state, job.state, event).save(force_insert=True)
        if held is not None:
            advance(run, RunState.HELD if held else RunState.SUBMITTED, event=None)
        if not job.is_final:
            Job.objects.filter(pk=job.pk).update(reason=reason)
        audit(actor, f"job.{verb}", job, backend_id=run.backend_id)
    job.reason = reason
