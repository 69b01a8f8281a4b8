"""The random numbers of the NAS Parallel Benchmarks, exact, in blocks, with jumps ahead.

x(k+1) = a x(k) mod 2^46 with a = 5^13; each number is x / 2^46 in (0, 1).
Source: Bailey et al., The NAS Parallel Benchmarks, RNR-94-007, section 2.2.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

MULTIPLIER = 5**13
BITS = 46
MODULUS = 1 << BITS
# 2^46 divides 2^64, so products that wrap around in 64 bits keep their lowest 46 bits exactly.
MASK = np.uint64(MODULUS - 1)

States = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]


def jump(state: int, steps: int, multiplier: int = MULTIPLIER) -> int:
    """The state `steps` draws after `state`, by binary powers in O(log steps).

    >>> jump(314159265, 1) == 314159265 * 5**13 % 2**46
    True
    """
    return state * pow(multiplier, steps, MODULUS) % MODULUS


def powers(count: int, multiplier: int = MULTIPLIER) -> States:
    """multiplier^1 .. multiplier^count mod 2^46, built by doubling in O(count)."""
    table = np.empty(max(count, 1), dtype=np.uint64)
    table[0] = multiplier % MODULUS
    filled = 1
    while filled < count:
        more = min(filled, count - filled)
        np.multiply(table[:more], table[filled - 1], out=table[filled : filled + more])
        table[filled : filled + more] &= MASK
        filled += more
    return table[:count]


def uniform(states: States) -> Floats:
    """States as numbers in (0, 1); exact, since 46 bits fit into a double."""
    return states.view(np.int64) * np.float64(2.0**-BITS)


class Stream:
    """A generator at `state`; `draw` returns the next numbers and moves on.

    >>> Stream(314159265).draw(2).round(6).tolist()
    [0.794522, 0.869065]
    """

    def __init__(self, state: int, block: int = 1 << 16) -> None:
        self.state = state
        self._powers = powers(block)

    def draw(self, count: int) -> Floats:
        """The next `count` numbers, shape (count,)."""
        states = np.empty(count, dtype=np.uint64)
        block = len(self._powers)
        for start in range(0, count, block):
            part = states[start : start + block]
            np.multiply(self._powers[: len(part)], np.uint64(self.state), out=part)
            part &= MASK
            self.state = int(part[-1])
        return uniform(states)
