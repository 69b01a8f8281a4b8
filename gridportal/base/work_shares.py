"""Dealing out work by weight, in whole parts where parts are whole."""

from __future__ import annotations

import math
from collections.abc import Sequence


def shares(weights: Sequence[float], total: int | None) -> list[float]:
    """Shares in proportion to weights: fractions of 1, or whole parts of `total` by the largest remainders.

    Each machine gets one part at least where there are enough. Weights without sense count as equal.

    >>> shares([450, 500 / 3], 200)
    [146.0, 54.0]
    >>> shares([1, 1, 2], None)
    [0.25, 0.25, 0.5]
    """
    if not all(0 < weight < math.inf for weight in weights):
        weights = [1.0] * len(weights)
    whole = sum(weights)
    if total is None:
        return [weight / whole for weight in weights]
    return [float(part) for part in _parts([weight / whole * total for weight in weights], total)]


def _parts(exact: Sequence[float], total: int) -> list[int]:
    least = 1 if total >= len(exact) else 0
    parts = [max(least, math.floor(part)) for part in exact]
    by_remainder = sorted(range(len(exact)), key=lambda place: (parts[place] - exact[place], place))
    for step in range(max(0, total - sum(parts))):
        parts[by_remainder[step % len(parts)]] += 1
    while sum(parts) > total:  # what the least part of some took from the others
        largest = max(
            range(len(parts)),
            key=lambda place: (parts[place] - exact[place], parts[place]) if parts[place] > least else (-math.inf, 0),
        )
        parts[largest] -= 1
    return parts
