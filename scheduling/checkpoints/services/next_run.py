"""The step of a continuation in which its next run is made, on the reserved nodes, or on those where its job was."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from gridportal.base.reasons import Code, Reason
from scheduling.checkpoints.services.halting import ask_no_more
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import advance
from scheduling.placing.models import Placement
from scheduling.placing.services.storing import new_run
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.continuation_states import ContinuationState
from scheduling.runs.models import Run
from scheduling.runs.services import checkpoint_facts, own_restarts
from scheduling.runs.services.starting import start_runs


def start_next(row: Continuation) -> bool:
    """Make the run and hand it over; False where another worker has made it."""
    ask_no_more(row.job)
    if not make_run(row):
        return False
    start_runs([row.job_id])
    return True


def make_run(row: Continuation) -> bool:
    """Make the run; False where another worker has made it."""
    try:
        return _made(row)
    except IntegrityError:
        return False


def _made(row: Continuation) -> bool:
    job = row.job
    checkpoint = row.checkpoint if row.checkpoint is not None else checkpoint_facts.newest_whole(job)
    with transaction.atomic():
        placement = _copied(row.source.placement) if row.back else row.placement
        if placement is None or Run.objects.filter(placement=placement).exists():
            placement = _copied(placement or row.source.placement)
        nodes = placement.nodes
        reason, made_anew = _goes_on_from(job, checkpoint, nodes)
        made = new_run(job, placement, row.job.runs.order_by("-number").values_list("number", flat=True)[0] + 1, reason)
        made.goes_on_from, made.begins_anew = checkpoint or 0, made_anew
        made.goes_back = row.may_go_back and not row.back
        made.save(force_insert=True)
        step = advance(
            row,
            ContinuationState.STARTING,
            holder=row.lease_holder,
            target=made,
            placement=placement,
            checkpoint=checkpoint,
        )
        if not step or not advance(
            job, JobState.STARTING, event={"run_number": made.number}, reason=reason, attempts=0
        ):
            transaction.set_rollback(True)
            return False
    return True


def _goes_on_from(job: Job, checkpoint: int | None, nodes: list[str]) -> tuple[Reason, bool]:
    """What is told of it, and whether it is known already that there is nothing to go on from."""
    if job.application.stop_means.own:
        found = own_restarts.newest(job)
        file = found.name if found else ""
        return Reason.of(Code.GOES_ON_FROM_FILE, file=file, nodes=nodes, ranks=len(nodes)), found is None
    return Reason.of(Code.GOES_ON_FROM, checkpoint=checkpoint or 0, nodes=nodes, ranks=len(nodes)), False


def _copied(placement: Placement) -> Placement:
    """A run has a placement of its own, also where it goes back to nodes on which the job was."""
    copied = Placement.objects.get(pk=placement.pk)
    copied.pk, copied.id, copied.trial, copied.decision = None, None, None, None
    copied._state.adding = True
    copied.save(force_insert=True)
    return copied
