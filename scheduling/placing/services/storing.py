"""Writing down which nodes jobs were placed on: placement, run and the step to starting, all or nothing.

Two placements at once may choose the same nodes; storing is serialised (SQLite: every transaction is IMMEDIATE;
PostgreSQL: the cluster's row is locked) and checks again that the nodes are free, so that the second chooses anew.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import Count

from gridportal.base.reasons import Code, Reason
from monitoring.clusters.models import Cluster
from monitoring.status.selectors.network_status import NetworkStatus
from scheduling.jobs.core.candidates import CandidateGroup
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job, JobEvent
from scheduling.jobs.services.advance import advance_all
from scheduling.jobs.services.leases import still_leased
from scheduling.placing.core import rank_shares
from scheduling.placing.core.room import Ledger, uses
from scheduling.placing.models import Placement
from scheduling.placing.selectors.rooms import ledger
from scheduling.placing.services.choosing import Choice
from scheduling.placing.services.sharing_out import note_shares
from scheduling.runs.models import Run
from scheduling.runs.services.paths import run_dir
from scheduling.runs.services.scripts import script_of, skeleton_script
from scheduling.runs.services.skeleton_player import SkeletonPlayer, player_of
from scheduling.selection.core.placement import candidate_group
from scheduling.skeletons.core.trial_record import Trial
from scheduling.skeletons.models import SkeletonRun

log = logging.getLogger(__name__)


class Chosen(NamedTuple):
    """A job and the nodes that were chosen for it."""

    job: Job
    choice: Choice


class Stored(NamedTuple):
    """The runs that are to be started now, whose jobs are still leased, and the jobs whose nodes somebody else took
    meanwhile."""

    placed: list[Run]
    clashed: list[Job]


class _Rows(NamedTuple):
    """What is to be written of a job; `player`: who plays its skeleton, where it is to try its groups first."""

    chosen: Chosen
    placement: Placement
    run: Run | None
    reason: Reason
    player: SkeletonPlayer | None


def store(cluster: str, chosen: Sequence[Chosen], status: NetworkStatus) -> Stored:
    """Everything of these jobs in one transaction. A job that somebody else moved meanwhile is left out.

    All rows are made before: while the transaction lasts SQLite takes no other job in.
    """
    if not chosen:
        return Stored([], [])
    rows = _rows(chosen, status)
    with transaction.atomic():
        Cluster.objects.select_for_update().get(pk=status.cluster.pk)
        free, clashed = _apart(chosen, ledger(cluster) if any(each.choice.free for each in chosen) else Ledger({}))
        mine = still_leased([each.job for each in free])
        kept = [each for each in free if each.job.pk in mine]
        _write([rows[each.job.pk] for each in kept])
    if len(kept) < len(free):
        log.info("%s jobs were moved by somebody else while they were being placed", len(free) - len(kept))
    return Stored([run for each in kept if (run := rows[each.job.pk].run) is not None], clashed)


def _apart(chosen: Sequence[Chosen], book: Ledger) -> tuple[list[Chosen], list[Job]]:
    """Those whose nodes still have room, or need not; and those whose nodes have not."""
    kept, clashed = [], []
    for each in chosen:
        job, nodes = each.job, each.choice.nodes
        taken = uses(job.rank_request, nodes, exclusive=job.options.exclusive)
        if each.choice.free and not book.fits(taken):
            log.info("job %s: the nodes %s were taken meanwhile; choosing anew", job.pk, " ".join(taken))
            clashed.append(job)
            continue
        book.take(job.pk, taken)
        kept.append(each)
    return kept, clashed


def _rows(chosen: Sequence[Chosen], status: NetworkStatus) -> dict[int, _Rows]:
    """By job; the run of one that is to try its groups first is made when it has tried them. Its player may have to be
    compiled, which must not happen within the transaction."""
    ids = [each.job.pk for each in chosen]
    before = dict(Run.objects.filter(job__in=ids).order_by().values_list("job").annotate(Count("pk")))
    rows = {}
    for each, placed in zip(chosen, _placements(chosen, status), strict=True):
        reason, number = _reason(each.choice), before.get(each.job.pk, 0) + 1
        on_trial = each.choice.plan is not None
        run = None if on_trial else new_run(each.job, placed, number, reason)
        player = player_of(each.job.application, each.job.cluster) if on_trial else None
        rows[each.job.pk] = _Rows(each, placed, run, reason, player)
    return rows


def _write(rows: Sequence[_Rows]) -> None:
    """Those that are to try their groups first get no run yet, but a skeleton's run for each group."""
    _write_placements([row.placement for row in rows])
    note_node_counts((row.chosen.job, row.placement.nodes) for row in rows)
    _write_runs([row.run for row in rows if row.run is not None])
    SkeletonRun.objects.bulk_create(trial for row in rows for trial in _trial_rows(row))
    jobs = [row.chosen.job for row in rows]
    advance_all([job for job in jobs if job.state == JobState.WAITING], JobState.PLACING, Reason.of(Code.FREE_NOW))
    reasons = {row.chosen.job.pk: row.reason for row in rows}
    starting = [row.chosen.job for row in rows if row.run is not None]
    on_trial = [row.chosen.job for row in rows if row.run is None]
    if starting:  # the lease is kept: the same worker starts them; one that is lost now is the first of this step
        advance_all(starting, JobState.STARTING, reasons, attempts=1, refused="")
    if on_trial:
        advance_all(on_trial, JobState.TRIAL, reasons, lease_until=None, lease_holder="", attempts=0, refused="")
    write_remarks((row.chosen.job, row.chosen.choice.explanation.remarks) for row in rows)


def write_remarks(remarks: Iterable[tuple[Job, Sequence[Reason]]]) -> None:
    """What is not used of a mapper's answer or of the request, each as an event of its own within the state that the
    job has now."""
    events = [
        JobEvent(job_id=job.pk, from_state=job.state, to_state=job.state, reason=remark)
        for job, of_job in remarks
        for remark in of_job
    ]
    if events:
        JobEvent.objects.bulk_create(events)


def note_node_counts(chosen: Iterable[tuple[Job, Sequence[str]]]) -> None:
    """On how many nodes jobs are that left it to the selection, of their nodes rank by rank; and how many ranks those
    have that left that to a match."""
    by_counts: dict[tuple[int, int], list[int]] = {}
    for job, nodes in chosen:
        ranks = len(nodes) if job.ranks_open else job.ranks
        if job.ranks_open or (job.nodes_open and job.node_count != len(set(nodes))):
            job.node_count, job.ranks = len(set(nodes)), ranks
            by_counts.setdefault((job.node_count, ranks), []).append(job.pk)
    for (count, ranks), ids in by_counts.items():
        Job.objects.filter(pk__in=ids).update(node_count=count, ranks=ranks)


def _write_placements(placements: Sequence[Placement]) -> None:
    Placement.objects.bulk_create(placements)


def _write_runs(runs: Sequence[Run]) -> None:
    Run.objects.bulk_create(runs)


def _reason(choice: Choice) -> Reason:
    selection = choice.selection
    if choice.plan is not None:
        return Reason.of(Code.TRIAL_RUNNING, groups=len(choice.plan.groups), over=0)
    return Reason.of(Code.CHOSEN, nodes=selection.nodes, method=selection.method, why=selection.candidates[0].reason)


def _placements(chosen: Sequence[Chosen], status: NetworkStatus) -> list[Placement]:
    groups: dict[int, tuple[CandidateGroup, ...]] = {}
    rows = []
    for job, choice in chosen:
        found, plan = choice.selection, choice.plan
        if id(found) not in groups:
            groups[id(found)] = tuple(map(candidate_group, found.candidates))
        first = groups[id(found)][0]
        rows.append(
            Placement(
                job=job,
                method=found.method,
                pattern=found.pattern.name if found.pattern else "",
                nodes=list(first.nodes),
                shares=rank_shares.of_machines(first.nodes, choice.shares),
                objective=first.objective,
                bottleneck=first.bottleneck,
                optimal=found.optimal,
                candidates=groups[id(found)],
                explanation=choice.explanation,
                trial=Trial(plan, untried=choice.untried) if plan or choice.untried else None,
                seconds=found.seconds,
                measured_at=status.measured_at,
                warning=status.warning,
            )
        )
    return rows


def placement_of(chosen: Chosen, status: NetworkStatus) -> Placement:
    """The placement of one choice, not written yet."""
    return _placements([chosen], status)[0]


def _trial_rows(row: _Rows) -> list[SkeletonRun]:
    job, choice, placement = row.chosen.job, row.chosen.choice, row.placement
    plan, player = choice.plan, row.player
    if plan is None or player is None:
        return []
    found, rows = settings.CLUSTERS.get(job.cluster), []
    for place in plan.groups:
        key = f"job-{job.pk}-try-{placement.pk}-{place + 1}-{job.request_key.hex[:8]}"
        nodes, directory = list(choice.selection.candidates[place].nodes), run_dir(key, job.cluster)
        rows.append(
            SkeletonRun(
                job=job,
                placement=placement,
                skeleton_id=plan.skeleton,
                candidate=place,
                nodes=nodes,
                node_count=len(set(nodes)),
                key=key,
                backend=found.backend if found else "grid",
                run_dir=str(directory),
                script=skeleton_script(
                    job, nodes, str(directory), f"{key}: skeleton of {job.application.name}", player.program
                ),
                player=player.reason,
            )
        )
    return rows


def new_run(job: Job, chosen: Placement, number: int, reason: Reason) -> Run:
    """The run of a job on the nodes of a placement, not written yet."""
    # With a few letters of the job's own key: numbers begin anew when the database does, run directories do not.
    key = f"job-{job.pk}-run-{number}-{job.request_key.hex[:8]}"
    directory = run_dir(key, job.cluster)
    configured = settings.CLUSTERS.get(job.cluster)
    note_shares(job, chosen)
    title = f"{key}: {job.application.name}"
    return Run(
        job=job,
        backend=configured.backend if configured else "grid",
        number=number,
        placement=chosen,
        node_count=len(set(chosen.nodes)),
        key=key,
        reason=reason,
        run_dir=str(directory),
        script=script_of(job, chosen.nodes, str(directory), title, chosen.shares),
    )
