"""When a rule fires and when it ends: beyond one level for a while, and back at another.

Between the two levels nothing changes, so that a figure which wavers about one of them does not flap.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

#: Of one rule so many subjects are watched that are beyond its level, the worst first, and so many fire at once.
MOST_PENDING, MOST_FIRING = 500, 100
#: Seconds between two looks after which it is not known what happened meanwhile.
LONGEST_GAP = 120.0


@dataclass(frozen=True, slots=True)
class Levels:
    """It fires when a value was beyond `level` for `hold` seconds, and ends at or behind `clear`.

    `above`: beyond means more than that; else less. Values in the units of the series.
    """

    level: float
    clear: float
    hold: float
    above: bool = True

    def is_beyond(self, value: float) -> bool:
        """Whether a value is on the bad side of the level."""
        return value > self.level if self.above else value < self.level

    def is_clear(self, value: float) -> bool:
        """Whether a value ends what fires."""
        return value <= self.clear if self.above else value >= self.clear

    def badness(self, value: float) -> float:
        """More is worse."""
        return value if self.above else -value


@dataclass(frozen=True, slots=True)
class Judgement:
    """`pending`: since when (Unix seconds) subjects are beyond the level that do not fire yet; `fired`: the same of
    those that fire from now on; `ended`: those that do no more."""

    pending: Mapping[str, float]
    fired: Mapping[str, float]
    ended: Set[str]


def judge(
    levels: Levels,
    values: Mapping[str, float | None],
    pending: Mapping[str, float],
    firing: Set[str],
    *,
    now: float,
    seen: float | None,
) -> Judgement:
    """What the newest `values` change. O(n log n) in them.

    A value of None is not known: it neither fires nor ends anything, and whoever waits to fire begins anew. `seen`:
    when values were looked at last; after more than LONGEST_GAP all who wait begin anew.

    >>> levels = Levels(0.8, 0.7, hold=600)
    >>> judge(levels, {"a>b": 0.9}, {"a>b": 0.0}, set(), now=600, seen=590).fired
    {'a>b': 0.0}
    >>> judge(levels, {"a>b": 0.75}, {}, {"a>b"}, now=610, seen=600).ended
    set()
    """
    kept = pending if seen is not None and 0 <= now - seen <= LONGEST_GAP else {}
    known = {subject: value for subject, value in values.items() if value is not None}
    ended = {
        subject for subject in firing if subject not in values or (subject in known and levels.is_clear(known[subject]))
    }
    beyond = [subject for subject, value in known.items() if subject not in firing and levels.is_beyond(value)]
    worst = sorted(beyond, key=lambda subject: (-levels.badness(known[subject]), subject))[:MOST_PENDING]
    since = {subject: kept.get(subject, now) for subject in worst}
    room = MOST_FIRING - len(firing) + len(ended)
    due = [subject for subject in worst if now - since[subject] >= levels.hold][:room]
    fired = {subject: since.pop(subject) for subject in due}
    return Judgement(since, fired, ended)
