"""Asking that a job is stopped with a checkpoint and goes on: every check comes before anything is stopped.

What comes of it is a `Continuation`; workers take it from there (`continuing.advance_continuations`), and whoever asks
follows its row. Contracts and the rescheduler ask by this too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from django.db import IntegrityError, transaction
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import ConflictError, Described, ImpossibleError, InputError
from gridportal.base.reasons import Code, Reason
from monitoring.clusters import selectors
from scheduling.checkpoints.core.targets import Target, target
from scheduling.checkpoints.models import RuntimeSupport
from scheduling.checkpoints.selectors import restart_point
from scheduling.checkpoints.services.target_room import check_room
from scheduling.jobs.core import ranks as rank_limits
from scheduling.jobs.core.cluster_options import default_partition, longest
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import advance
from scheduling.maintenance import selectors as maintenance
from scheduling.placing.selectors import rooms
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.continuation_states import OPEN_CONTINUATIONS
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.runs.services import checkpoint_facts, job_folder, own_restarts
from scheduling.runs.services.checkpoint_facts import CheckpointFacts

#: The name under which the portal itself has a job go on.
PORTAL = "portal"
_MOST_WHY, _MOST_NAMED = 500, 8
_ACCEPTED = "one that runs, has stopped with a checkpoint, or has failed and left one"


def stop_and_continue(
    job: Job,
    *,
    by: User | str,
    nodes: Sequence[str] | None = None,
    ranks: int | None = None,
    reason: str = "",
    expected: Mapping[str, float | None] | None = None,
    announced_nodes: Sequence[str] = (),
    last_check: Callable[[Job], None] | None = None,
) -> Continuation:
    """Have a job that runs stopped with a checkpoint and go on, or one that has stopped go on; or one that has failed,
    from the last checkpoint that it left.

    `nodes`: names, each once or rank by rank; None: the portal chooses them, others than now where that is possible.
    `ranks`: their number; None: as `targets.target` says. `reason`: for whoever looks later. `expected`:
    seconds that each phase is expected to take, by column; `announced_nodes`: where, as was told before.
    `last_check`: what else may speak against it, asked in the transaction that writes it down. Nothing is stopped yet:
    nodes are chosen and reserved first.
    Raises InputError for what cannot be, ConflictError where somebody else was faster.
    """
    job.refresh_from_db()
    run = movable(job)
    left = _left(job) if job.state == JobState.FAILED else None
    asked = target(nodes, ranks, run.placement.nodes, job.application.rank_limits, job.application.name)
    _check_restart(job, asked)
    _check_nodes(job, asked)
    check_room(job, asked, run.placement.nodes)
    why = _checked_reason(reason)
    name = by.username if isinstance(by, User) else by
    try:
        with transaction.atomic():
            if last_check is not None:
                last_check(job)
            if left is not None:
                _take_up(job, left, name)
            made = Continuation.objects.create(
                job=job,
                source=run,
                by=name,
                why=why,
                nodes=list(asked.nodes),
                ranks=asked.ranks,
                expected=dict(expected or {}),
                announced_nodes=list(announced_nodes),
            )
            audit(by, "job.move", job, nodes=list(asked.nodes), ranks=asked.ranks, reason=why)
    except IntegrityError as error:
        raise _conflict(job) from error
    return made


def check_target(job: Job, run: Run, nodes: Sequence[str] | None, ranks: int | None = None) -> Target:
    """On which nodes, rank by rank, the job of `run` would go on. Raises InputError where it could not, as far as is
    known without measuring."""
    asked = target(nodes, ranks, run.placement.nodes, job.application.rank_limits, job.application.name)
    _check_restart(job, asked)
    _check_nodes(job, asked)
    check_room(job, asked, run.placement.nodes)
    return asked


def problem(job: Job) -> str:
    """Why it cannot be stopped and go on now, as a sentence; empty when it can."""
    try:
        check_movable(job)
    except (InputError, ConflictError) as error:
        return str(error)
    return ""


def check_movable(job: Job) -> None:
    """Raises InputError or ConflictError where it cannot be stopped and go on now."""
    movable(job)
    if job.state == JobState.FAILED and restart_point(job) is None:
        raise _nothing_left(job)


def open_continuation(job: Job) -> Continuation | None:
    """The one that is under way."""
    return job.continuations.filter(state__in=OPEN_CONTINUATIONS).first()


def movable(job: Job) -> Run:
    """The run that is stopped, or is over; of a job that has failed this does not say whether it left anything."""
    if not job.application.stop_means:
        accepted = "a job of an application whose stop_means says how it is stopped"
        unfit = Described(f"{job.pk} of {job.application.name}, which cannot be stopped and go on")
        raise InputError("job", unfit, accepted)
    if open_continuation(job) is not None:
        raise _conflict(job)
    run = job.runs.select_related("placement").order_by("-number").first()
    runs = run is not None and run.state == RunState.RUNNING
    states = {JobState.RUNNING} if runs else {JobState.STOPPED, JobState.FAILED}
    if run is None or job.state not in states:
        raise InputError("job", Described(f"{job.pk}, which is {job.state}"), _ACCEPTED)
    return run


def _left(job: Job) -> Reason:
    """As `_found`; where the portal sees nothing, what its program has closed is opened first."""
    try:
        return _found(job)
    except (InputError, ImpossibleError):
        if not job_folder.reopen(job):
            raise
        return _found(job)


def _found(job: Job) -> Reason:
    """From what a job that has failed can go on, with why it failed. Raises InputError where there is nothing, and
    ImpossibleError where nobody can tell."""
    if not RuntimeSupport.objects.filter(job=job, freed_at=None).exists():
        raise _nothing_left(job)
    if job.application.stop_means.own:
        file = own_restarts.newest(job)
        if file is None:
            raise _nothing_left(job)
        return Reason.of(Code.FAILED_WITH, checkpoint=0, file=file.name, why=job.reason)
    whole = [each for each in checkpoint_facts.checkpoints(job) if each.is_whole]
    if not whole:
        raise _nothing_left(job)
    _check_depots(job, whole)
    return Reason.of(Code.FAILED_WITH, checkpoint=whole[0].number, file="", why=job.reason)


def _check_depots(job: Job, whole: Sequence[CheckpointFacts]) -> None:
    """Some checkpoint is in files, or in depots of which its cluster still has one."""
    nodes = set(selectors.compute_names(job.cluster))
    manifests = [each.manifest for each in whole if each.manifest is not None]
    if all(each.depots and not each.files and nodes.isdisjoint(each.depots) for each in manifests):
        where = ", ".join(manifests[0].depots[:_MOST_NAMED])
        value = f"{job.pk}, whose checkpoint {whole[0].number} is in depots of nodes that {job.cluster} has no more"
        raise InputError("job", Described(f"{value}: {where}"), _ACCEPTED)


def _take_up(job: Job, left: Reason, actor: str) -> None:
    """It waits from now on, and is over no more. Raises ConflictError where somebody else was faster."""
    if not advance(job, JobState.STOPPED, event={"actor": actor}, reason=left, ended_at=None):
        raise _conflict(job)


def _nothing_left(job: Job) -> InputError:
    return InputError("job", Described(f"{job.pk}, which has failed and left nothing to go on from"), _ACCEPTED)


def _conflict(job: Job) -> ConflictError:
    under_way = open_continuation(job)
    who = f": {under_way.by} asked for it; its state is {under_way.state}" if under_way else ""
    return ConflictError(f"Job {job.pk} is being moved already{who}.")


def _check_restart(job: Job, asked: Target) -> None:
    """On that many ranks its own restart works."""
    own = job.application.stop_means.own
    if own is not None and not rank_limits.allows(own.ranks, asked.ranks):
        raise InputError(
            "ranks", asked.ranks, f"{rank_limits.accepted(own.ranks)} for a restart of {job.application.name}"
        )


def _check_nodes(job: Job, asked: Target) -> None:
    """As far as can be said without measuring: they are known, take jobs, and no other job has them."""
    states = {node.name: node for node in selectors.compute_states(job.cluster)}
    book = rooms.ledger(job.cluster)
    book.drop(job.pk)
    offers = selectors.offers(job.cluster)
    seconds = longest(offers, job.options.partition or default_partition(offers), job.time_limit)
    maintained = maintenance.kept(job.cluster, asked.nodes, timezone.now(), seconds)
    for name in dict.fromkeys(asked.nodes):
        if name not in states:
            raise InputError("nodes", name, f"compute nodes of {job.cluster}")
        if states[name].closed:
            raise InputError("nodes", name, f"nodes that take jobs; this one does not: {states[name].closed}")
        if name in maintained:
            raise InputError("nodes", name, f"nodes that take jobs; this one does not: {maintained[name]}")
        if not book.shared and (others := book.holders(name)):
            raise InputError("nodes", name, f"nodes that are free; job {others[-1]} has this one")


def _checked_reason(text: str) -> str:
    found = " ".join(text.split())
    if len(found) > _MOST_WHY or not found.isprintable():
        raise InputError("reason", found[:40], f"at most {_MOST_WHY} printable characters")
    return found
