"""Work of a known amount: numpy additions over an array that fits a second-level cache.

A skeleton's computation is work and not sleep, so that it takes longer where an application's would: on a slower node,
beside another process, under a quota. A unit is one pass over the whole array.
"""

from __future__ import annotations

import sys
import time

import numpy as np

_LENGTH = 16384


class Work:
    """Does work at `rate` units for each second that it is asked for; `seconds` is what it took, by the wall clock."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.seconds = 0.0
        self.asked = 0.0
        self._sum = np.zeros(_LENGTH)
        self._step = np.full(_LENGTH, 1e-9)

    def do(self, seconds: float) -> None:
        """As much as takes `seconds` of cpu time where the rate was measured."""
        started = time.perf_counter()
        whole, part = divmod(seconds * self.rate, 1.0)
        for _ in range(int(whole)):
            np.add(self._sum, self._step, out=self._sum)
        rest = int(part * _LENGTH)
        if rest:
            np.add(self._sum[:rest], self._step[:rest], out=self._sum[:rest])
        self.seconds += time.perf_counter() - started
        self.asked += seconds


def measured_rate(seconds: float = 0.2) -> float:
    """Units for each cpu second here, from about `seconds` of work: the best of five parts, for others disturb it."""
    work = Work(1.0)
    work.do(200.0)
    return max(_rate(work, seconds / 5) for _ in range(5))


def _rate(work: Work, seconds: float) -> float:
    units, started = 0, time.thread_time()
    while (spent := time.thread_time() - started) < seconds:
        work.do(50.0)
        units += 50
    return units / spent


if __name__ == "__main__":
    sys.stdout.write(f"{measured_rate()!r}\n")
