"""What the phases of a move take, by what they took in earlier moves: those on the nodes that the job leaves are slowed
down by whatever loads these nodes, the others are not.

Source: Migration 2003, table I and 8.3. The paper measured its phases under all loads and took the longest; it has no
rule for how a phase grows with the load. Ours is that of the program itself: what makes its steps take ten times as
long makes writing and ending its ranks take ten times as long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from scheduling.rescheduling.core.move_cost import CostPhase

#: The ranks hear of the request, write their data and end on the nodes that the job leaves; the rest is done elsewhere.
ON_OLD_NODES = frozenset({CostPhase.WRITE, CostPhase.OTHER})
#: Ratios and parts of a processor below that count as that.
_LEAST = 0.01


@dataclass(frozen=True, slots=True)
class EarlierMove:
    """Seconds that its phases took, as far as they are known, and how slow the nodes were that the job left.

    slowdown: seconds for each second on an idle processor of speed 1; above 0.
    """

    seconds: Mapping[CostPhase, float]
    slowdown: float = 1.0

    def at(self, phase: CostPhase, slowdown: float) -> float:
        """What the phase would have taken from nodes that are as slow as `slowdown` says."""
        return self.seconds[phase] * (slowdown / self.slowdown if phase in ON_OLD_NODES else 1.0)


def estimates(moves: Sequence[EarlierMove], slowdown: float) -> dict[CostPhase, float]:
    """Seconds of each phase of a move away from nodes with this slowdown: the median over earlier moves; phases that
    nobody has measured are left out. Cost: O(n log n).

    >>> idle = EarlierMove({CostPhase.WRITE: 0.4, CostPhase.OTHER: 2.0, CostPhase.START: 6.0})
    >>> estimates([idle], slowdown=10.0)
    {<CostPhase.WRITE: 'write'>: 4.0, <CostPhase.OTHER: 'other'>: 20.0, <CostPhase.START: 'start'>: 6.0}
    >>> loaded = EarlierMove({CostPhase.WRITE: 4.0, CostPhase.START: 6.0}, slowdown=10.0)
    >>> estimates([loaded], slowdown=1.0)
    {<CostPhase.WRITE: 'write'>: 0.4, <CostPhase.START: 'start'>: 6.0}
    """
    by_phase = {phase: [each.at(phase, slowdown) for each in moves if phase in each.seconds] for phase in CostPhase}
    return {phase: float(median(seconds)) for phase, seconds in by_phase.items() if seconds}


def slowdown_of(ratio: float, min_cpu: float | None) -> float:
    """How slow nodes are for a run there. `ratio`: actual to predicted seconds, predicted for the least free processor
    `min_cpu` (1: an idle one of speed 1; None: nobody knows, and it counts as that).

    >>> slowdown_of(4.0, 1.0), slowdown_of(1.0, 0.5), slowdown_of(2.0, None)
    (4.0, 2.0, 2.0)
    """
    return max(ratio, _LEAST) / max(1.0 if min_cpu is None else min_cpu, _LEAST)
