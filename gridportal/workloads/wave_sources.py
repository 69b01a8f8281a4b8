"""Two sources that orbit each other in the middle plane of a box, as what they add to each point in a step.

Source: Set matching 2002, 4: the 3-D scalar field produced by two orbiting sources.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Points from a source's middle on which it works, the width of its bell, steps of an orbit, and what it adds.
REACH = 4
WIDTH = 1.5
PERIOD = 200
STRENGTH = 1e-3


@dataclass(frozen=True, slots=True)
class Push:
    """What a source adds in one step: `values`, shape (planes, rows, columns), from point `start` (z, y, x) on."""

    start: tuple[int, int, int]
    values: Floats


def pushes(step: int, shape: tuple[int, int, int], first: int, planes: int) -> list[Push]:
    """What both sources add in `step` to the planes `first` to `first + planes - 1` of a box of `shape` (z, y, x).

    The same point gets the same bits, whatever planes are asked for.

    >>> [push.start for push in pushes(0, (20, 20, 20), 0, 20)]
    [(6, 6, 11), (6, 6, 1)]
    """
    depth, height, width = shape
    angle, radius = 2 * math.pi * step / PERIOD, min(height, width) / 4
    here = []
    for side in (1, -1):
        middle = (
            (depth - 1) / 2,
            (height - 1) / 2 + side * radius * math.sin(angle),
            (width - 1) / 2 + side * radius * math.cos(angle),
        )
        here += _within(middle, shape, first, planes)
    return here


def _within(middle: tuple[float, float, float], shape: tuple[int, int, int], first: int, planes: int) -> list[Push]:
    starts, bells = [], []
    for at, (center, points) in enumerate(zip(middle, shape, strict=True)):
        low, high = (first, first + planes) if at == 0 else (0, points)
        begin, end = max(low, math.ceil(center) - REACH), min(high, math.floor(center) + REACH + 1)
        if begin >= end:
            return []
        starts.append(begin)
        bells.append(np.exp(-(((np.arange(begin, end) - center) / WIDTH) ** 2) / 2))
    values = STRENGTH * bells[0][:, None, None] * bells[1][None, :, None] * bells[2][None, None, :]
    return [Push((starts[0], starts[1], starts[2]), values)]
