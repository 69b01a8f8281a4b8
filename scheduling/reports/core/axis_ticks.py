"""The figures that stand at the axis of a chart. Pure."""

from __future__ import annotations

from math import ceil, floor, log10

#: What a step between two of them is, times a power of ten.
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def ticks(most: float, count: int = 5, *, is_whole: bool = False) -> list[float]:
    """From 0 up to at most `most`, equally far from each other and round; about `count` of them. is_whole: no halves.

    >>> ticks(9.4), ticks(1234.0), ticks(0.0)
    ([0.0, 2.0, 4.0, 6.0, 8.0], [0.0, 250.0, 500.0, 750.0, 1000.0], [0.0])
    >>> ticks(2.1, is_whole=True), ticks(11.0, is_whole=True)
    ([0.0, 1.0, 2.0], [0.0, 5.0, 10.0])
    """
    if most <= 0:
        return [0.0]
    power = 10.0 ** floor(log10(most / count))
    steps = [power * each for each in _STEPS if power * each * count >= most * (1 - 1e-9)]
    step = next((each for each in steps if each.is_integer()), 1.0) if is_whole else steps[0]
    return [round(at * step, 12) for at in range(floor(most / step + 1e-9) + 1)]


def every(count: int, most: int) -> int:
    """Which of `count` labels stay so that at most `most` stand side by side: each that is a multiple of this.

    >>> every(8, 8), every(9, 8), every(366, 8)
    (1, 2, 46)
    """
    return max(1, ceil(count / most))
