"""Placing jobs: measure, select, store the choice and the run in one step; all that wait, in batches.

Who comes first: the oldest job that fits, for every job in line is looked at each time. On a cluster with a queue of
its own (Slurm) the cluster goes on from there; elsewhere `FreeNodes` says who may overtake whom. A job that was
refused by the selection is tried again once a figure that decides it has changed (`PlacementSnapshot.figures`), and
holds up nobody behind it.

A batch is measured for once, knows who has which nodes without asking again, makes equal selections once, and is
stored in one transaction, at the latest half a second after its first choice. A job whose worker was lost before is
a batch of its own, so that one that kills workers takes no others with it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from django.conf import settings

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.base.reasons import NOTHING, Code, Reason
from monitoring.clusters.selectors import traits
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import advance, advance_all
from scheduling.jobs.services.leases import MAX_ATTEMPTS, acquire_all, keep, release_all
from scheduling.placing.core.match_notes import NO_NOTES
from scheduling.placing.core.room import FreeRoom, Size
from scheduling.placing.selectors.occupancy import too_little_room
from scheduling.placing.selectors.rooms import free_room, holders
from scheduling.placing.services import trials
from scheduling.placing.services.choosing import Choice, WaitsError, choose, policy_of
from scheduling.placing.services.contract_development import MOST, Rejected, develop
from scheduling.placing.services.explaining import MOST_STORED, explain
from scheduling.placing.services.matched_nodes import of_row
from scheduling.placing.services.requests import question, read_pattern
from scheduling.placing.services.snapshot import PlacementSnapshot
from scheduling.placing.services.storing import Chosen, store
from scheduling.placing.services.waiting_line import FreeNodes, Waiting, newest_pending, short_of_room, worth_trying
from scheduling.runs.models import Run

log = logging.getLogger(__name__)
#: So many jobs are placed together at most.
BATCH = 64
_CLASHES = 10
_STORED_EVERY = 0.5
_TAKEN = Reason.of(Code.NODES_TAKEN)


def give_up(job: Job) -> bool:
    """Fail a job whose workers were lost again and again."""
    return advance(job, JobState.FAILED, reason=Reason.of(Code.WORKER_LOST_PLACING, times=MAX_ATTEMPTS))


@dataclass
class Round:
    """One pass over the line of a cluster. `behind`: up to which job it was looked at; `silent`: why the cluster could
    not be asked, once it was tried; `free`: what is free, where jobs wait here."""

    cluster: str
    behind: int = 0
    snapshot: PlacementSnapshot | None = None
    silent: Reason = NOTHING
    free: FreeRoom | None = None

    def batches(self) -> Iterator[list[Run]]:
        """The runs of each batch that was placed, their jobs leased. What comes after the round's begin is the next
        one's, so that older jobs are looked at again however many new ones come."""
        newest = newest_pending(self.cluster)
        while ids := self.next(newest):
            jobs = acquire_all(ids, (JobState.QUEUED, JobState.WAITING))
            placed = self.place(jobs) if jobs else []
            if placed:
                yield placed
        self.update_reasons()

    def following(self) -> Round:
        """The next pass, with the same look at the network while that is fresh."""
        if self.snapshot is None or self.snapshot.is_old:
            return Round(self.cluster)
        self.snapshot.look_again()
        return Round(self.cluster, snapshot=self.snapshot)

    def next(self, newest: int) -> list[int]:
        """The ids of the next batch, oldest first; empty at the end of the round, behind the job `newest`."""
        if self.behind >= newest:
            return []
        self.free = None if traits(self.cluster).has_queue else free_room(self.cluster)
        while part := worth_trying(self.cluster, self.free, self.behind, newest):
            rows = [row for row in part if not self._refused_again(row)]
            if rows:
                alone = next((at for at, row in enumerate(rows) if row.attempts), len(rows))
                ids = [row.pk for row in rows[: max(1, min(alone, BATCH))]]
                self.behind = ids[-1]
                return ids
            self.behind = part[-1].pk
        return []

    def place(self, jobs: Sequence[Job]) -> list[Run]:
        """Carry leased jobs from queued or waiting to starting, waiting or failed; the runs of those that are
        starting."""
        with keep(jobs[0].lease_holder):
            todo = self._begin(jobs)
            placed: list[Run] = []
            for _ in range(_CLASHES):
                if not todo:
                    break
                stored, todo = self._try(todo)
                placed += stored
            _wait([(job, _TAKEN, "") for job in todo])
        return placed

    def update_reasons(self) -> None:
        """Keep the reasons of the oldest jobs right for which too few nodes are free, and which were not tried.

        Pages and the API say of every job what is true when they are asked (selectors.Reasons).
        """
        if traits(self.cluster).has_queue:
            return
        room, by = free_room(self.cluster), sorted(set(holders(self.cluster).values()))
        wrong: dict[Reason, list[int]] = {}
        for job in short_of_room(self.cluster, room)[:BATCH]:
            if job.reason != (right := too_little_room(room, Size.of(job), by)):
                wrong.setdefault(right, []).append(job.pk)
        for reason, ids in wrong.items():
            Job.objects.filter(pk__in=ids, state=JobState.WAITING, lease_holder="").update(reason=reason)

    def _refused_again(self, row: Waiting) -> bool:
        """Whether a job that waits would be refused as it was the last time."""
        waits = row.state == JobState.WAITING and not row.attempts
        return waits and self.snapshot is not None and self.snapshot.unchanged(row)

    def _begin(self, jobs: Sequence[Job]) -> list[Job]:
        lost = [job for job in jobs if job.attempts > MAX_ATTEMPTS]
        for job in lost:
            give_up(job)
        begun = [job for job in jobs if job not in lost]
        moved = advance_all([job for job in begun if job.state == JobState.QUEUED], JobState.PLACING)
        return [job for job in begun if job.state == JobState.WAITING or job.pk in moved]

    def _try(self, jobs: Sequence[Job]) -> tuple[list[Run], list[Job]]:
        """Choose for each job in turn and store; who is placed, and whose nodes were taken meanwhile."""
        room = None if traits(self.cluster).has_queue else FreeNodes(self.cluster, jobs[0].lease_holder)
        if self.snapshot is not None:
            self.snapshot.look_again()
        outcome = _Outcome(self.cluster)
        for job in jobs:
            try:
                self._choose(job, room, outcome)
            except WaitsError as waits:
                outcome.waits.append((job, waits.reason, self._refused_on(job, waits)))
            except (InputError, ImpossibleError) as error:
                why = Reason.of(Code.IMPOSSIBLE, error=str(error))
                advance(job, JobState.FAILED, reason=why, holder=job.lease_holder)
        outcome.flush(self.snapshot)
        return outcome.placed, outcome.clashed

    def _choose(self, job: Job, room: FreeNodes | None, outcome: _Outcome) -> None:
        if room is not None and room.room.of_nodes:
            room.check(job)
        before, snapshot = self.snapshot, self._look(outcome)
        if room is not None and snapshot is not before:  # measuring takes a while, and may have found other nodes
            room.count(self.cluster)
            room.check(job)
        if job.state == JobState.WAITING and snapshot.unchanged(job):
            raise WaitsError(job.reason, refused=True)
        choice = _select(job, snapshot)
        outcome.chosen.append(Chosen(job, choice))
        for taker in (snapshot, room):
            if taker is not None:
                taker.take(job, choice.nodes)
        outcome.flush_in_time(snapshot)

    def _look(self, outcome: _Outcome) -> PlacementSnapshot:
        """The network as it was seen at most two seconds ago; what was chosen with an older look is stored first."""
        if self.silent:
            raise WaitsError(self.silent)
        if self.snapshot is None or self.snapshot.is_old:
            outcome.flush(self.snapshot)
            try:
                self.snapshot = PlacementSnapshot(self.cluster)
            except WaitsError as waits:
                self.silent = waits.reason
                raise
        return self.snapshot

    def _refused_on(self, job: Job, waits: WaitsError) -> str:
        return self.snapshot.figures(job) if waits.refused and self.snapshot else ""


@dataclass
class _Outcome:
    """What became of the jobs of a batch so far."""

    cluster: str
    chosen: list[Chosen] = field(default_factory=list)
    waits: list[tuple[Job, Reason, str]] = field(default_factory=list)
    placed: list[Run] = field(default_factory=list)
    clashed: list[Job] = field(default_factory=list)
    flushed: float = field(default_factory=time.monotonic)

    def flush(self, snapshot: PlacementSnapshot | None) -> None:
        """Store what was chosen with `snapshot`, and why the others wait."""
        if snapshot is not None and self.chosen:
            stored = store(self.cluster, self.chosen, snapshot.status)
            self.placed += stored.placed
            self.clashed += stored.clashed
        _wait(self.waits)
        self.chosen, self.waits, self.flushed = [], [], time.monotonic()

    def flush_in_time(self, snapshot: PlacementSnapshot) -> None:
        """The same when that was not done for a while."""
        if time.monotonic() - self.flushed > _STORED_EVERY:
            self.flush(snapshot)


def _select(job: Job, snapshot: PlacementSnapshot) -> Choice:
    """The best nodes to be had. Raises WaitsError with the reason, or ImpossibleError when waiting cannot help."""
    total = len(snapshot.status.topology.compute_nodes())
    if job.node_count > total:
        raise ImpossibleError(f"The job needs {job.node_count} nodes and the cluster has {total} now.")
    matched = of_row(job, snapshot.answer) if job.classad or snapshot.has_policies else None
    asked = replace(question(job, read_pattern(job)), time_budget=settings.PORTAL.time_budget)
    policy, seen = policy_of(job.cluster, job.busy_policy), snapshot.occupancy(job)
    has_queue = traits(job.cluster).has_queue
    status = snapshot.status_for(job.requirements)

    def chosen(rejected: Rejected) -> Choice:
        left = seen.without(rejected)
        return choose(status, asked, left, policy, in_queue=has_queue, answer=matched or snapshot.answer)

    most = 1 if matched is not None else MOST
    choice, rejected = develop(job, chosen, status.topology, most)
    if matched is not None:
        asked, choice = matched.settled(asked, choice)
        job.ranks = asked.rank_count if job.ranks_open else job.ranks
    why = explain(
        status,
        asked,
        seen.without(rejected),
        choice.selection,
        free=choice.free,
        most=MOST_STORED,
        rejected=rejected,
        match=matched.notes_on(choice.selection) if matched is not None else NO_NOTES,
    )
    choice = replace(choice, explanation=why)
    if not (choice.free and trials.wants_trial(job) and settings.PORTAL.trial_seconds):
        return choice
    skeleton = snapshot.skeleton(job)
    if skeleton is None:
        return replace(choice, untried=snapshot.no_skeleton(job))
    here = traits(job.cluster).one_machine
    return trials.planned(skeleton, choice, asked.pattern, status.topology, seen, one_machine=here)


def _wait(waits: Sequence[tuple[Job, Reason, str]]) -> None:
    """Let jobs wait, each with its reason and the figures on which it was refused; one that waits already gets the
    new reason and no new event."""
    alike: dict[tuple[Reason, str], list[Job]] = {}
    for job, reason, refused in waits:
        alike.setdefault((reason, refused), []).append(job)
    for (reason, refused), jobs in alike.items():
        release_all([job for job in jobs if job.state == JobState.WAITING], reason=reason, refused=refused)
        freed = {"lease_until": None, "lease_holder": "", "attempts": 0, "refused": refused}
        advance_all([job for job in jobs if job.state == JobState.PLACING], JobState.WAITING, reason, **freed)
