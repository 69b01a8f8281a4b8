"""How many ranks, and on which nodes, chosen together.

Source: Selection 1999, 3.4 (variable number of execution nodes) names the problem and leaves it open: selection has to
be coupled with performance estimation. Here each number of ranks gets its own best group, on which the estimate counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gridportal.base.errors import GridPortalError, ImpossibleError
from scheduling.jobs.core import speedup
from scheduling.jobs.core.scaling_table import Predict
from scheduling.selection.core.placement import Selection

#: Fewer ranks are taken where they cost at most this part of the least time.
TOLERANCE = 0.05


@dataclass(frozen=True)
class CountPoint:
    """One number of ranks. seconds: predicted on its best group, None where there is none, of which `why` tells.
    saved: seconds less than with the next smaller number that is possible (below 0: more); saved_per_node: the same for
    each node more, None where the number of nodes is the same or less."""

    ranks: int
    selection: Selection | None
    seconds: float | None
    saved: float | None = None
    saved_per_node: float | None = None
    why: str = ""

    @property
    def nodes(self) -> int | None:
        """On how many nodes."""
        return len(set(self.selection.nodes)) if self.selection else None

    def document(self) -> dict[str, Any]:
        """As JSON, for a page to draw."""
        objective = self.selection.objective if self.selection else None
        return {
            "ranks": self.ranks,
            "node_count": self.nodes,
            "nodes": list(self.selection.nodes) if self.selection else [],
            "seconds": self.seconds if self.seconds is not None and math.isfinite(self.seconds) else None,
            "saved": self.saved,
            "saved_per_node": self.saved_per_node,
            "min_bandwidth": objective.min_bandwidth if objective else None,
            "min_cpu": objective.min_cpu if objective else None,
            "why": self.why,
        }


@dataclass(frozen=True)
class CountChoice:
    """The curve over numbers of ranks. chosen: the fewest ranks that take at most `tolerance` more than the least time;
    knee: where efficiency is largest in proportion to time, None for a curve of one number."""

    points: tuple[CountPoint, ...]
    chosen: CountPoint
    knee: int | None
    tolerance: float

    def document(self) -> dict[str, Any]:
        """As JSON, for a page to draw."""
        points = [point.document() for point in self.points]
        return {"points": points, "chosen": self.chosen.ranks, "knee": self.knee, "tolerance": self.tolerance}


def choose_count(
    counts: Sequence[int], answer: Callable[[int], Selection], predict: Predict, *, tolerance: float = TOLERANCE
) -> CountChoice:
    """The number of ranks and the group with the least predicted time, or fewer ranks that take hardly longer.

    answer: the best group for a number of ranks; one that raises a GridPortalError is no choice, and its sentence is
    kept. Finds: the least among `counts`, where `answer` finds the group that is best by `predict`; the selection
    maximises the slowest pair and processor, which are all that a ScalingTable looks at, but one of them first. Raises
    ImpossibleError when no number is possible.
    """
    points: list[CountPoint] = []
    for ranks in sorted(set(counts)):
        try:
            selection = answer(ranks)
            point = CountPoint(ranks, selection, predict(ranks, selection.objective))
        except GridPortalError as error:
            points.append(CountPoint(ranks, None, None, why=str(error)))
            continue
        before = next((each for each in reversed(points) if each.seconds is not None), None)
        points.append(_compared(point, before))
    possible = [point for point in points if point.seconds is not None and math.isfinite(point.seconds)]
    if not possible:
        raise ImpossibleError(f"No number of ranks is possible. {points[-1].why if points else ''}".strip())
    least = min(point.seconds for point in possible if point.seconds is not None)
    chosen = next(p for p in possible if p.seconds is not None and p.seconds <= least * (1 + tolerance))
    return CountChoice(tuple(points), chosen, knee({p.ranks: p.seconds or 0.0 for p in possible}), tolerance)


def _compared(point: CountPoint, before: CountPoint | None) -> CountPoint:
    if before is None or before.seconds is None or point.seconds is None:
        return point
    saved = before.seconds - point.seconds
    if not math.isfinite(saved):
        return point
    more = (point.nodes or 0) - (before.nodes or 0)
    return CountPoint(point.ranks, point.selection, point.seconds, saved, saved / more if more > 0 else None)


def knee(seconds: Mapping[int, float]) -> int | None:
    """The knee of a curve as scheduling.jobs.core.speedup has it; None where fewer than two numbers are known.

    >>> knee({1: 100.0, 2: 52.0, 4: 30.0, 8: 25.0, 16: 24.0}), knee({1: 9.0})
    (4, None)
    """
    return next((point.ranks for point in speedup.curve(seconds) if point.is_knee), None)
