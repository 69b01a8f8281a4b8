"""Whether a decision was right, once the job is over: by the seconds that it took beside those of the other way.

A move is right when the job ended sooner by it, and staying when moving would have ended it later. What differs by so
little that no prediction can tell is even.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

#: Gains of up to this share, either way, count as even.
EVEN = 0.05


class Hindsight(StrEnum):
    """How it turned out."""

    RIGHT = "right"
    EVEN = "even"
    WRONG = "wrong"


def of_move(real_gain: float) -> Hindsight:
    """Of a move, by the share of the staying time that it really saved.

    >>> of_move(0.3).value, of_move(-0.02).value, of_move(-0.2).value
    ('right', 'even', 'wrong')
    """
    if abs(real_gain) <= EVEN:
        return Hindsight.EVEN
    return Hindsight.RIGHT if real_gain > 0 else Hindsight.WRONG


def of_stay(would_have_gained: float) -> Hindsight:
    """Of a job that stayed, by the share of its time that moving would have saved.

    >>> of_stay(0.3).value, of_stay(-0.2).value
    ('wrong', 'right')
    """
    return of_move(-would_have_gained)


def missed_gain(stayed: float, ret_new: float, cost: float) -> float | None:
    """What moving would have gained, as a share of the seconds that the job really took where it `stayed`.

    >>> missed_gain(1000.0, 400.0, 100.0), missed_gain(0.0, 1.0, 1.0)
    (0.5, None)
    """
    return (stayed - (ret_new + cost)) / stayed if stayed > 0 else None


@dataclass(frozen=True, slots=True)
class MovesSum:
    """How moves turned out together. saved: seconds by which jobs ended sooner; below 0: later."""

    verified: int = 0
    right: int = 0
    even: int = 0
    wrong: int = 0
    saved: float = 0.0


def summed_up(outcomes: Iterable[tuple[float, float]]) -> MovesSum:
    """The sum over (real gain, seconds saved) of verified moves.

    >>> summed_up([(0.3, 60.0), (-0.2, -20.0)])
    MovesSum(verified=2, right=1, even=0, wrong=1, saved=40.0)
    """
    rows = list(outcomes)
    found = [of_move(gain) for gain, _ in rows]
    right, even, wrong = (found.count(each) for each in (Hindsight.RIGHT, Hindsight.EVEN, Hindsight.WRONG))
    return MovesSum(len(rows), right, even, wrong, sum(saved for _, saved in rows))
