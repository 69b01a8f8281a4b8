"""Following runs of every kind: one question to each backend for all that it has, then the next step of each.

What is the same for every kind of run stands here: who is asked, what one mishap costs, when an answer counts, for how
long a backend may not know a run before it is given up, and that one which is being stopped is told so again. What
follows from it the kind decides (`FollowedRun`): a run takes its job along, a skeleton's run leaves a prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from enum import IntEnum, StrEnum
from functools import partial
from typing import Protocol, TypeVar

from django.utils import timezone

from gridportal.base.batch_system import BackendState, RunStatus
from gridportal.base.errors import BackendError
from gridportal.base.lease import Lease
from gridportal.base.run_directory import ExitRecord, RunFileError
from monitoring.clusters.selectors import traits
from monitoring.telemetry.services.clusters import note_error, note_poll
from scheduling.runs.services.backends import backend
from scheduling.runs.services.isolation import isolated
from scheduling.runs.services.submissions import Stage, Submission, cancel, name_of, observe

#: For so long after its last step nobody believes a backend that a run is lost.
_GRACE = Lease(timedelta(seconds=10))
#: For so long one must be missing where a backend may show runs late: its answer may be cut short, or come from a
#: controller that is only just back.
_MISSED = Lease(timedelta(seconds=30))


class Step(IntEnum):
    """What became of a run when it was followed. WITHDRAWN: the portal took it out of the queue of its cluster."""

    NONE = 0
    CHANGED = 1
    WITHDRAWN = 2


class Passing(StrEnum):
    """The states into which following itself takes a run; every kind has them, under these names."""

    MISSING = "missing"
    STOPPING = "stopping"


class FollowedRun(Protocol):
    """A run of some kind, for one look at it: what its kind makes of what is seen."""

    @property
    def row(self) -> Submission: ...

    def read(self, *, over: bool) -> bool:
        """Take in what its program told. False: it is `over`, and there is more to read before it may end."""

    def step(self, to: Passing) -> None:
        """It is missing; or it was, and is still there to be stopped."""

    def goes_on(self, stage: Stage, status: RunStatus) -> Step:
        """It waits or runs, and nobody stops it."""

    def ends(self, status: RunStatus, record: ExitRecord | None) -> Step:
        """It is over; `record` as in `submissions.ended`."""

    def forgotten(self) -> Step:
        """Its backend has not known it for long enough, and it left no exit record."""

    def fails(self, status: RunStatus, failure: RunFileError) -> Step:
        """It could not be followed."""


F = TypeVar("F", bound=FollowedRun)
#: By what a backend knows each run by.
Answers = Mapping[str, RunStatus]


def follow_all(
    cluster: str,
    runs: Sequence[F],
    silent: Callable[[str], None],
    end_together: Callable[[Answers], Collection[F]] = lambda _: (),
) -> list[tuple[F, Step]] | None:
    """Ask the backend of a cluster once for all of its `runs`, and take each a step on; what became of each.

    None where it does not answer, once `silent` was told why. `end_together` may end some that are over at once.
    """
    if not runs:
        return []
    asked = isolated(f"cluster {cluster}", partial(_ask, cluster, runs, silent))
    failure = asked.failure
    isolated(f"cluster {cluster}", lambda: note_poll(cluster, failure.detail if failure else ""))
    answers = asked.value
    if answers is None:
        return None
    ended = end_together(answers)
    rest = [(run, follow(run, answers[name_of(run.row)])) for run in runs if run not in ended]
    return [*((run, Step.CHANGED) for run in ended), *rest]


def follow(run: FollowedRun, status: RunStatus) -> Step:
    """One run, whatever it has done to itself. Never raises an Exception."""
    subject = f"job {run.row.job.pk}: {run.row.key}"
    followed = isolated(subject, lambda: _follow(run, status))
    if (failure := followed.failure) is not None:
        followed = isolated(subject, lambda: run.fails(status, failure))
    return followed.value or Step.NONE


def _ask(cluster: str, runs: Sequence[FollowedRun], silent: Callable[[str], None]) -> Answers:
    try:
        return backend(cluster).poll([name_of(run.row) for run in runs])
    except BackendError as error:
        if not traits(cluster).part_of_portal:
            note_error(cluster, str(error))
        silent(str(error))
        raise


def _follow(run: FollowedRun, status: RunStatus) -> Step:
    if not run.read(over=status.state not in (BackendState.PENDING, BackendState.RUNNING)):
        return Step.NONE
    seen = observe(run.row, status)
    if seen.stage is Stage.UNKNOWN:
        return _unknown(run, status, seen.record)
    if seen.stage is Stage.OVER:
        if status.state is BackendState.PENDING:  # its backend wants to start it again
            cancel(run.row)
        return run.ends(status, seen.record)
    if run.row.is_stopping:
        if run.row.state == Passing.MISSING:
            run.step(Passing.STOPPING)
        cancel(run.row)
        return Step.NONE
    return run.goes_on(seen.stage, status)


def _unknown(run: FollowedRun, status: RunStatus, record: ExitRecord | None) -> Step:
    """Success counts at once; a failure may be that of an attempt which is being put back."""
    if not (record and record.exit_code == 0) and not _is_lost(run):
        return Step.NONE
    return run.ends(status, record) if record else run.forgotten()


def _is_lost(run: FollowedRun) -> bool:
    """Whether its backend has not known it for so long that this is no mishap; counted from now on, if not yet."""
    row = run.row
    if not traits(row.job.cluster).shows_runs_late:
        return row.is_stopping or _is_past(row, _GRACE)
    if row.state != Passing.MISSING:
        run.step(Passing.MISSING)
        return False
    return _is_past(row, _MISSED)


def _is_past(row: Submission, patience: Lease) -> bool:
    return patience.is_over(patience.end(row.state_since), timezone.now())
