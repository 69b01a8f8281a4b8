"""The threshold of the rescheduling gain, learnt from what became of moves.

Source: Migration 2003, 6.2 and 10: 30 % was found by trial and error, and depends on how loads change and on how
accurate the figures are; to find it from what is observed is the paper's future work. Ours is the one with which the
moves that were made would have saved the most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scheduling.rescheduling.core.weighing import THRESHOLD

#: With fewer moves than that nothing is learnt.
LEAST_MOVES = 10
#: What is learnt lies between these, but for the one that was in force.
LOWEST, HIGHEST = 0.05, 0.6


@dataclass(frozen=True, slots=True)
class MoveOutcome:
    """A move that was made: the gain that was predicted, and seconds that it really saved (below 0: lost)."""

    predicted_gain: float
    saved: float


def threshold(outcomes: Sequence[MoveOutcome], otherwise: float = THRESHOLD) -> float:
    """The lowest threshold with which these moves would have saved the most seconds; `otherwise` with too few of them.

    Moves are made above a threshold only, so nothing is learnt of gains below the one that was in force: the answer is
    above `otherwise` where small gains turned out to be losses, and `otherwise` where all came true. Cost: O(n log n).

    >>> small, large = [MoveOutcome(0.35, -60.0)] * 6, [MoveOutcome(0.5, 600.0)] * 6
    >>> threshold(small + large), threshold(large), threshold(small)
    (0.35, 0.3, 0.3)
    """
    if len(outcomes) < LEAST_MOVES:
        return otherwise
    by_gain = sorted(outcomes, key=lambda each: each.predicted_gain, reverse=True)
    best, most, saved = by_gain[0].predicted_gain, 0.0, 0.0
    for at, each in enumerate(by_gain):
        saved += each.saved
        ends = at + 1 == len(by_gain)
        if saved >= most and (ends or by_gain[at + 1].predicted_gain < each.predicted_gain):
            most, best = saved, otherwise if ends else by_gain[at + 1].predicted_gain
    return best if best == otherwise else min(max(best, LOWEST), HIGHEST)
