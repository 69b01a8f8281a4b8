"""Moves that no decision asked for: direct ones, those that went back, and what clusters put back into their queues."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from gridportal.base.reasons import NOTHING, Reason
from scheduling.jobs.models import Job
from scheduling.rescheduling.core.move_kinds import MoveKind
from scheduling.rescheduling.selectors import moves_by_hand
from scheduling.runs.core.continuation_states import ContinuationState
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run

_CHUNK = 500


@dataclass(frozen=True, slots=True)
class OtherMove:
    """One of them. `settled`: when it was over, else when its program was to stop or its run started again; `times`:
    how often it was started again; `total`: seconds from the request until its program computed again."""

    kind: MoveKind
    job: Job
    state: str
    nodes_now: tuple[str, ...]
    nodes: tuple[str, ...]
    by: str
    why: str
    reason: Reason
    asked_at: datetime
    settled: datetime
    total: float | None = None
    times: int = 1


@dataclass(frozen=True, slots=True)
class KindCount:
    """How many moves of a kind there were, how many of them ended as they should, and their mean cost in seconds."""

    kind: MoveKind
    number: int
    went_well: int
    cost: float | None


def other_moves(owner: int | None = None) -> Iterator[OtherMove]:
    """The newest first; of the jobs of `owner`, of all without it."""
    by_hand: QuerySet[Any] = moves_by_hand(owner)
    direct, put_back = by_hand.order_by("-settled", "-pk"), _requeued()
    put_back = put_back if owner is None else put_back.filter(job__owner=owner)
    return heapq.merge(_direct(direct), _put_back(put_back), key=lambda move: move.settled, reverse=True)


def other_moves_between(begin: datetime, until: datetime) -> list[KindCount]:
    """Those that were over, or started again, from `begin` to before `until`, by kind."""
    direct: QuerySet[Any] = moves_by_hand()
    span = {"settled__gte": begin, "settled__lt": until}
    found = [*_direct(direct.filter(**span)), *_put_back(_requeued().filter(**span))]
    by_kind = {kind: [move for move in found if move.kind is kind] for kind in MoveKind}
    return [_count(kind, moves) for kind, moves in by_kind.items() if moves]


def _count(kind: MoveKind, moves: list[OtherMove]) -> KindCount:
    well = {ContinuationState.MOVED.value, RunState.SUCCEEDED.value, RunState.RUNNING.value}
    costs = [move.total for move in moves if move.total is not None]
    went_well = 0 if kind is MoveKind.WENT_BACK else sum(move.times for move in moves if move.state in well)
    return KindCount(kind, sum(move.times for move in moves), went_well, fmean(costs) if costs else None)


def _requeued() -> QuerySet[Any]:
    rows = Run.objects.filter(restarts__gt=0).annotate(settled=Coalesce("started_at", "state_since"))
    return rows.order_by("-settled", "-pk")


def _direct(rows: QuerySet[Any]) -> Iterator[OtherMove]:
    related = ("job__application", "job__owner", "source__placement", "placement")
    for row in rows.select_related(*related).iterator(chunk_size=_CHUNK):
        yield OtherMove(
            MoveKind.WENT_BACK if row.back else MoveKind.DIRECT,
            row.job,
            row.state,
            tuple(row.source.placement.nodes),
            tuple(row.placement.nodes if row.placement else row.nodes),
            row.by,
            row.why,
            row.reason,
            row.asked_at,
            row.settled,
            row.total,
        )


def _put_back(rows: QuerySet[Any]) -> Iterator[OtherMove]:
    for row in rows.select_related("job__application", "job__owner", "placement").iterator(chunk_size=_CHUNK):
        nodes = tuple(row.placement.nodes)
        yield OtherMove(
            MoveKind.REQUEUE,
            row.job,
            row.state,
            nodes_now=nodes,
            nodes=nodes,
            by=row.backend,
            why="",
            reason=NOTHING,
            asked_at=row.created_at,
            settled=row.settled,
            times=row.restarts,
        )
