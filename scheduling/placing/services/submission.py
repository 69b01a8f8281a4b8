"""What a person does with a job: submit and cancel."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from dataclasses import replace

from django.db import IntegrityError, transaction

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import ConflictError, ImpossibleError, InputError
from gridportal.base.reasons import NOTHING, Code, Reason
from monitoring.clusters.selectors import setting
from scheduling.jobs.core.states import FINAL, JobState
from scheduling.jobs.group_models import JobGroup
from scheduling.jobs.models import Application, Job, JobEvent
from scheduling.jobs.selectors import Before, own_projects, usual_project
from scheduling.jobs.services.advance import advance
from scheduling.jobs.services.dependencies import check_dependencies, hold_back
from scheduling.jobs.services.job_inputs import attach, check_inputs
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.jobs.services.program_clusters import check_use
from scheduling.placing.services.admission import check_admission, note_accepted
from scheduling.placing.services.project_checks import check_project
from scheduling.placing.services.requests import CheckedRequest, check
from scheduling.runs.core.run_states import OPEN, RunState
from scheduling.runs.services.backends import check_owner
from scheduling.runs.services.steps import advance_run

log = logging.getLogger(__name__)
#: What a second request with the key of a job has to ask for as well.
_ASKED = (
    *("parameters", "name", "nodes_open", "ranks_per_node", "cpus_per_rank", "memory_per_rank", "gres_per_rank"),
    *("method", "pattern", "time_limit", "classad", "requirements", "options", "specification"),
)
_NOT_STARTED = (JobState.QUEUED, JobState.PLACING, JobState.WAITING, JobState.TRIAL, JobState.STOPPED)


def submit_job(owner: User, request: JobSpec, *, resubmitted_from: Job | None = None) -> Job:
    """Write the job down; nothing is started here: the caller calls tasks.place_soon(job).

    The same request_key twice gives the same job. Raises InputError or ImpossibleError, ConflictError for a key that
    made a job of other values, and BusyError while the portal takes in no more.
    """
    return submit_once(owner, request, resubmitted_from=resubmitted_from)[0]


def submit_once(owner: User, request: JobSpec, *, resubmitted_from: Job | None = None) -> tuple[Job, bool]:
    """The same, and whether the job is new: not one that this request_key has made before."""
    key = request.request_key or uuid.uuid4()
    earlier = _same_request(owner, key, request, resubmitted_from) if request.request_key else None
    if earlier is not None:
        return earlier, False
    check_admission()
    check_use(owner, request.application, setting(request.cluster))
    checked, befores = check(request, owner.username), check_dependencies(owner, request)
    check_inputs(owner, request.inputs, resubmitted_from)
    check_owner(setting(request.cluster), owner)
    hold = check_project(with_project(owner, checked.spec, resubmitted_from).project)
    try:
        with transaction.atomic():
            return create_job(owner, checked, key, befores, hold=hold, resubmitted_from=resubmitted_from), True
    except IntegrityError:
        earlier = _same_request(owner, key, request, resubmitted_from)
        if earlier is not None:
            return earlier, False
        if not Application.objects.filter(pk=request.application.pk).exists():
            there = "an application that is there; this one was removed a moment ago"
            raise InputError("application", request.application.slug, there) from None
        raise


def cancel_job(actor: User, job: Job) -> Job:
    """Cancel at any state: at once before it started, else through the backend (tasks.cancel_run). Idempotent."""
    for _ in range(10):  # each lost race means that the job went on; it has fewer states left every time
        job.refresh_from_db()
        state = JobState(job.state)
        if state in FINAL or state is JobState.CANCELLING:
            return job
        to = JobState.CANCELLED if state in _NOT_STARTED else JobState.CANCELLING
        code = Code.CANCELLED_EARLY if to is JobState.CANCELLED else Code.CANCELLED_BY
        with transaction.atomic():
            if _cancel(actor, job, to, Reason.of(code, person=actor.username)):
                audit(actor, "job.cancel", job, state=state.value)
                return job
    return job


def _cancel(actor: User, job: Job, to: JobState, reason: Reason) -> bool:
    run = job.runs.filter(state__in=OPEN).first()
    by = {"cancel_requested_by": actor.username}
    if run is None:
        to = JobState.CANCELLED if job.state == JobState.MOVING else to  # between two runs
        return advance(job, to, event={"actor": actor.username}, reason=reason, cancel_requested_by=actor.username)
    run.job = job
    return advance_run(run, RunState.STOPPING, reason, actor=actor.username, expected=OPEN, job=by)


def _same_request(owner: User, key: uuid.UUID, request: JobSpec, source: Job | None) -> Job | None:
    """The job that this key has made. Raises InputError for one of somebody else, ConflictError for another request,
    and for one that did not submit `source` again."""
    job = Job.objects.select_related("resubmitted_from").filter(request_key=key).first()
    if job is not None and job.owner_id != owner.pk:
        raise InputError("request_key", str(key), "a key that no other person's job has")
    if job is None and JobGroup.objects.filter(request_key=key, owner=owner).exists():
        raise ConflictError("This request_key has made a sweep already; send another key for a job.")
    if job is not None and (job.resubmitted_from != source or asks_otherwise(owner, job, request)):
        how = "of other values" if job.resubmitted_from == source else "by another request"
        raise ConflictError(f"This request_key has made job {job.pk} already, {how}; send another key for another job.")
    return job


def asks_otherwise(owner: User, job: Job, request: JobSpec) -> bool:
    """Whether a request is not the one that made the job. Of what cannot be checked any more only the program counts,
    and what it is given."""
    if request.application.pk != job.application_id or request.cluster != job.cluster:
        return True
    try:
        asked = check(request, owner.username).spec.columns()
    except (InputError, ImpossibleError):
        given = {name: getattr(request, name) for name in ("name", "time_limit", "ranks", "node_count")}
        others = any(value is not None and value != getattr(job, name) for name, value in given.items())
        return others or dict(request.parameters) != {name: job.parameters.get(name) for name in request.parameters}
    names = [*_ASKED, *(() if job.ranks_open else ("ranks",)), *(() if job.nodes_open else ("node_count",))]
    return any(asked[name] != getattr(job, name) for name in names)


def create_job(
    owner: User,
    checked: CheckedRequest,
    key: uuid.UUID,
    befores: Sequence[Before] = (),
    *,
    hold: Reason = NOTHING,
    resubmitted_from: Job | None = None,
    group: JobGroup | None = None,
) -> Job:
    """Write the row of a request that was checked, with its first event. `befores`: the jobs that it starts after;
    `hold`: why else it waits; `group`: the sweep that it is of."""
    spec = with_project(owner, checked.spec, resubmitted_from)
    columns = spec.columns() | {"node_count": checked.least_nodes}
    job = Job.objects.create(owner=owner, **columns, request_key=key, resubmitted_from=resubmitted_from, group=group)
    JobEvent.objects.create(job=job, to_state=JobState.QUEUED.value, actor=owner.username)
    hold_back(job, befores, hold)
    attach(job, spec.inputs)
    audit(owner, "job.submit", job, application=spec.application.slug, ranks=job.ranks, nodes=job.node_count)
    note_accepted()
    log.info("job %s: submitted by %s (%s on %s ranks)", job.pk, owner, spec.application.slug, job.ranks)
    return job


def with_project(owner: User, request: JobSpec, source: Job | None) -> JobSpec:
    """The request with a project of its owner: who submits somebody else's job again takes the own usual one. Raises
    InputError for a project of others."""
    asked = request.project
    if asked is None or own_projects(owner).filter(pk=asked.pk).exists():
        return request
    if source is not None and source.project_id == asked.pk:
        return replace(request, project=usual_project(owner))
    raise InputError("project", asked.name, "a project that you are a member of")
