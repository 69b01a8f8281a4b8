"""Columns of history in few bytes: times and values become integers, these the differences that are smallest.

What comes back: times to the millisecond. Values exactly where they are decimal fractions of few digits and change
little (percentages, counts, constants); others with four significant digits; and to within half a per cent where a
series jumps by tenths of itself from sample to sample, so that the last digit would be noise stored at full price.
"""

from __future__ import annotations

import zlib

import numpy as np

from monitoring.core import rice
from monitoring.core.levels import COARSE, FINE, coded, middle, valued
from monitoring.core.rice import Ints
from monitoring.core.samples import Floats

_ROUNDED = 128
_SCALES = 10.0 ** np.arange(5)
#: What a value may take with four digits, and exactly: with times of its own it still has less than two bytes.
_CHEAP_BITS, _EXACT_BITS = 8.0, 10.0
_LEVEL = 6
_SIZE = 3
#: In place of an order: what follows is Rice's code.
_RICE = 3


def pack_times(at: Ints) -> bytes:
    """Milliseconds as multiples of the largest step that has them all.

    >>> unpack_times(pack_times(np.array([5000, 5030, 5070])), 3).tolist()
    [5000, 5030, 5070]
    """
    if not len(at):
        return b""
    step = max(1, int(np.gcd.reduce(at - at[0])))
    return np.array([at[0], step], "<i8").tobytes() + pack_ints((at - at[0]) // step)


def unpack_times(packed: bytes, size: int) -> Ints:
    """`size` times from what pack_times made."""
    if not size:
        return np.empty(0, np.int64)
    first, step = np.frombuffer(packed, "<i8", 2).tolist()
    at: Ints = unpack_ints(packed[16:], size) * step + first
    return at


def pack_axis(at: Ints) -> bytes:
    """The same in fewer bytes, for columns that are many and short.

    >>> unpack_axis(pack_axis(np.array([5000, 5030, 5070])), 3).tolist()
    [5000, 5030, 5070]
    """
    if not len(at):
        return b""
    step = max(1, int(np.gcd.reduce(at - at[0])))
    return rice.varint(step) + rice.varint(int(at[0]) % step) + pack_ints(at // step)


def unpack_axis(packed: bytes, size: int) -> Ints:
    """`size` times from what pack_axis made."""
    if not size:
        return np.empty(0, np.int64)
    step, place = rice.read_varint(packed, 0)
    rest, place = rice.read_varint(packed, place)
    at: Ints = unpack_ints(packed[place:], size) * step + rest
    return at


def pack_values(values: Floats) -> bytes:
    """One column of values; what is exact and what is rounded stands above. All are finite.

    >>> unpack_values(pack_values(np.array([0.25, 0.5, 0.75])), 3).tolist()
    [0.25, 0.5, 0.75]
    """
    codes, kind = _fitting(values)
    order, rest = _smallest(codes)
    exact = _exact(values, max(_EXACT_BITS, _bits(rest[order:]) + 1.0))
    return exact or bytes([_ROUNDED + kind]) + pack_ints(codes)


def unpack_values(packed: bytes, size: int) -> Floats:
    """`size` values from what pack_values made."""
    ints = unpack_ints(packed[1:], size)
    if packed[0] >= _ROUNDED:
        return valued(ints, packed[0] - _ROUNDED)
    exact: Floats = ints / 10.0 ** packed[0]
    return exact


def pack_ranges(mean: Floats, low: Floats, high: Floats) -> list[bytes]:
    """Three columns of a rollup: the lowest values, how far the highest are above them, and the means as seen from
    the middle, where they mostly are. Of the levels that fit the lowest values."""
    lows, kind = _fitting(low)
    highs = np.maximum(coded(high, kind), lows)
    means = coded(mean, kind) - middle(lows, highs, kind)
    first, *others = [pack_ints(column) for column in (lows, highs - lows, means)]
    return [bytes([_ROUNDED + kind]) + first, *others]


def unpack_ranges(packed: list[bytes], size: int) -> tuple[Floats, Floats, Floats]:
    """Mean, low and high from what pack_ranges made."""
    kind = packed[0][0] - _ROUNDED
    lows = unpack_ints(packed[0][1:], size)
    highs = lows + unpack_ints(packed[1], size)
    means = unpack_ints(packed[2], size) + middle(lows, highs, kind)
    return valued(means, kind), valued(lows, kind), valued(highs, kind)


def pack_ints(values: Ints) -> bytes:
    """Integers below 2**60 as differences of order 0, 1 or 2, in the one of two ways that is shorter.

    >>> unpack_ints(pack_ints(np.array([5, 7, 9, 11])), 4).tolist()
    [5, 7, 9, 11]
    """
    planes = _packed(*_smallest(values))
    noisy = rice.pack(values, len(planes) - 1) if len(values) else b""
    return bytes([_RICE]) + noisy if noisy and len(noisy) + 1 < len(planes) else planes


def _packed(order: int, rest: Ints) -> bytes:
    """Behind the heads the bytes of the rest, the lowest of all, then the second: each such plane by itself, because
    the lowest is often noise and the others nearly constant. Compressed where that is shorter."""
    heads, tail = rest[:order], rest[order:]
    folded = rice.fold(tail).astype("<u8")
    width = (int(folded.max()).bit_length() + 7) // 8 if len(folded) else 0
    planes = folded.view(np.uint8).reshape(-1, 8)[:, :width].T.copy()
    parts = [bytes([order | width << 2]), heads.astype("<i8").tobytes()]
    for plane in planes:
        whole = plane.tobytes()
        small = _deflated(whole)
        kept = small if len(small) < len(whole) else b""
        parts += [len(kept).to_bytes(_SIZE, "little"), kept or whole]
    return b"".join(parts)


def unpack_ints(packed: bytes, size: int) -> Ints:
    """`size` integers from what pack_ints made."""
    if packed[0] == _RICE:
        return rice.unpack(packed[1:], size)
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
    rest = rice.unfold(values)
    rest[:order] = np.frombuffer(packed, "<i8", order, 1)
    return rice.summed(rest, order)


def _deflated(whole: bytes) -> bytes:
    squeeze = zlib.compressobj(_LEVEL, zlib.DEFLATED, -15)
    return squeeze.compress(whole) + squeeze.flush()


def _smallest(values: Ints) -> tuple[int, Ints]:
    """The order, and the differences behind as many heads. Heads are the first of each lower order's differences."""
    best, order, cost = values, 0, _bits(values)
    rest = values
    for next_order in (1, 2):
        if len(values) <= next_order:
            break
        rest = np.concatenate([rest[:next_order], np.diff(rest[next_order - 1 :])])
        bits = _bits(rest[next_order:])
        if bits < cost:
            best, order, cost = rest, next_order, bits
    return order, best


def _bits(values: Ints) -> float:
    """The mean length of the values in bits."""
    return float(np.log2(1.0 + 2.0 * np.abs(values)).sum()) / max(1, len(values))


def _exact(values: Floats, most_bits: float) -> bytes:
    """The values as integers over a power of ten, where nothing is lost and that takes few bits; else empty."""
    few = values[:8] * _SCALES[:, None]
    for power in np.flatnonzero((np.rint(few) / _SCALES[:, None] == values[:8]).all(axis=1)).tolist():
        scaled = np.rint(values * _SCALES[power])
        if bool(((scaled / _SCALES[power] == values) & (np.abs(scaled) < 2.0**53)).all()):
            whole = scaled.astype(np.int64)
            order, rest = _smallest(whole)
            return bytes([power]) + pack_ints(whole) if _bits(rest[order:]) <= most_bits else b""
    return b""


def _fitting(values: Floats) -> tuple[Ints, int]:
    """Fine levels, or coarse ones where the fine would be noise; and which."""
    codes = coded(values, FINE)
    order, rest = _smallest(codes)
    if _bits(rest[order:]) <= _CHEAP_BITS:
        return codes, FINE
    return coded(values, COARSE), COARSE
