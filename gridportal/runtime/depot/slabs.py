"""Which bytes of a shard somebody wants: runs of bytes that repeat at even distances, gathered one after another.

What a rank needs of another's block-cyclic part is thousands of short runs. A slab says them in a few numbers, so that
a request stays short and only the bytes that are wanted travel. Nothing here needs numpy: depots run on bare nodes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, Literal

#: Bytes that one request may ask for, and slabs that it may hold.
MOST_BYTES = 1024 * 1024
MOST_SLABS = 256
MOST_DIMENSIONS = 32
_WINDOW = 64 * 1024  # bytes that are read at once
_TOGETHER = 8 * 1024  # bytes that are sent at once, at least; more would be 24 times as much for all connections
_WIDTHS: dict[int, Literal["B", "H", "I", "Q"]] = {1: "B", 2: "H", 4: "I", 8: "Q"}
_FAR = 16 * 1024  # bytes between runs from which each is read alone


class BadSlabError(ValueError):
    """A slab that is none, or asks for more than there is."""


@dataclass(frozen=True, slots=True)
class Slab:
    """`run` bytes from byte `start` on, again for each step of the dimensions, as (count, stride in bytes), the last
    one fastest."""

    start: int
    run: int
    dimensions: tuple[tuple[int, int], ...] = ()

    @property
    def bytes(self) -> int:
        """All of it.

        >>> Slab(8, 4, ((2, 100), (3, 10))).bytes
        24
        """
        size = self.run
        for count, _ in self.dimensions:
            size *= count
        return size

    @property
    def end(self) -> int:
        """The byte after its last one.

        >>> Slab(8, 4, ((2, 100), (3, 10))).end
        132
        """
        return self.start + self.run + sum((count - 1) * stride for count, stride in self.dimensions)


def parsed(document: Any, size: int) -> list[Slab]:
    """The slabs of a request for a shard of `size` bytes: [[start, run, [[count, stride], ...]], ...]. BadSlabError."""
    if not isinstance(document, list) or not 1 <= len(document) <= MOST_SLABS:
        raise BadSlabError(f"slabs is a list of 1 to {MOST_SLABS}")
    slabs = [_slab(entry) for entry in document]
    if any(slab.end > size for slab in slabs):
        raise BadSlabError(f"the shard has {size} bytes")
    if sum(slab.bytes for slab in slabs) > MOST_BYTES:
        raise BadSlabError(f"{MOST_BYTES} bytes are the most of one request")
    return slabs


def dumped(slab: Slab) -> list[Any]:
    """A slab as `parsed` reads it."""
    return [slab.start, slab.run, [list(dimension) for dimension in slab.dimensions]]


def portions(descriptor: int, wanted: Sequence[Slab]) -> Iterator[bytes | bytearray | memoryview]:
    """The bytes of all slabs in their order, read from an open file: runs of less than 8 KiB go out together, for each
    of them would be a packet of its own. OSError."""
    waiting = bytearray()
    for part in chain.from_iterable(gathered(descriptor, slab) for slab in wanted):
        if not waiting and len(part) >= _TOGETHER:
            yield part
            continue
        waiting += part
        if len(waiting) >= _TOGETHER:
            yield waiting
            waiting = bytearray()
    if waiting:
        yield waiting


def gathered(descriptor: int, slab: Slab) -> Iterator[bytes | memoryview]:
    """The bytes of a slab in its order, in portions of about 64 KiB, read from an open file. OSError."""
    *outer, inner = slab.dimensions or ((1, slab.run),)
    count, stride = inner
    for steps in product(*(range(0, n * step, step) for n, step in outer)):
        start = slab.start + sum(steps)
        if stride >= _FAR or slab.run > _WINDOW:
            for at in range(count):
                yield from _straight(descriptor, start + at * stride, slab.run)
        else:
            yield from _strided(descriptor, start, slab.run, count, stride)


def _straight(descriptor: int, start: int, size: int) -> Iterator[bytes]:
    end = start + size
    while start < end:
        part = _read(descriptor, min(_WINDOW, end - start), start)
        start += len(part)
        yield part


def _strided(descriptor: int, start: int, run: int, count: int, stride: int) -> Iterator[bytes | memoryview]:
    at_once = max(1, (_WINDOW - run) // stride)
    for first in range(0, count, at_once):
        times = min(at_once, count - first)
        span = _read(descriptor, (times - 1) * stride + run, start + first * stride)
        yield _picked(memoryview(span), run, times, stride)


def _picked(span: memoryview, run: int, times: int, stride: int) -> bytes | memoryview:
    """Every `stride`th `run` of bytes of `span`."""
    if stride == run:
        return span
    if run in _WIDTHS and stride % run == 0:
        return span[: len(span) // run * run].cast(_WIDTHS[run])[:: stride // run].tobytes()
    return b"".join([span[at : at + run] for at in range(0, times * stride, stride)])


def _slab(entry: Any) -> Slab:
    try:
        start, run, dimensions = entry
        slab = Slab(start, run, tuple((count, stride) for count, stride in dimensions))
    except (TypeError, ValueError) as error:
        raise BadSlabError("a slab is [start, run, [[count, stride], ...]]") from error
    numbers = (run, *(number for dimension in slab.dimensions for number in dimension))
    if len(slab.dimensions) > MOST_DIMENSIONS or type(start) is not int or start < 0:
        raise BadSlabError(f"a slab has a start from 0 and at most {MOST_DIMENSIONS} dimensions")
    if any(type(number) is not int or number < 1 for number in numbers):
        raise BadSlabError("runs, counts and strides are whole numbers above 0")
    return slab


def _read(descriptor: int, size: int, start: int) -> bytes:
    part = os.pread(descriptor, size, start)
    if len(part) != size:
        raise OSError(f"the shard ends {size - len(part)} bytes too early")
    return part
