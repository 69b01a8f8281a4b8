"""Columns as blocks and frames had them until 2026-11, to be read only: Rice codes, or compressed planes of bytes.

Blocks of that time go when they are old (GRIDPORTAL_KEEP_RAW and the like); with the last of them this module may go.
"""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from monitoring.history.core.codec import read_varint
from monitoring.history.core.samples import Floats, Ints

_SIZE = 3
#: In place of an order: what follows is Rice's code.
_RICE = 3


def unpack_times(packed: bytes, size: int) -> Ints:
    """`size` times, milliseconds: the first and the step in 8 bytes each, then their multiples."""
    if not size:
        return np.empty(0, np.int64)
    first, step = np.frombuffer(packed, "<i8", 2).tolist()
    at: Ints = unpack_ints(packed[16:], size) * step + first
    return at


def unpack_floats(packed: bytes, size: int) -> Floats:
    """`size` floats: all their first bytes, then all second ones, ..., compressed."""
    planes = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(8, size)
    return np.ascontiguousarray(planes.T).view("<f8").ravel()


def unpack_ints(packed: bytes, size: int) -> Ints:
    """`size` integers: differences of order 0, 1 or 2 behind their heads."""
    if packed[0] == _RICE:
        return _unpack_rice(packed[1:], size)
    order, width = min(packed[0] & 3, size), packed[0] >> 2
    tail, place = size - order, 1 + 8 * order
    values = np.zeros(size, "<u8")
    planes = values.view(np.uint8).reshape(-1, 8)
    for number in range(width):
        length = int.from_bytes(packed[place : place + _SIZE], "little")
        place += _SIZE
        part = packed[place : place + (length or tail)]
        place += len(part)
        planes[order:, number] = np.frombuffer(zlib.decompress(part, -15, tail) if length else part, np.uint8)
    rest = _unfold(values)
    rest[:order] = np.frombuffer(packed, "<i8", order, 1)
    return _summed(rest, order)


def _unpack_rice(packed: bytes, size: int) -> Ints:
    """Source: Rice and Plaunt, Adaptive variable-length coding (IEEE Trans. Communications 19, 1971)."""
    order, bits = packed[0] & 3, packed[0] >> 2
    heads, place = [], 1
    for _ in range(order + 1):
        head, place = read_varint(packed, place)
        heads.append((head >> 1) ^ -(head & 1))
    tail = size - order
    end = place + (tail * bits + 7) // 8
    lowest = np.unpackbits(np.frombuffer(packed[place:end], np.uint8), count=tail * bits).reshape(tail, bits)
    ends = np.flatnonzero(np.unpackbits(np.frombuffer(packed[end:], np.uint8)))[:tail]
    folded = (np.diff(ends, prepend=-1) - 1).astype(np.uint64) << np.uint64(bits)
    folded += lowest @ (np.uint64(1) << np.arange(bits, dtype=np.uint64)) if bits else np.uint64(0)
    values = np.empty(size, np.int64)
    values[:order] = heads[:order]
    values[order:] = _unfold(folded) + heads[order]
    return _summed(values, order)


def _summed(values: Ints, order: int) -> Ints:
    """The column of which these are the differences of that order, behind their heads. In place."""
    for start in range(order - 1, -1, -1):
        np.cumsum(values[start:], out=values[start:])
    return values


def _unfold(folded: NDArray[np.uint64]) -> Ints:
    """0, 1, 2, 3, ... as 0, -1, 1, -2, ..."""
    found: Ints = (folded >> np.uint64(1)).astype(np.int64) ^ -(folded & np.uint64(1)).astype(np.int64)
    return found
