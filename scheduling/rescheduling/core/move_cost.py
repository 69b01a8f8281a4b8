"""What a move costs, phase by phase: the worst case that the paper measured, or predicted for this move.

Source: Migration 2003, table I (900 seconds) and 8.3 (predicted redistribution).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gridportal.base.checked_numbers import above_zero
from gridportal.base.entries import Entries, number, text


class CostKind(StrEnum):
    """Which of the two decides; both are always shown."""

    WORST_CASE = "worst-case"
    PREDICTED = "predicted"


class CostPhase(StrEnum):
    """The phases of table I, and the wait in the queue of a cluster that has one."""

    WRITE = "write"
    TELEMETRY = "telemetry"
    RESOURCES = "resources"
    SCHEDULE = "schedule"
    OTHER = "other"
    QUEUE = "queue"
    START = "start"
    REDISTRIBUTION = "redistribution"


#: Seconds of table I; nobody waited in a queue.
TABLE_I: Mapping[CostPhase, float] = {
    CostPhase.WRITE: 40.0,
    CostPhase.TELEMETRY: 90.0,
    CostPhase.RESOURCES: 120.0,
    CostPhase.SCHEDULE: 80.0,
    CostPhase.OTHER: 10.0,
    CostPhase.START: 60.0,
    CostPhase.REDISTRIBUTION: 500.0,
}


@dataclass(frozen=True, slots=True)
class MoveCost:
    """Seconds by phase; a phase that is not there costs nothing.

    >>> worst_case().total, worst_case(0.1).seconds[CostPhase.START]
    (900.0, 6.0)
    """

    kind: CostKind
    seconds: Mapping[CostPhase, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """Seconds of the whole move."""
        return math.fsum(self.seconds.values())

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `read`."""
        return {"kind": self.kind.value, "seconds": {phase.value: each for phase, each in self.seconds.items()}}

    @classmethod
    def read(cls, document: object) -> MoveCost:
        """From a document of `document`. Raises InputError for another kind."""
        entries = Entries(document, "cost")
        return cls(CostKind(entries.required("kind", text)), entries.optional("seconds", _by_phase) or {})


def worst_case(scale: float = 1.0) -> MoveCost:
    """Table I, times `scale`: an experiment of minutes has moves of seconds. InputError unless above 0."""
    factor = above_zero("cost scale", scale, most=1000, unit="a number")
    return MoveCost(CostKind.WORST_CASE, {phase: seconds * factor for phase, seconds in TABLE_I.items()})


def predicted(estimates: Mapping[CostPhase, float], otherwise: MoveCost) -> MoveCost:
    """What was estimated of this move; a phase that nobody could estimate costs what `otherwise` says.

    >>> cost = predicted({CostPhase.REDISTRIBUTION: 12.0, CostPhase.QUEUE: 30.0}, otherwise=worst_case())
    >>> cost.total
    442.0
    """
    return MoveCost(CostKind.PREDICTED, {**otherwise.seconds, **estimates})


def _by_phase(value: object) -> dict[CostPhase, float]:
    if not isinstance(value, dict) or not set(value) <= set(CostPhase):
        raise TypeError("an object with seconds of " + ", ".join(CostPhase))
    return {CostPhase(phase): number(seconds) for phase, seconds in value.items()}
