"""What pages say of moves and checkpoints."""

from __future__ import annotations

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from gridportal.base.rates import figure_text
from gridportal.base.reasons import Code
from gridportal.web.templatetags.state_marks import state
from scheduling.checkpoints import selectors
from scheduling.checkpoints.models import RestartFile
from scheduling.checkpoints.selectors import MoveStory, PhaseSeconds, RestartPoint
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.messages import message, move_messages
from scheduling.messages.move_messages import restart_text, unusable
from scheduling.placing.models import Placement
from scheduling.rescheduling.core.expected_move import ExpectedMove
from scheduling.rescheduling.core.move_progress import StageProgress, StageState
from scheduling.rescheduling.decision_messages import STAGES
from scheduling.rescheduling.selectors import approval_of, expected_rows
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.continuation_states import ContinuationState
from scheduling.runs.services.checkpoint_facts import Health

register = template.Library()

#: Mark and tone of each health: never colour alone.
_HEALTH: dict[str, tuple[str, str]] = {Health.WHOLE: ("✓", "good"), Health.SET_ASIDE: ("■", "wait")}
#: Digits behind the point of seconds of a move, in its stages as in the table of what it costs.
_DIGITS = 1
_SIGNS = {StageState.DONE: "✓", StageState.NOW: "●", StageState.TO_COME: "○", StageState.BROKEN: "✕"}
_WHERE = {
    ContinuationState.ASKED: "Nodes are chosen for it; it computes on meanwhile.",
    ContinuationState.STOPPING: "Stopping: its nodes are reserved, and the program is asked to write a checkpoint.",
    ContinuationState.STOPPED: "It has stopped; its next run is made.",
    ContinuationState.STARTING: "Starting from checkpoint {checkpoint}.",
    ContinuationState.READING: "Redistributing: the program reads checkpoint {checkpoint}.",
}


@register.filter
def named_for_move(placement: Placement) -> str:
    """Who named its nodes for a move, and who agreed."""
    person = placement.named_by
    if person == "portal":
        return "The portal decided to move the job to these nodes."
    approval = approval_of(placement)
    if approval is not None:
        return f"The portal proposed these nodes for a move; {approval.by} approved it."
    return f"{person} named these nodes for a move; no others were weighed then."


@register.filter
def move_finding(story: MoveStory, job: Job) -> str:
    """Where its move is, or what there is to go on from."""
    under_way = story.under_way
    if under_way is not None:
        return _WHERE[ContinuationState(under_way.state)].format(checkpoint=under_way.checkpoint)
    if story.moves and not job.is_final and not _is_of_before(story, job):
        return message(story.moves[-1].reason)
    if job.state == JobState.SUCCEEDED:
        return "It has succeeded: nothing goes on from it, and its checkpoints are not kept."
    if story.support is not None and story.support.freed_at:
        return "Its checkpoints were removed, so that it cannot go on any more."
    if story.point is not None:
        return f"It can go on from {restart_point(story.point)}."
    if job.is_final:
        return _left_behind(story, job)
    return "It can be stopped with a checkpoint and go on elsewhere; there is no checkpoint yet."


def _is_of_before(story: MoveStory, job: Job) -> bool:
    """Whether its last move is of when it computed, and the job has stopped since."""
    return job.state == JobState.STOPPED and story.moves[-1].reason.code is Code.MOVE_REFUSED


def _left_behind(story: MoveStory, job: Job) -> str:
    """Why a job that is over does not go on, true beside the list of what it wrote."""
    if not story.checkpoints and not story.files:
        return "It wrote no checkpoint, so that it cannot go on."
    if job.state == JobState.CANCELLED:
        return "It was cancelled: nothing goes on from what it wrote."
    return "Nothing of what it wrote is whole, so that it cannot go on."


@register.filter
def restart_point(point: RestartPoint) -> str:
    """What it goes on from, with its time and iteration."""
    now = timezone.now()
    return restart_text(point.checkpoint, point.file, point.written_at, point.iteration, point.of, now)


@register.filter
def move_phases(move: Continuation) -> list[PhaseSeconds]:
    """What each phase was expected to take, and took."""
    return selectors.phases_of(move)


@register.filter
def expected_phases(move: ExpectedMove) -> list[tuple[str, float | None]]:
    """Each phase in words, and its seconds."""
    return expected_rows(move)


@register.filter
def expected_total(move: Continuation) -> float | None:
    """Seconds that all of it was expected to take; None where a part was not known."""
    return selectors.expected_of(move).get("total")


@register.filter
def other_nodes(move: Continuation) -> str:
    """That it goes to other nodes than were told before."""
    return move_messages.other_nodes(move.announced_nodes, move.placement.nodes if move.placement else ())


@register.filter
def why_unusable(file: RestartFile) -> str:
    """Why a program cannot go on from it; empty where it can."""
    return unusable(file.health)


@register.filter
def move_state(move: Continuation) -> SafeString:
    """Its state; one that could not begin has failed, as the decision on it has."""
    return state(ContinuationState.FAILED if move.state == ContinuationState.REFUSED else move.state)


@register.filter
def health(word: str) -> SafeString:
    """How a checkpoint, or a file of a restart, is."""
    mark, tone = _HEALTH.get(word, ("▲", "risk"))
    return format_html('<span class="state {}"><span aria-hidden="true">{}</span> {}</span>', tone, mark, word)


@register.filter
def stage_sign(stage: StageProgress) -> str:
    """Its mark: done, under way, to come, or where the move broke off."""
    return _SIGNS[stage.state]


@register.filter
def stage_name(stage: StageProgress) -> str:
    """Its name, for those who hear the page with its state."""
    return f"{STAGES[stage.stage]}{', broken off' if stage.state is StageState.BROKEN else ''}"


@register.filter
def stage_seconds(stage: StageProgress) -> str:
    """Seconds that it took, or has taken so far, of those that were predicted; digits as in the table of its costs."""
    predicted = "" if stage.predicted is None else _predicted(stage.predicted)
    if stage.seconds is None:
        return f"{predicted} predicted" if predicted else ""
    took = figure_text(stage.seconds, _DIGITS)
    return f"{took} of {predicted}" if predicted else f"{took} s"


def _predicted(seconds: float) -> str:
    """What would be shown as none at all is told as less than the last digit."""
    least = 10.0**-_DIGITS
    return f"under {least:g} s" if 0 < seconds < least / 2 else f"{figure_text(seconds, _DIGITS)} s"
