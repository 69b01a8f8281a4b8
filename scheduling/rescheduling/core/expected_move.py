"""What a move that a person asks for is expected to take, phase by phase, and which phases nobody can tell.

Source: Migration 2003, table I and 8.3. A proposal has the worst case where nothing is known (`move_cost.predicted`);
who is about to stop a job is told that it is not known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gridportal.base.reasons import Reason
from scheduling.rescheduling.core.move_cost import CostPhase


@dataclass(frozen=True, slots=True)
class ExpectedMove:
    """`nodes`: where it would go now, rank by rank; none, and `why`, where there are none now. `seconds`: of the phases
    that it has; None: not known.

    >>> move = ExpectedMove(("n3",), seconds={CostPhase.START: 2.0, CostPhase.OTHER: None})
    >>> move.partial_total, move.total, [phase.value for phase in move.unknown]
    (2.0, None, ['other'])
    """

    nodes: tuple[str, ...]
    seconds: Mapping[CostPhase, float | None] = field(default_factory=dict)
    measured_at: datetime | None = None
    why: Reason | None = None

    @property
    def unknown(self) -> list[CostPhase]:
        """Phases that nobody can tell."""
        return [phase for phase, seconds in self.seconds.items() if seconds is None]

    @property
    def partial_total(self) -> float:
        """Seconds of all phases that are known."""
        return math.fsum(seconds for seconds in self.seconds.values() if seconds is not None)

    @property
    def total(self) -> float | None:
        """Seconds of the whole move; None while a phase is not known."""
        return None if self.unknown else self.partial_total


def phases_of(predicted: Mapping[CostPhase, float], *, runs: bool, has_queue: bool) -> dict[CostPhase, float | None]:
    """The phases that a move has, in their order: a job that does not run writes nothing, and on a cluster without a
    queue nobody waits in one, unless `predicted` says so.

    >>> found = phases_of({CostPhase.START: 2.0}, runs=False, has_queue=False)
    >>> found[CostPhase.START], found[CostPhase.OTHER], CostPhase.WRITE in found, CostPhase.QUEUE in found
    (2.0, None, False, False)
    """
    absent = set()
    if not runs:
        absent.add(CostPhase.WRITE)
    if not has_queue and not predicted.get(CostPhase.QUEUE):
        absent.add(CostPhase.QUEUE)
    return {phase: predicted.get(phase) for phase in CostPhase if phase not in absent}
