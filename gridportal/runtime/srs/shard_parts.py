"""What a rank wants of a shard that is elsewhere, as requests to a depot: which bytes, and where they belong.

The views that `Redistribution` copies between are taken of an array that has the shard's shape and none of its memory:
their places and strides say what to ask for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridportal.runtime.depot.slabs import MOST_BYTES, MOST_DIMENSIONS, MOST_SLABS, Slab
from gridportal.runtime.srs.redistribution import Redistribution

Array = NDArray[Any]
#: Bytes between two runs that are asked for as one: another slab is as long, and costs a depot more.
NEAR = 64


class Part:
    """Some slabs of a shard, and the views that their bytes fill. Runs that lie close together are one slab."""

    def __init__(self) -> None:
        self.slabs: list[Slab] = []
        self._places: list[tuple[int, Array]] = []  # where its bytes begin in what comes
        self._bytes = 0

    def takes(self, slab: Slab) -> bool:
        """Whether there is room for a slab."""
        gap = self._gap(slab)
        return (gap >= 0 or len(self.slabs) < MOST_SLABS) and self._bytes + max(gap, 0) + slab.bytes <= MOST_BYTES

    def add(self, slab: Slab, place: Array) -> None:
        """Want this too."""
        gap = self._gap(slab)
        if gap < 0:
            self.slabs.append(slab)
        else:
            self.slabs[-1] = Slab(self.slabs[-1].start, slab.end - self.slabs[-1].start)
        self._places.append((self._bytes + max(gap, 0), place))
        self._bytes += max(gap, 0) + slab.bytes

    def _gap(self, slab: Slab) -> int:
        """Bytes of the shard between the last slab and this one where both are one run; else -1."""
        if not self.slabs or slab.dimensions or self.slabs[-1].dimensions:
            return -1
        gap = slab.start - self.slabs[-1].end
        return gap if 0 <= gap <= NEAR else -1

    def fill(self, content: memoryview) -> None:
        """Put the bytes of all slabs where they belong."""
        for at, place in self._places:
            place[...] = np.frombuffer(content[at : at + place.nbytes], place.dtype).reshape(place.shape)


def parts(way: Redistribution, source: int, target: int, into: Array) -> Iterator[Part]:
    """What new rank `target` wants of the shard of old rank `source` to fill its array `into`.

    Cost: O(pieces of the plan) requests, or O(bytes / MOST_BYTES) where these are more.
    """
    held = _without_memory(way.old.local_shape(way.shape, source), into.dtype)
    begin = held.__array_interface__["data"][0]
    part = Part()
    for view, place in way.views(source, held, target, into):
        for wanted, filled in cut(view, place, MOST_BYTES):
            slab = _slab(wanted, begin)
            if not part.takes(slab):
                yield part
                part = Part()
            part.add(slab, filled)
    if part.slabs:
        yield part


def _without_memory(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An array in C order whose elements must not be looked at."""
    strides = [dtype.itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return np.lib.stride_tricks.as_strided(np.empty((1,) * max(1, len(shape)), dtype), shape, strides)


def cut(view: Array, place: Array, most: int) -> Iterator[tuple[Array, Array]]:
    """The same two views in pieces of at most `most` bytes, cut in their leading dimensions."""
    if not view.size:
        return
    axis = next((axis for axis, length in enumerate(view.shape) if length > 1), None)
    if view.nbytes <= most or axis is None:
        yield view, place
        return
    step = max(1, most * view.shape[axis] // view.nbytes)
    before = (slice(None),) * axis
    for at in range(0, view.shape[axis], step):
        chosen = (*before, slice(at, at + step))
        yield from cut(view[chosen], place[chosen], most)


def _slab(view: Array, begin: int) -> Slab:
    run = view.itemsize
    dimensions: list[tuple[int, int]] = []
    for count, stride in reversed(list(zip(view.shape, view.strides, strict=True))):
        if count == 1:
            continue
        if not dimensions and stride == run:
            run *= count
        elif dimensions and stride == dimensions[-1][0] * dimensions[-1][1]:
            dimensions[-1] = (count * dimensions[-1][0], dimensions[-1][1])
        else:
            dimensions.append((count, stride))
    if len(dimensions) > MOST_DIMENSIONS:
        raise ValueError(f"an array of {view.ndim // 3} dimensions; {MOST_DIMENSIONS} strides are the most")
    return Slab(view.__array_interface__["data"][0] - begin, run, tuple(reversed(dimensions)))
