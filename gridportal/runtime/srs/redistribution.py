"""From one layout to another: who needs how much of whom, and the copies that do it.

Every rank of the new layout takes what it needs from the ranks of the old one, each element once. Of a replicated array
it takes all from the old rank of its own number, or of the remainder where there are fewer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridportal.base.errors import InputError
from gridportal.runtime.srs import compiled_copy
from gridportal.runtime.srs.compiled_copy import CopyAxis, CopyKind
from gridportal.runtime.srs.dealing import BlockCyclic
from gridportal.runtime.srs.layouts import Layout
from gridportal.runtime.srs.overlaps import Overlaps, distinct, overlaps

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Message:
    """What new rank `target` takes from old rank `source`, in bytes."""

    source: int
    target: int
    bytes: int


class Redistribution:
    """The way of an array of `shape` from layout `old` to layout `new`.

    Raises InputError where one of them does not fit the shape. Cost: O(parts + runs in a common period) for each
    dimension (see `overlaps`), and O(pairs of ranks that share elements) for the messages.

    >>> from gridportal.runtime.srs.layouts import parsed
    >>> r = Redistribution(parsed("block:2"), parsed("cyclic:2"), (5,))
    >>> [(m.source, m.target, m.bytes) for m in r.messages(8)]
    [(0, 0, 16), (0, 1, 8), (1, 0, 8), (1, 1, 8)]
    """

    def __init__(self, old: Layout, new: Layout, shape: Sequence[int]) -> None:
        if any(length < 0 for length in shape):
            raise InputError("shape", list(shape), "lengths of 0 or more")
        old.check(shape)
        new.check(shape)
        self.old, self.new, self.shape = old, new, tuple(shape)
        self._source, self._target = widened(old, len(shape)), widened(new, len(shape))
        self._shared = [
            overlaps(source, target, length)
            for source, target, length in zip(self._source.dealings, self._target.dealings, shape, strict=True)
        ]

    def messages(self, itemsize: int) -> list[Message]:
        """All messages that are not empty, by source and target; bytes of elements of `itemsize` bytes."""
        return sorted(self._messages(itemsize), key=lambda message: (message.source, message.target))

    def message_count(self) -> int:
        """How many messages there are, without making them."""
        return math.prod(len(self._pairs(axis)) for axis in range(len(self.shape))) * (
            1 if self.new.dealings else self.new.copies
        )

    def _messages(self, itemsize: int) -> Iterator[Message]:
        pairs = [self._pairs(axis) for axis in range(len(self.shape))]
        for chosen in product(*pairs):
            size = itemsize * math.prod(elements for _, _, elements in chosen)
            source = _rank(self._source, [each[0] for each in chosen])
            target = _rank(self._target, [each[1] for each in chosen])
            for to in range(self.new.copies) if not self.new.dealings else (target,):
                yield Message(source if self.old.dealings else to % self.old.copies, to, size)

    def _pairs(self, axis: int) -> list[tuple[int, int, int]]:
        """The parts of a dimension that share elements: of the old layout, of the new one, and how many."""
        targets = self._target.grid[axis]
        pieces = self._shared[axis]
        keys, places = np.unique(pieces.source * targets + pieces.target, return_inverse=True)
        elements = np.zeros(len(keys), dtype=np.int64)
        np.add.at(elements, places, pieces.size * pieces.inner * pieces.outer)
        return [(int(key) // targets, int(key) % targets, int(n)) for key, n in zip(keys, elements, strict=True)]

    def sources(self, target: int) -> list[int]:
        """The old ranks from which new rank `target` takes something."""
        if not all(self.new.local_shape(self.shape, target)):
            return []
        if not self.old.dealings:
            return [target % self.old.copies]
        here = _parts(self.new, self._target, target)
        shared = [distinct(each.source[each.target == part]) for each, part in zip(self._shared, here, strict=True)]
        return sorted(_rank(self._source, [int(part) for part in chosen]) for chosen in product(*shared))

    def fill(self, held: Callable[[int], Array], target: int, into: Array) -> CopyKind:
        """Fill `into`, the array of new rank `target`, from `held` of the old ranks that it takes from; who copied.

        All have the shapes that their layouts give them, in C order. Cost: a read and a write of each byte.
        """
        if self.filled_by_c(held, target, into):
            return CopyKind.COMPILED
        for source in self.sources(target):
            self.copy(source, held(source), target, into)
        return CopyKind.NUMPY

    def filled_by_c(self, held: Callable[[int], Array], target: int, into: Array) -> bool:
        """Do what `fill` does where the array is large and there is a compiler (`compiled_copy`); whether it is done.

        Of maps of files no more than a little is in memory.
        """
        by_numpy = compiled_copy.kind(into.nbytes) is CopyKind.NUMPY
        if by_numpy or not self.shape or not into.size or not into.flags.c_contiguous:
            return False
        here = _parts(self.new, self._target, target)
        axes = [
            CopyAxis(shared.of_target(part), old.counts(length), int(new.counts(length)[part]))
            for shared, part, old, new, length in zip(
                self._shared, here, self._source.dealings, self._target.dealings, self.shape, strict=True
            )
        ]
        sources = {source: held(source) for source in self.sources(target)}
        # Of a replicated array one old rank gives all: to the plan it is the only one.
        compiled_copy.copy(axes, sources if self.old.dealings else {0: next(iter(sources.values()))}, into)
        return True

    def copy(self, source: int, held: Array, target: int, into: Array) -> None:
        """Copy what new rank `target` takes of `held`, the array of old rank `source`, to its place in `into`.

        Both arrays have the shapes that their layouts give them, in C order.
        """
        for view, place in self.views(source, held, target, into):
            copy_elements(view, place)

    def views(self, source: int, held: Array, target: int, into: Array) -> Iterator[tuple[Array, Array]]:
        """What `copy` copies: a view of `held` and the one of `into` that it fills, piece by piece, in the order of
        `held`."""
        there, here = _parts(self.old, self._source, source), _parts(self.new, self._target, target)
        pieces = [_pieces(each.between(a, b)) for each, a, b in zip(self._shared, there, here, strict=True)]
        for chosen in product(*pieces):
            shape = [n for piece in chosen for n in (piece.outer, piece.inner, piece.size)]
            steps = [step for piece in chosen for step in (piece.source_outer, piece.source_inner, 1)]
            into_steps = [step for piece in chosen for step in (piece.target_outer, piece.target_inner, 1)]
            yield (
                _view(held, [piece.source_place for piece in chosen], shape, steps),
                _view(into, [piece.target_place for piece in chosen], shape, into_steps),
            )


def copy_elements(view: Array, place: Array) -> None:
    """Copy a view to one of the same shape, be both of whatever strides."""
    place[...] = view


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of one dimension in plain numbers, see Overlaps."""

    source_place: int
    target_place: int
    size: int
    inner: int
    source_inner: int
    target_inner: int
    outer: int
    source_outer: int
    target_outer: int


def _pieces(shared: Overlaps) -> list[_Piece]:
    columns = (getattr(shared, name).tolist() for name in _Piece.__slots__)
    pieces = [_Piece(*numbers) for numbers in zip(*columns, strict=True)]
    return sorted(pieces, key=lambda piece: piece.source_place)


def _view(array: Array, start: Sequence[int], shape: Sequence[int], steps: Sequence[int]) -> Array:
    """The elements of `array` from `start` on; `steps`: three for each dimension, in elements of it."""
    strides = [step * array.strides[at // 3] for at, step in enumerate(steps)]
    begins: tuple[Any, ...] = (*(slice(place, None) for place in start), ...)
    first = array[begins]
    return np.lib.stride_tricks.as_strided(first, shape, strides)


def widened(layout: Layout, dimensions: int) -> Layout:
    """The same with every dimension dealt out, those that stay whole to one part."""
    return Layout((*layout.dealings, *[BlockCyclic(1)] * (dimensions - len(layout.dealings))))


def _parts(layout: Layout, widened: Layout, rank: int) -> tuple[int, ...]:
    """What a rank has of each dimension; of a replicated array every rank is like the first."""
    return widened.coordinates(rank if layout.dealings else 0)


def _rank(layout: Layout, parts: Sequence[int]) -> int:
    return int(np.ravel_multi_index(tuple(parts), layout.grid)) if parts else 0
