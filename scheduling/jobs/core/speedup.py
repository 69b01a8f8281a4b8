"""How long a program takes on several numbers of ranks: its knee, and what each more rank buys.

Source: the knee of Eager, Zahorjan and Lazowska, "Speedup versus efficiency in parallel systems" (IEEE Transactions on
Computers 38, 1989): the number at which efficiency is largest in proportion to time. It promises nothing between or
beyond the numbers that are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """So many ranks take so many seconds. speedup: over the least number of ranks, as many times as fast; efficiency:
    speedup for each rank in proportion to that number; saved: seconds less for each more rank than at the number
    before, None for the first."""

    ranks: int
    seconds: float
    speedup: float
    efficiency: float
    saved: float | None
    is_knee: bool = False


def curve(seconds: Mapping[int, float]) -> tuple[Point, ...]:
    """The points by rising ranks; empty where fewer than two numbers are known, or a time is not above 0.

    >>> [(point.ranks, point.speedup, point.is_knee) for point in curve({1: 8.0, 2: 4.0, 4: 3.5})]
    [(1, 1.0, False), (2, 2.0, True), (4, 2.2857142857142856, False)]
    """
    if len(seconds) < 2 or min(seconds.values()) <= 0:
        return ()
    counts = sorted(seconds)
    least = counts[0]
    speedups = {count: seconds[least] / seconds[count] for count in counts}
    efficiencies = {count: speedups[count] * least / count for count in counts}
    knee = max(counts, key=lambda count: (efficiencies[count] / seconds[count], -count))
    before = dict(zip(counts[1:], counts, strict=False))
    return tuple(
        Point(
            count,
            seconds[count],
            speedups[count],
            efficiencies[count],
            (seconds[before[count]] - seconds[count]) / (count - before[count]) if count in before else None,
            count == knee,
        )
        for count in counts
    )
