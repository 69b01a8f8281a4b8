"""Placing a job: measure, select, store the choice and the run in one step.

Who comes first: the oldest job that fits. A waiting job is tried before every younger one, and a younger one may
overtake it only when the older cannot start on what is free (simple backfill, without reservations: a wide job may
wait long while narrow ones keep coming).

Two placements at once may choose the same nodes; storing is serialised (SQLite: every transaction is IMMEDIATE;
PostgreSQL: the cluster's row is locked) and checks again that the nodes are free, so that the second chooses anew.
Measuring and selecting happen outside of it.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import cast

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from gridportal.clusters import BUSY, Busy
from gridportal.errors import BackendError, GridPortalError, ImpossibleError, InputError
from monitoring import selectors as network
from monitoring import services as telemetry
from monitoring.models import Cluster
from monitoring.selectors import NetworkStatus
from scheduling.core import placement, sentences
from scheduling.core.placement import Selection
from scheduling.core.states import JobState
from scheduling.models import Job, Placement, Run
from scheduling.selectors import IN_LINE, free_nodes, holders, occupancy, older, queues, waiting_for_nodes
from scheduling.services.choosing import Choice, WaitsError, choose
from scheduling.services.held import held
from scheduling.services.paths import run_dir
from scheduling.services.requests import effective, question, read_pattern
from scheduling.services.scripts import script_of
from scheduling.services.transitions import MAX_ATTEMPTS, move, release, take

log = logging.getLogger(__name__)
_CLASHES = 10


class _LostError(GridPortalError):
    """Somebody else has the job by now; undo this transaction."""


def place_job(job_id: int) -> list[int]:
    """Place this job, after older ones that fit; the ids of the jobs that are placed and now to be started."""
    job = Job.objects.filter(pk=job_id).first()
    if job is None or job.state not in (JobState.QUEUED, JobState.WAITING):
        return []
    return place_in_order(job.cluster, upto=job_id)


def place_in_order(cluster: str = "grid", *, upto: int | None = None) -> list[int]:
    """Place what fits, oldest first: all jobs that a worker could take up now, or those not younger than `upto`."""
    placed = []
    for job_id in _line(cluster, upto):
        job = take(job_id, (JobState.QUEUED, JobState.WAITING))
        if job is not None and _place(job):
            placed.append(job.pk)
    return placed


def _line(cluster: str, upto: int | None) -> list[int]:
    """Queued jobs, and waiting ones that enough nodes are free for, oldest first; `upto` itself always."""
    free, total = (0, 0) if queues(cluster) else free_nodes(cluster)
    jobs = Job.objects.filter(cluster=cluster).order_by("pk")
    if upto is not None:
        jobs = jobs.filter(pk__lte=upto)
    waiting = jobs.filter(state=JobState.WAITING)
    if total:
        waiting = waiting.filter(node_count__lte=free)
    ids = set(waiting.values_list("pk", flat=True)[:IN_LINE])
    ids |= set(jobs.filter(state=JobState.QUEUED).values_list("pk", flat=True)[:IN_LINE])
    return sorted(ids | ({upto} if upto is not None else set()))


def _place(job: Job) -> bool:
    """Carry a job that is in hand from queued or waiting to starting, waiting or failed."""
    if job.attempts > MAX_ATTEMPTS:
        give_up(job)
        return False
    if job.state == JobState.QUEUED and not move(job, JobState.PLACING, held_by=job.lease_holder):
        return False
    try:
        with held(job):
            _choose_and_store(job, _network(job))
        return True
    except WaitsError as waits:
        _wait(job, str(waits))
    except _LostError:
        log.info("job %s: was moved by somebody else while it was being placed", job.pk)
    except (InputError, ImpossibleError) as error:
        _move_on(job, JobState.FAILED, f"{error} Resubmit it with that changed.")
    return False


def give_up(job: Job) -> bool:
    """Fail a job whose workers were lost again and again."""
    reason = f"Its worker was lost {MAX_ATTEMPTS} times while placing it; resubmit it, or ask an operator for the log."
    return move(job, JobState.FAILED, reason)


def _network(job: Job) -> NetworkStatus:
    """The network, measured not too long ago, with the loads of this moment."""
    reason = waiting_for_nodes(job)
    if reason:
        raise WaitsError(reason)
    try:
        telemetry.measure(job.cluster, max_age=0.0 if _disturbed(job.cluster) else settings.KNOBS.measure_max_age)
        telemetry.refresh_loads(job.cluster)
    except BackendError as error:
        raise WaitsError(silent(job.cluster, str(error))) from error
    status = network.network_status(job.cluster)
    if status is None:
        raise WaitsError(silent(job.cluster, "Nothing is known of the cluster yet."))
    return status


def silent(cluster: str, error: str) -> str:
    """The sentence for a cluster that does not answer."""
    return sentences.backend_silent(error, cluster if queues(cluster) else "")


def policy_of(cluster: str, asked: str) -> Busy:
    """What to do about busy nodes: as asked, else as the cluster has it."""
    found = settings.CLUSTERS.get(cluster)
    if asked in BUSY:
        return cast(Busy, asked)
    return found.busy_default if found else "again"


def _disturbed(cluster: str) -> bool:
    """Whether the last measurement saw a run that has ended since: its nodes and links are better than they look."""
    known = network.cluster(cluster)
    if known is None or known.measured_at is None:
        return False
    return Run.objects.filter(
        job__cluster=cluster, ended_at__gt=known.measured_at, started_at__lt=known.measured_at
    ).exists()


def _choose_and_store(job: Job, status: NetworkStatus) -> None:
    for _ in range(_CLASHES):
        reason = "" if queues(job.cluster) else waiting_for_nodes(job) or _behind(job)
        if reason:
            raise WaitsError(reason)
        choice = _select(job, status)
        selection = choice.selection
        if _store(job, selection, status, free=choice.free):
            return
        log.info("job %s: the nodes %s were taken meanwhile; choosing anew", job.pk, " ".join(selection.nodes))
    raise WaitsError("The nodes chosen for it were taken by other jobs each time; it is tried again within seconds.")


def _behind(job: Job) -> str:
    """The sentence when older jobs that are being placed at this moment need the nodes; empty otherwise."""
    in_hand = Job.objects.filter(lease_until__gt=timezone.now(), state__in=[JobState.PLACING, JobState.WAITING])
    older = in_hand.filter(cluster=job.cluster, pk__lt=job.pk).values_list("pk", "node_count")
    if not older:
        return ""
    free, _ = free_nodes(job.cluster)
    if free - sum(count for _, count in older) >= job.node_count:
        return ""
    return sentences.behind([pk for pk, _ in older])


def _select(job: Job, status: NetworkStatus) -> Choice:
    """The best nodes to be had. Raises WaitsError with the sentence, or ImpossibleError when waiting cannot help."""
    total = len(status.topology.compute_nodes())
    if job.node_count > total:
        raise ImpossibleError(f"The job needs {job.node_count} nodes and the cluster has {total} now.")
    asked = replace(question(job, read_pattern(job)), time_budget=settings.KNOBS.time_budget)
    seen = occupancy(job.cluster, effective(job.options, job.cluster))
    policy = policy_of(job.cluster, job.busy_policy)
    return choose(status, asked, seen, policy, in_queue=queues(job.cluster))


def _store(job: Job, selection: Selection, status: NetworkStatus, *, free: bool) -> bool:
    """Write placement and run and move the job to starting, all or nothing; False when a node that was to be `free`
    is taken by now."""
    with transaction.atomic():
        Cluster.objects.select_for_update().get(pk=status.cluster.pk)
        if free and set(selection.nodes) & set(holders(job.cluster)):
            return False
        chosen = _write_placement(job, selection, status)
        run = _write_run(job, chosen)
        reason = sentences.chosen(selection.nodes, selection.method, selection.candidates[0].reason)
        if job.state == JobState.WAITING and not move(
            job, JobState.PLACING, "What it needs is free now.", held_by=job.lease_holder
        ):
            raise _LostError
        holder = job.lease_holder
        if not move(job, JobState.STARTING, reason, held_by=holder, lease_until=None, lease_holder="", attempts=0):
            raise _LostError
        log.info("job %s: placed as %s on %s", job.pk, run.key, " ".join(selection.nodes))
        return True


def _write_placement(job: Job, selection: Selection, status: NetworkStatus) -> Placement:
    document = placement.document(selection)
    return Placement.objects.create(
        job=job,
        method=selection.method,
        pattern=document["pattern"] or "",
        nodes=document["nodes"],
        objective=document["objective"],
        bottleneck=document["bottleneck"],
        optimal=selection.optimal,
        candidates=document["candidates"],
        seconds=selection.seconds,
        measured_at=status.measured_at,
        warning=status.warning,
    )


def _write_run(job: Job, chosen: Placement) -> Run:
    number = job.runs.count() + 1
    # With a few letters of the job's own key: numbers begin anew when the database does, run directories do not.
    key = f"job-{job.pk}-run-{number}-{job.request_key.hex[:8]}"
    directory = run_dir(key, job.cluster)
    found = settings.CLUSTERS.get(job.cluster)
    return Run.objects.create(
        job=job,
        backend=found.backend if found else "grid",
        number=number,
        placement=chosen,
        key=key,
        state=JobState.STARTING,
        run_dir=str(directory),
        script=script_of(job, chosen.nodes, str(directory), f"{key}: {job.application.name}"),
    )


def _wait(job: Job, reason: str) -> None:
    """Let the job wait with this reason; one that waits already gets the new words and no new event.

    Far back in the line a job is not tried again for long, and what its reason names would be gone by then.
    """
    if older(job) >= IN_LINE:
        reason = sentences.far_back()
    if job.state == JobState.WAITING:
        release(job, reason=reason)
    else:
        _move_on(job, JobState.WAITING, reason)


def _move_on(job: Job, to: JobState, reason: str) -> None:
    move(job, to, reason, held_by=job.lease_holder, lease_until=None, lease_holder="", attempts=0)
