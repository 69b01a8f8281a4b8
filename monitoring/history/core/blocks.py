"""Blocks: a few series over some hours, each readable without the others; and frames: one poll of many series.

A block has, behind a small head, a table of its axes (columns of times, shared by the series that were sampled
together) and of its series, then their bytes as monitoring.history.core.codec makes them. A frame is what came in at
once, without loss: numbers of series, times and values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from gridportal.base.errors import InputError
from monitoring.history.core import blocks_before
from monitoring.history.core.codec import (
    pack,
    pack_axis,
    pack_ranges,
    pack_values,
    read_varint,
    unpack_axis,
    unpack_floats,
    unpack_ints,
    unpack_ranges,
    unpack_values,
    varint,
)
from monitoring.history.core.samples import Floats, Ints

#: Of blocks and frames the versions that are written now, and those that are read.
_VERSION, _WITH_RICE, _FIXED_WIDTH = 3, 2, 1
_FRAME, _FRAME_BEFORE = 2, 1
_Reader = Callable[[bytes, int], Ints]
#: Columns of a rollup: mean, low, high, count.
ROLLED = 4


@dataclass(frozen=True, slots=True)
class Column:
    """One series in a block: `at` (n,) in milliseconds, rising, and `values` (1, n), or (4, n) of a rollup: mean,
    low, high, count."""

    at: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.at)


def encode(series: Mapping[int, Column]) -> bytes:
    """A block of up to 255 series by their number in it (0..254), all raw or all rolled up. O(samples)."""
    axes: dict[bytes, tuple[int, int, bytes]] = {}
    table, bodies = [], []
    for slot, column in sorted(series.items()):
        key = column.at.tobytes()
        if key not in axes:
            axes[key] = (len(axes), len(column), pack_axis(column.at))
        streams = _pack(column.values)
        table += [slot, axes[key][0], *(len(stream) for stream in streams)]
        bodies += streams
    columns = max((len(column.values) for column in series.values()), default=1)
    head = [number for _, size, packed in axes.values() for number in (size, len(packed))]
    numbers = b"".join(map(varint, [columns, len(axes), len(series), *head, *table]))
    return b"".join([bytes([_VERSION]), numbers, *(packed for _, _, packed in axes.values()), *bodies])


def decode(block: bytes, only: int | None = None) -> dict[int, Column]:
    """The series of a block by number, or `only` that one (nothing where the block lacks it) without the cost of the
    others. Raises InputError for what is no block."""
    if len(block) < 4 or block[0] not in (_VERSION, _WITH_RICE, _FIXED_WIDTH):
        raise InputError("block", block[:1].hex(), f"bytes that begin with version {_VERSION}")
    ints = unpack_ints if block[0] == _VERSION else blocks_before.unpack_ints
    lengths, table, place = _tables_before(block) if block[0] == _FIXED_WIDTH else _tables(block)
    packed_axes = []
    for _, length in lengths:
        packed_axes.append(block[place : place + length])
        place += length
    times: dict[int, Ints] = {}
    found = {}
    for slot, axis, *streams in table:
        if only is None or slot == only:
            size = lengths[axis][0]
            if axis not in times:
                times[axis] = (
                    blocks_before.unpack_times(packed_axes[axis], size)
                    if block[0] == _FIXED_WIDTH
                    else unpack_axis(packed_axes[axis], size, ints)
                )
            found[slot] = Column(times[axis], _unpack(block, place, streams, size, ints))
        place += sum(streams)
    return found


def _tables(block: bytes) -> tuple[list[list[int]], list[list[int]], int]:
    """Size and length of each axis; number, axis and lengths of each series; and where the bytes of the axes begin."""
    place = 1

    def row(size: int) -> list[int]:
        nonlocal place
        numbers = []
        for _ in range(size):
            number, place = read_varint(block, place)
            numbers.append(number)
        return numbers

    columns, axes, count = row(3)
    return [row(2) for _ in range(axes)], [row(2 + columns) for _ in range(count)], place


def _tables_before(block: bytes) -> tuple[list[list[int]], list[list[int]], int]:
    """The same of blocks as they were written until 2026-11, with numbers of fixed width."""
    _, columns, axes, count = block[:4]
    lengths = np.frombuffer(block, "<u4", 2 * axes, 4).reshape(axes, 2).tolist()
    entry = np.dtype([("slot", "u1"), ("axis", "u1"), ("length", "<u4", (columns,))])
    table = np.frombuffer(block, entry, count, 4 + 8 * axes)
    rows = [[slot, axis, *streams] for slot, axis, streams in table.tolist()]
    return lengths, rows, 4 + 8 * axes + table.nbytes


def merged(older: Column | None, newer: Column) -> Column:
    """Both in the order of time; of one moment the last value counts. `newer` may be in any order, later ones win."""
    at, values = newer.at, newer.values
    if older is not None:
        at, values = np.concatenate([older.at, at]), np.concatenate([older.values, values], axis=1)
    order = np.argsort(at, kind="stable")
    at = at[order]
    last = np.append(at[1:] != at[:-1], True)[: len(at)]
    return Column(at[last], values[:, order[last]])


def encode_frame(numbers: Ints, at: Ints, values: Floats) -> bytes:
    """What came in at once: numbers of series, milliseconds, values, (n,) each. Without loss."""
    streams = [pack(numbers), pack(at), pack(values)]
    head = np.array([_FRAME, len(numbers), *(len(stream) for stream in streams)], "<u4").tobytes()
    return b"".join([head, *streams])


def decode_frame(frame: bytes) -> tuple[Ints, Ints, Floats]:
    """Numbers, milliseconds and values from what encode_frame made. Raises InputError for what is no frame."""
    if len(frame) < 20 or frame[0] not in (_FRAME, _FRAME_BEFORE):
        raise InputError("frame", frame[:1].hex(), f"bytes that begin with version {_FRAME}")
    version, size, *lengths = np.frombuffer(frame, "<u4", 5).tolist()
    first, second = 20 + lengths[0], 20 + lengths[0] + lengths[1]
    streams = frame[20:first], frame[first:second], frame[second:]
    if version == _FRAME_BEFORE:
        numbers, at = blocks_before.unpack_ints(streams[0], size), blocks_before.unpack_times(streams[1], size)
        return numbers, at, blocks_before.unpack_floats(streams[2], size)
    return unpack_ints(streams[0], size), unpack_ints(streams[1], size), unpack_floats(streams[2], size)


def _pack(values: Floats) -> list[bytes]:
    if len(values) < ROLLED:
        return [pack_values(row) for row in values]
    mean, low, high, count = values
    return [*pack_ranges(mean, low, high), pack(count.astype(np.int64))]


def _unpack(block: bytes, place: int, lengths: list[int], size: int, ints: _Reader) -> Floats:
    parts = []
    for length in lengths:
        parts.append(block[place : place + length])
        place += length
    if len(parts) < ROLLED:
        return np.stack([unpack_values(part, size, ints) for part in parts])
    return np.stack([*unpack_ranges(parts[:3], size, ints), ints(parts[3], size).astype(np.float64)])
