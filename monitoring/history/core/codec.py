"""Columns of history in few bytes: what is kept of a value is decided here, and pco packs the integers that it becomes.

What comes back: times to the millisecond. Values exactly where they are decimal fractions of few digits and change
little (percentages, counts, constants); others with four significant digits; and to within half a per cent where a
series jumps by tenths of itself from sample to sample, so that the last digit would be noise stored at full price.
Source: Loncaric, Jeppesen and Zinberg, Pcodec: better compression for numerical sequences (2025).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pcodec import ChunkConfig
from pcodec.wrapped import FileCompressor, FileDecompressor

from monitoring.history.core.levels import COARSE, FINE, coded, middle, valued
from monitoring.history.core.samples import Floats, Ints

_ROUNDED = 128
_SCALES = 10.0 ** np.arange(5)
#: What a value may take with four digits, and exactly.
_CHEAP_BITS, _EXACT_BITS = 8.0, 10.0
_ORDERS = 3
_KINDS = {"i64": np.int64, "f64": np.float64}


def pack(column: NDArray[Any]) -> bytes:
    """Integers or floats without loss, in one of the ways that pco has.

    >>> unpack_ints(pack(np.array([5, 7, 9, 11])), 4).tolist()
    [5, 7, 9, 11]
    """
    if not len(column):
        return b""
    file = FileCompressor()
    chunk = file.chunk_compressor(np.ascontiguousarray(column), ChunkConfig())
    return b"".join([file.write_header(), chunk.write_meta(), chunk.write_page(0)])


def unpack_ints(packed: bytes, size: int) -> Ints:
    """`size` integers from what `pack` made."""
    return _unpack(packed, size, "i64")


def unpack_floats(packed: bytes, size: int) -> Floats:
    """`size` floats from what `pack` made."""
    return _unpack(packed, size, "f64")


def pack_axis(at: Ints) -> bytes:
    """Milliseconds as multiples of the largest step that has them all, which is a tenth shorter than as they are.

    >>> unpack_axis(pack_axis(np.array([5000, 5030, 5070])), 3).tolist()
    [5000, 5030, 5070]
    """
    if not len(at):
        return b""
    step = max(1, int(np.gcd.reduce(at - at[0])))
    return varint(step) + varint(int(at[0]) % step) + pack(at // step)


def unpack_axis(packed: bytes, size: int, ints: Callable[[bytes, int], Ints] = unpack_ints) -> Ints:
    """`size` times from what pack_axis made."""
    if not size:
        return np.empty(0, np.int64)
    step, place = read_varint(packed, 0)
    rest, place = read_varint(packed, place)
    at: Ints = ints(packed[place:], size) * step + rest
    return at


def pack_values(values: Floats) -> bytes:
    """One column of values; what is exact and what is rounded stands above. All are finite.

    >>> unpack_values(pack_values(np.array([0.25, 0.5, 0.75])), 3).tolist()
    [0.25, 0.5, 0.75]
    """
    codes, kind = _fitting(values)
    exact = _exact(values, max(_EXACT_BITS, _bits(codes) + 1.0))
    return exact or bytes([_ROUNDED + kind]) + pack(codes)


def unpack_values(packed: bytes, size: int, ints: Callable[[bytes, int], Ints] = unpack_ints) -> Floats:
    """`size` values from what pack_values made."""
    whole = ints(packed[1:], size)
    if packed[0] >= _ROUNDED:
        return valued(whole, packed[0] - _ROUNDED)
    exact: Floats = whole / 10.0 ** packed[0]
    return exact


def pack_ranges(mean: Floats, low: Floats, high: Floats) -> list[bytes]:
    """Three columns of a rollup: the lowest values, how far the highest are above them, and the means as seen from
    the middle, where they mostly are. Of the levels that fit the lowest values."""
    lows, kind = _fitting(low)
    highs = np.maximum(coded(high, kind), lows)
    means = coded(mean, kind) - middle(lows, highs, kind)
    first, *others = [pack(column) for column in (lows, highs - lows, means)]
    return [bytes([_ROUNDED + kind]) + first, *others]


def unpack_ranges(
    packed: list[bytes], size: int, ints: Callable[[bytes, int], Ints] = unpack_ints
) -> tuple[Floats, Floats, Floats]:
    """Mean, low and high from what pack_ranges made."""
    kind = packed[0][0] - _ROUNDED
    lows = ints(packed[0][1:], size)
    highs = lows + ints(packed[1], size)
    means = ints(packed[2], size) + middle(lows, highs, kind)
    return valued(means, kind), valued(lows, kind), valued(highs, kind)


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


def _unpack(packed: bytes, size: int, kind: str) -> NDArray[Any]:
    values = np.empty(size, _KINDS[kind])
    if size:
        file, place = FileDecompressor.new(packed)
        chunk, length = file.chunk_decompressor(packed[place:], kind)
        chunk.read_page_into(packed[place + length :], size, values)
    return values


def _bits(values: Ints) -> float:
    """The mean length in bits of the differences of order 0, 1 or 2, whichever are shortest."""
    orders = range(max(1, min(_ORDERS, len(values))))
    lengths = (np.log2(1.0 + 2.0 * np.abs(np.diff(values, order))) for order in orders)
    return min(float(each.sum()) / max(1, len(each)) for each in lengths)


def _exact(values: Floats, most_bits: float) -> bytes:
    """The values as integers over a power of ten, where nothing is lost and that takes few bits; else empty."""
    few = values[:8] * _SCALES[:, None]
    for power in np.flatnonzero((np.rint(few) / _SCALES[:, None] == values[:8]).all(axis=1)).tolist():
        scaled = np.rint(values * _SCALES[power])
        if bool(((scaled / _SCALES[power] == values) & (np.abs(scaled) < 2.0**53)).all()):
            whole = scaled.astype(np.int64)
            return bytes([power]) + pack(whole) if _bits(whole) <= most_bits else b""
    return b""


def _fitting(values: Floats) -> tuple[Ints, int]:
    """Fine levels, or coarse ones where the fine would be noise; and which."""
    codes = coded(values, FINE)
    return (codes, FINE) if _bits(codes) <= _CHEAP_BITS else (coded(values, COARSE), COARSE)
