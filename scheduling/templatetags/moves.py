"""What pages say of moves and checkpoints."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from scheduling.checkpoints import selectors
from scheduling.checkpoints.selectors import MoveStory
from scheduling.jobs.models import Job
from scheduling.messages import message
from scheduling.rescheduling.core.move_progress import StageProgress, StageState
from scheduling.rescheduling.decision_messages import STAGES
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.continuation_states import ContinuationState
from scheduling.runs.services.checkpoint_facts import Health

register = template.Library()

#: Mark and tone of each health: never colour alone.
_HEALTH = {Health.WHOLE: ("✓", "good"), Health.SET_ASIDE: ("■", "wait")}
_SIGNS = {StageState.DONE: "✓", StageState.NOW: "●", StageState.AHEAD: "○", StageState.BROKEN: "✕"}
_WHERE = {
    ContinuationState.ASKED: "Nodes are chosen for it; it computes on meanwhile.",
    ContinuationState.STOPPING: "Stopping: its nodes are reserved, and the program is asked to write a checkpoint.",
    ContinuationState.STOPPED: "It has stopped; its next run is made.",
    ContinuationState.STARTING: "Starting from checkpoint {checkpoint}.",
    ContinuationState.READING: "Redistributing: the program reads checkpoint {checkpoint}.",
}


@register.filter
def move_finding(story: MoveStory, job: Job) -> str:
    """Where its move is, or what there is to go on from."""
    under_way = story.under_way
    if under_way is not None:
        return _WHERE[ContinuationState(under_way.state)].format(checkpoint=under_way.checkpoint)
    if story.moves and not job.is_final:
        return message(story.moves[-1].reason)
    if story.support is not None and story.support.freed_at:
        return "Its checkpoints are freed."
    whole = [each for each in story.checkpoints if each.health == Health.WHOLE]
    if whole:
        return f"It can go on from checkpoint {whole[0].number}."
    return "It can be stopped with a checkpoint and go on elsewhere; there is no checkpoint yet."


@register.filter
def move_phases(move: Continuation) -> list[tuple[str, float | None]]:
    """What each phase took."""
    return selectors.phases_of(move)


@register.filter
def health(word: str) -> SafeString:
    """How a checkpoint is."""
    mark, tone = _HEALTH.get(Health(word), ("▲", "risk"))
    return format_html('<span class="state {}"><span aria-hidden="true">{}</span> {}</span>', tone, mark, word)


@register.filter
def stage_sign(stage: StageProgress) -> str:
    """Its mark: done, under way, ahead, or where the move broke off."""
    return _SIGNS[stage.state]


@register.filter
def stage_words(stage: StageProgress) -> str:
    """Its name, for those who hear the page with its state."""
    return f"{STAGES[stage.stage]}{', broken off' if stage.state is StageState.BROKEN else ''}"


@register.filter
def stage_seconds(stage: StageProgress) -> str:
    """Seconds that it took, or has taken so far, of those that were predicted."""
    if stage.seconds is None:
        return "" if stage.predicted is None else f"{stage.predicted:.0f} s predicted"
    took = f"{stage.seconds:.1f}" if stage.seconds < 10 else f"{stage.seconds:.0f}"
    return f"{took} s" if stage.predicted is None else f"{took} of {stage.predicted:.0f} s"
