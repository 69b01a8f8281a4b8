"""How one dimension of an array is dealt out to the parts of a process grid, as runs of consecutive elements.

Three ways are enough: blocks of one size dealt in turn (block and cyclic are such, as in ScaLAPACK), one piece of its
own length for each part, and a list of places for each part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gridportal.base.errors import InputError

Places = NDArray[np.int64]
#: Of parts and of blocks: what an array of a machine can have.
MOST = 2**53


@dataclass(frozen=True, slots=True)
class Runs:
    """Elements of a dimension in runs: run i begins at element starts[i], part owners[i] keeps it from its own element
    places[i] on, and it ends where the next one begins. They cover `period` elements; what follows repeats them, each
    part's own elements `steps[part]` further on. The period of what does not repeat is the whole length."""

    starts: Places
    owners: Places
    places: Places
    period: int
    steps: Places

    def until(self, span: int) -> Runs:
        """The runs of the first `span` elements, written out."""
        times = np.arange(-(-span // self.period) if span else 0)
        starts = np.add.outer(times * self.period, self.starts).ravel()
        places = (np.multiply.outer(times, self.steps[self.owners]) + self.places).ravel()
        owners = np.tile(self.owners, len(times))
        kept = starts < span
        return Runs(starts[kept], owners[kept], places[kept], max(span, 1), self.steps)


class Dealing(Protocol):
    """A way to deal out a dimension of any length that it accepts."""

    @property
    def parts(self) -> int:
        """How many parts there are."""

    @property
    def text(self) -> str:
        """What it is called, without the number of parts, as block-cyclic:64."""

    def check(self, length: int) -> None:
        """Raise InputError for a length that it does not accept."""

    def runs(self, length: int) -> Runs:
        """The runs of `length` elements."""

    def counts(self, length: int) -> Places:
        """How many elements each part has."""


@dataclass(frozen=True, slots=True)
class BlockCyclic:
    """Blocks of `block` elements dealt in turn: 1 is cyclic; None: one block a part, of length / parts, rounded up."""

    parts: int
    block: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("parts", self.parts), ("block", self.block)):
            if value is not None and not 1 <= value <= MOST:
                raise InputError(name, value, "a whole number above 0")

    @property
    def text(self) -> str:
        return "block" if self.block is None else "cyclic" if self.block == 1 else f"block-cyclic:{self.block}"

    def check(self, length: int) -> None:
        """Any length will do: parts may be empty."""

    def size(self, length: int) -> int:
        """Elements of a block."""
        return self.block or max(1, -(-length // self.parts))

    def runs(self, length: int) -> Runs:
        block = self.size(length)
        dealt = min(self.parts, -(-length // block))
        owners = np.arange(dealt)
        whole = self.parts * block >= length
        steps = self.counts(length) if whole else np.full(self.parts, block)
        return Runs(owners * block, owners, owners * 0, max(1, length if whole else self.parts * block), steps)

    def counts(self, length: int) -> Places:
        """NUMROC of ScaLAPACK, for all parts at once."""
        block = self.size(length)
        whole, rest = divmod(length, block)
        counts = np.full(self.parts, whole // self.parts * block)
        counts[: whole % self.parts] += block
        counts[whole % self.parts] += rest
        return counts


@dataclass(frozen=True, slots=True)
class Shares:
    """One piece for each part, of its own length, in the order of the parts; a piece may be empty."""

    lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.lengths or min(self.lengths) < 0:
            raise InputError("shares", list(self.lengths), "a whole number of elements, 0 or more, for each part")

    @property
    def parts(self) -> int:
        return len(self.lengths)

    @property
    def text(self) -> str:
        return "shares:" + ",".join(str(length) for length in self.lengths)

    def check(self, length: int) -> None:
        if sum(self.lengths) != length:
            raise InputError("shares", list(self.lengths), f"shares that add up to {length}, the length to deal out")

    def runs(self, length: int) -> Runs:
        sizes = self.counts(length)
        owners = np.flatnonzero(sizes)
        starts = (np.cumsum(sizes) - sizes)[owners]
        return Runs(starts, owners, owners * 0, max(1, length), sizes)

    def counts(self, length: int) -> Places:
        return np.array(self.lengths, dtype=np.int64)


class IndexMap:
    """Any other way: for each part the places of its elements in the whole dimension, in the part's own order."""

    text = "map"

    def __init__(self, places: Sequence[Any]) -> None:
        """Every element of the dimension belongs to one part. Raises InputError else."""
        self.places = [np.asarray(part, dtype=np.int64).reshape(-1) for part in places]
        if not self.places:
            raise InputError("map", "no parts", "the places of the elements of each part")
        self.length = sum(len(part) for part in self.places)
        together = np.concatenate(self.places)
        if self.length and not np.array_equal(np.sort(together), np.arange(self.length)):
            raise InputError("map", _shown(together), f"each place from 0 to {self.length - 1} once, over all parts")

    @property
    def parts(self) -> int:
        return len(self.places)

    def check(self, length: int) -> None:
        if self.length != length:
            raise InputError("map", f"of {self.length} places", f"a map of {length}, the length to deal out")

    def runs(self, length: int) -> Runs:
        owners, places = np.empty(length, dtype=np.int64), np.empty(length, dtype=np.int64)
        for part, held in enumerate(self.places):
            owners[held], places[held] = part, np.arange(len(held))
        begins = np.ones(length, dtype=bool)
        begins[1:] = (np.diff(owners) != 0) | (np.diff(places) != 1)
        starts = np.flatnonzero(begins)
        return Runs(starts, owners[starts], places[starts], max(1, length), self.counts(length))

    def counts(self, length: int) -> Places:
        return np.array([len(part) for part in self.places], dtype=np.int64)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, IndexMap)
            and self.parts == other.parts
            and all(np.array_equal(mine, yours) for mine, yours in zip(self.places, other.places, strict=True))
        )

    def __hash__(self) -> int:
        return hash((self.parts, self.length))


def _shown(places: Places) -> str:
    """The first places of a map that is wrong."""
    return ", ".join(str(place) for place in places[:8]) + (", ..." if len(places) > 8 else "")
