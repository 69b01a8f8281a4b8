"""Reading what is known of a job's checkpoints, data and moves."""

from __future__ import annotations

from dataclasses import dataclass

from scheduling.checkpoints.models import Checkpoint, RuntimeSupport
from scheduling.jobs.models import Job
from scheduling.runs.continuation_models import Continuation

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
class MoveStory:
    """All that is told of a job that can be stopped. `under_way`: the move that is not over, if any."""

    support: RuntimeSupport | None
    checkpoints: list[Checkpoint]
    moves: list[Continuation]

    @property
    def under_way(self) -> Continuation | None:
        """The last move, while it is not over."""
        return self.moves[-1] if self.moves and self.moves[-1].is_open else None


def move_story(job: Job) -> MoveStory | None:
    """What there is to tell now; None for a program that cannot be stopped."""
    moves = list(moves_of(job))
    if not moves and not job.application.stop_means:
        return None
    return MoveStory(RuntimeSupport.objects.filter(job=job).first(), checkpoints_of(job), moves)


def checkpoints_of(job: Job) -> list[Checkpoint]:
    """Those in the job's folder, the newest first."""
    return list(Checkpoint.objects.filter(job=job).order_by("-number"))


def moves_of(job: Job) -> list[Continuation]:
    """Oldest first, with the nodes that they left and those that they went to."""
    related = ("source__placement", "target__placement", "placement")
    return list(job.continuations.select_related(*related).order_by("pk"))


def phases_of(move: Continuation) -> list[tuple[str, float | None]]:
    """What each phase took, in words, seconds; None where nobody knows."""
    return [(words, getattr(move, name)) for name, words in PHASES]
