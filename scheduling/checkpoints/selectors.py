"""Reading what is known of a job's checkpoints, data and moves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from scheduling.checkpoints.models import Checkpoint, RestartFile, RuntimeSupport
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.restart_file import FileHealth
from scheduling.runs.phase_models import PhaseReport
from scheduling.runs.services.checkpoint_facts import Health

#: The phases of Migration 2003, table I, in its order: column and words.
PHASES = (
    ("writing", "writing the checkpoint"),
    ("telemetry", "waiting for telemetry"),
    ("information", "resource information"),
    ("schedule", "new schedule"),
    ("other", "other overhead"),
    ("start", "starting"),
    ("reading", "reading, redistributed"),
)


@dataclass(frozen=True, slots=True)
class RestartPoint:
    """What a job goes on from: a checkpoint by its number, or a `file` by its name, and when it was written.

    `iteration`: the last one, `of` so many, that its program had reported by then; None where it reports none.
    """

    checkpoint: int | None
    file: str
    written_at: datetime | None
    iteration: int | None = None
    of: int | None = None


@dataclass(frozen=True, slots=True)
class MoveStory:
    """All that is told of a job that can be stopped. `point`: what it would go on from now; `under_way`: the move that
    is not over, if any."""

    support: RuntimeSupport | None
    checkpoints: list[Checkpoint]
    files: list[RestartFile]
    moves: list[Continuation]
    point: RestartPoint | None

    @property
    def under_way(self) -> Continuation | None:
        """The last move, while it is not over."""
        return self.moves[-1] if self.moves and self.moves[-1].is_open else None


def move_story(job: Job) -> MoveStory | None:
    """What there is to tell now; None for a program that cannot be stopped."""
    moves = list(moves_of(job))
    if not moves and not job.application.stop_means:
        return None
    support = RuntimeSupport.objects.filter(job=job).first()
    checkpoints, files = checkpoints_of(job), restart_files_of(job)
    return MoveStory(support, checkpoints, files, moves, _point(job, checkpoints, files))


def checkpoints_of(job: Job) -> list[Checkpoint]:
    """Those in the job's folder, the newest first."""
    return list(Checkpoint.objects.filter(job=job).order_by("-number"))


def restart_files_of(job: Job) -> list[RestartFile]:
    """Those of a program with a restart of its own, the newest first."""
    return list(RestartFile.objects.filter(job=job)) if job.application.stop_means.own else []


def restart_point(job: Job) -> RestartPoint | None:
    """What it would go on from, as far as the portal has seen; None where there is nothing."""
    return _point(job, checkpoints_of(job), restart_files_of(job))


def _point(job: Job, checkpoints: list[Checkpoint], files: list[RestartFile]) -> RestartPoint | None:
    if job.is_final and job.state != JobState.FAILED:
        return None  # nobody lets it go on
    whole = next((each for each in checkpoints if each.health == Health.WHOLE), None)
    file = next((each for each in files if each.health == FileHealth.WHOLE), None)
    if file is not None:
        return RestartPoint(None, file.name, file.written_at, *_iteration(job, file.written_at))
    if whole is not None:
        return RestartPoint(whole.number, "", whole.written_at, *_iteration(job, whole.written_at))
    return None


def _iteration(job: Job, at: datetime | None) -> tuple[int | None, int | None]:
    """The last that was reported until then, and of how many."""
    reports = PhaseReport.objects.filter(run__job=job, at__lte=at, iteration__isnull=False) if at else None
    last = reports.order_by("-at", "-pk").values_list("iteration", "of").first() if reports is not None else None
    return last or (None, None)


def moves_of(job: Job) -> list[Continuation]:
    """Oldest first, with the nodes that they left and those that they went to."""
    related = ("source__placement", "target__placement", "placement")
    return list(job.continuations.select_related(*related).order_by("pk"))


class PhaseSeconds(NamedTuple):
    """A phase of table I in words, the seconds that it was expected to take and those that it took; None where nobody
    knows."""

    label: str
    expected: float | None
    measured: float | None


def phases_of(move: Continuation) -> list[PhaseSeconds]:
    """Each phase of a move."""
    expected = expected_of(move)
    return [PhaseSeconds(words, expected.get(name), getattr(move, name)) for name, words in PHASES]


def expected_of(move: Continuation) -> dict[str, float | None]:
    """What was expected of each phase by its column, and `total`; empty where nobody asked before. Starting is measured
    with the wait in the queue."""
    if not move.expected:
        return {}
    seconds = {name: move.expected.get(name) for name, _ in PHASES if name in move.expected}
    if "queue" in move.expected:
        seconds["start"] = _sum([move.expected["queue"], seconds.get("start")])
    return {**seconds, "total": _sum(list(seconds.values()))}


def _sum(seconds: list[float | None]) -> float | None:
    known = [each for each in seconds if each is not None]
    return sum(known) if len(known) == len(seconds) else None
