"""Inner loops as machine code, by numba; compiled when first called, and kept on disk for the next process.

The one place that knows numba. Modules with such loops are imported where they are used: numba takes 0.2 s and 100 MB,
which most commands need not wait for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeVar, cast

import numpy as np

try:
    import numba
except ImportError:  # no numba for this Python yet: the same loops as plain Python, some hundred times slower
    numba = None  # type: ignore[assignment]

Function = TypeVar("Function", bound=Callable[..., object])

_PAIRS = np.uint64(0x5555555555555555)
_FOURS = np.uint64(0x3333333333333333)
_BYTES = np.uint64(0x0F0F0F0F0F0F0F0F)
_ONE = np.uint64(1)


def compiled(function: Function) -> Function:
    """The function as machine code, kept beside its file or, where that is not writable, in the user's cache folder;
    where neither is, it is compiled in each process. Other threads go on while it runs."""
    if numba is None:
        return function
    try:
        return cast(Function, numba.njit(cache=True, nogil=True, forceinline=True)(function))
    except RuntimeError:  # no folder to keep it in
        return cast(Function, numba.njit(nogil=True)(function))


@cache
def compiled_once(function: Function) -> Function:
    """The same for a function that is also used as it is."""
    return compiled(function)


@compiled
def bit_count(word: np.uint64) -> int:
    """How many bits are set."""
    word = word - ((word >> np.uint64(1)) & _PAIRS)
    word = (word & _FOURS) + ((word >> np.uint64(2)) & _FOURS)
    word = (word + (word >> np.uint64(4))) & _BYTES
    word = word + (word >> np.uint64(8))
    word = word + (word >> np.uint64(16))
    word = word + (word >> np.uint64(32))
    return int(word & np.uint64(127))


@compiled
def lowest_bit(word: np.uint64) -> int:
    """The place of the lowest set bit of a word that has one."""
    return bit_count((word & (~word + _ONE)) - _ONE)
