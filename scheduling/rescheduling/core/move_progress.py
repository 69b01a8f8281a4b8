"""Where a move is: its stages one after the other, with the seconds that each took beside those that were predicted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from scheduling.rescheduling.core.move_cost import CostPhase
from scheduling.runs.core.continuation_states import CONTINUATION_LIFE, ContinuationState


class MoveStage(StrEnum):
    """The stages, in their order."""

    RESERVE = "reserve"
    WRITE = "write"
    QUEUE = "queue"
    START = "start"
    READ = "read"


class StageState(StrEnum):
    """How far a stage is."""

    DONE = "done"
    NOW = "now"
    TO_COME = "to come"
    BROKEN = "broken"  # the move ended here


#: The phases of table I that a stage is made of.
PHASES_OF: Mapping[MoveStage, tuple[CostPhase, ...]] = {
    MoveStage.RESERVE: (CostPhase.TELEMETRY, CostPhase.RESOURCES, CostPhase.SCHEDULE, CostPhase.OTHER),
    MoveStage.WRITE: (CostPhase.WRITE,),
    MoveStage.QUEUE: (CostPhase.QUEUE,),
    MoveStage.START: (CostPhase.START,),
    MoveStage.READ: (CostPhase.REDISTRIBUTION,),
}
_STAGE_OF: Mapping[ContinuationState, MoveStage] = {
    ContinuationState.ASKED: MoveStage.RESERVE,
    ContinuationState.STOPPING: MoveStage.WRITE,
    ContinuationState.STOPPED: MoveStage.QUEUE,
    ContinuationState.STARTING: MoveStage.START,
    ContinuationState.READING: MoveStage.READ,
}


@dataclass(frozen=True, slots=True)
class MoveTimestamps:
    """When each stage began and the move ended; None while that has not happened."""

    asked: datetime
    stop_sent: datetime | None
    stopped: datetime | None
    starting: datetime | None
    ended: datetime | None


@dataclass(frozen=True, slots=True)
class StageProgress:
    """One stage. seconds: that it took, or has taken so far; predicted: that it was to take. None: nobody knows."""

    stage: MoveStage
    state: StageState
    seconds: float | None
    predicted: float | None


def stages(
    state: ContinuationState,
    at: MoveTimestamps,
    measured: Mapping[MoveStage, float],
    predicted: Mapping[CostPhase, float],
    now: datetime,
) -> list[StageProgress]:
    """All stages of a move in `state`. `measured`: seconds that are known exactly, others follow from timestamps.

    >>> from datetime import timedelta
    >>> begun = datetime(2026, 11, 23)
    >>> at = MoveTimestamps(begun, begun + timedelta(seconds=2), None, None, None)
    >>> now = begun + timedelta(seconds=9)
    >>> rows = stages(ContinuationState.STOPPING, at, {}, {CostPhase.WRITE: 40.0}, now)
    >>> [(row.state.value, row.seconds, row.predicted) for row in rows[:3]]
    [('done', 2.0, None), ('now', 7.0, 40.0), ('to come', None, None)]
    """
    reached = _reached(state, at)
    order = list(MoveStage)
    rows = []
    for place, stage in enumerate(order):
        how = _how(state, place, order.index(reached))
        since, until = _span(stage, at, now)
        seconds = measured.get(stage)
        if seconds is None and how is not StageState.TO_COME and since and until:
            seconds = max(0.0, (until - since).total_seconds())
        rows.append(StageProgress(stage, how, seconds, _sum(predicted, PHASES_OF[stage])))
    return rows


def _how(state: ContinuationState, place: int, reached: int) -> StageState:
    if state is ContinuationState.MOVED or place < reached:
        return StageState.DONE
    if place > reached:
        return StageState.TO_COME
    return StageState.BROKEN if CONTINUATION_LIFE.is_final(state) else StageState.NOW


def _reached(state: ContinuationState, at: MoveTimestamps) -> MoveStage:
    """The stage that it is in; of a move that ended early the one where it did."""
    if state in _STAGE_OF:
        return _STAGE_OF[state]
    if at.starting:
        return MoveStage.START
    if at.stopped:
        return MoveStage.QUEUE
    return MoveStage.WRITE if at.stop_sent else MoveStage.RESERVE


def _span(stage: MoveStage, at: MoveTimestamps, now: datetime) -> tuple[datetime | None, datetime | None]:
    over = at.ended or now
    spans = {
        MoveStage.RESERVE: (at.asked, at.stop_sent or at.stopped or over),
        MoveStage.WRITE: (at.stop_sent, at.stopped or over),
        MoveStage.QUEUE: (at.stopped, at.starting or over),
        MoveStage.START: (at.starting, over),
    }
    return spans.get(stage, (None, None))


def _sum(predicted: Mapping[CostPhase, float], phases: tuple[CostPhase, ...]) -> float | None:
    known = [predicted[phase] for phase in phases if phase in predicted]
    return sum(known) if known else None
