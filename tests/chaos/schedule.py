"""When what is disturbed: drawn from a seed, every kind as often as every other."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_QUIET = (2.0, 8.0)  # seconds before a disturbance in which work goes on
_HOLD = (1.0, 8.0)  # seconds that it lasts
_HASTY = 0.25  # how many of them come while the portal may still be recovering from the one before


@dataclass(frozen=True, slots=True)
class Step:
    """One disturbance: seconds of quiet before it, how long it lasts, and a seed for what it chooses itself.

    A hasty one does not wait for the portal to recover from the one before.
    """

    kind: str
    quiet: float
    hold: float
    seed: int
    hasty: bool = False


def plan(kinds: Sequence[str], seed: int, seconds: float) -> list[Step]:
    """Steps that fill about `seconds`; the same seed and kinds give the same steps.

    >>> plan(["one", "two"], 1, 60) == plan(["one", "two"], 1, 600)[: len(plan(["one", "two"], 1, 60))]
    True
    """
    steps, until = [], 0.0
    for step in _steps(kinds, random.Random(seed)):
        until += step.quiet + step.hold
        if until > seconds and steps:
            return steps
        steps.append(step)
    return steps


def _steps(kinds: Sequence[str], rng: random.Random) -> Iterator[Step]:
    """Without end: all kinds in an order of their own each time, so that none is left out in a short run."""
    while kinds:
        order = list(kinds)
        rng.shuffle(order)
        for kind in order:
            quiet, hold = round(rng.uniform(*_QUIET), 1), round(rng.uniform(*_HOLD), 1)
            yield Step(kind, quiet, hold, rng.getrandbits(32), rng.random() < _HASTY)
