"""Integers of noisy columns in about as many bits as they have: Rice codes, written and read by whole columns.

An integer is folded to one that is not below 0, and split: its lowest bits as they are, so many of all of them, and how
often 2**bits goes into it as so many zeros and a one. Where differences spread as a double exponential that is within a
few hundredths of a bit of the least possible, from the first sample on, where a compressor of bytes has to learn.
Source: Rice and Plaunt, Adaptive variable-length coding (IEEE Trans. Communications 19, 1971).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
_ORDERS = 3
_WIDEST = 62


def pack(values: Ints, most: float = math.inf) -> bytes:
    """Differences of order 0, 1 or 2 from their median, whichever takes least. At least one integer, each below 2**60.
    Empty where that would take more than `most` bytes. O(n).

    >>> unpack(pack(np.array([1000, 1012, 1019, 1033])), 4).tolist()
    [1000, 1012, 1019, 1033]
    """
    rest, tried = values, []
    if len(values) > 8 * most:
        return b""
    for order in range(min(_ORDERS, len(values))):
        if order:
            rest = np.concatenate([rest[:order], np.diff(rest[order - 1 :])])
        half = (len(rest) - order) // 2
        middle = int(np.partition(rest[order:], half)[half])
        folded = fold(rest[order:] - middle)
        size, bits = _split(folded)
        tried.append((size, order, bits, [*rest[:order].tolist(), middle], folded))
    size, order, bits, heads, folded = min(tried, key=lambda one: one[0])
    if size > 8 * most:
        return b""
    lowest = (folded[:, None] >> np.arange(bits, dtype=np.uint64)) & np.uint64(1)
    ends = np.cumsum((folded >> np.uint64(bits)).astype(np.int64) + 1) - 1
    ones = np.zeros(int(ends[-1]) + 1, np.uint8)
    ones[ends] = 1
    parts = [bytes([order | bits << 2]), b"".join(varint(_fold(head)) for head in heads)]
    return b"".join([*parts, np.packbits(lowest.astype(np.uint8)).tobytes(), np.packbits(ones).tobytes()])


def unpack(packed: bytes, size: int) -> Ints:
    """`size` integers from what `pack` made."""
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
    values[order:] = unfold(folded) + heads[order]
    return summed(values, order)


def summed(values: Ints, order: int) -> Ints:
    """The column of which these are the differences of that order, behind their heads. In place."""
    for start in range(order - 1, -1, -1):
        np.cumsum(values[start:], out=values[start:])
    return values


def fold(values: Ints) -> NDArray[np.uint64]:
    """0, -1, 1, -2, ... as 0, 1, 2, 3, ..."""
    return ((values << 1) ^ (values >> 63)).astype(np.uint64)


def unfold(folded: NDArray[np.uint64]) -> Ints:
    """What `fold` was given."""
    found: Ints = (folded >> np.uint64(1)).astype(np.int64) ^ -(folded & np.uint64(1)).astype(np.int64)
    return found


def varint(value: int) -> bytes:
    """An integer that is not below 0, seven bits a byte, the lowest first.

    >>> read_varint(varint(300), 0)
    (300, 2)
    """
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def read_varint(packed: bytes, place: int) -> tuple[int, int]:
    """The integer that begins at `place`, and where the next thing begins."""
    value = shift = 0
    while packed[place] & 0x80:
        value |= (packed[place] & 0x7F) << shift
        place, shift = place + 1, shift + 7
    return value | packed[place] << shift, place + 1


def _fold(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def _split(folded: NDArray[np.uint64]) -> tuple[float, int]:
    """The bits that all take, and how many low ones of each are best: of three numbers of bits around the mean."""
    mean = float(folded.mean(dtype=np.float64))
    guess = max(1, int(mean).bit_length() - 1)
    each = range(guess - 1, min(_WIDEST, guess + 1) + 1)
    sizes = [(float((folded >> np.uint64(bits)).sum(dtype=np.float64)), bits) for bits in each]
    return min((zeros + (bits + 1) * len(folded), bits) for zeros, bits in sizes)
