"""What a curve of seconds over numbers of ranks says."""

from __future__ import annotations

from collections.abc import Sequence

from scheduling.jobs.core.speedup import Point
from scheduling.messages.parts import ranks_text


def finding(points: Sequence[Point]) -> str:
    """What the curve says, in one sentence.

    >>> from scheduling.jobs.core.speedup import curve
    >>> finding(curve({1: 8.0, 2: 4.0, 4: 3.5}))
    'The knee is at 2 ranks: 2.0 times as fast as 1 rank, at 100 % efficiency; 2 more ranks save 0.5 s.'
    >>> finding(curve({2: 4.0, 4: 5.0}))
    'The knee is at 2 ranks, the fewest that are known; 2 more ranks cost 1 s.'
    """
    at = next(index for index, point in enumerate(points) if point.is_knee)
    knee, rest = points[at], points[at + 1 :]
    speedup = f"{knee.speedup:.1f} times as fast as {ranks_text(points[0].ranks)}, at {knee.efficiency:.0%} efficiency"
    about = ": " + speedup.replace("%", " %") if at else ", the fewest that are known"
    head = f"The knee is at {ranks_text(knee.ranks)}{about}"
    if not rest:
        return f"{head}; no larger number is known."
    more, less = rest[0].ranks - knee.ranks, knee.seconds - rest[0].seconds
    buys = f"save {less:.3g} s" if less > 0 else f"cost {-less:.3g} s"
    return f"{head}; {more} more rank{'' if more == 1 else 's'} {buys if more > 1 else buys.replace(' ', 's ', 1)}."
