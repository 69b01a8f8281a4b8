"""Layouts: how an array is laid out over the ranks of a program, and the data maps that follow from it.

An array of any number of dimensions is dealt out dimension by dimension (`dealing`) to a process grid whose ranks are
numbered row by row, as BLACS does; dimensions beyond those of the grid stay whole. A replicated array is whole on every
rank. All that a data map says follows from shape, layout and number of ranks alone (Migration 2003, 8.3), so that it is
known for a configuration that does not run yet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from gridportal.base.checked_numbers import whole
from gridportal.base.errors import InputError
from gridportal.runtime.srs.dealing import MOST, BlockCyclic, Dealing, IndexMap, Shares

_FORMS = (
    "replicated:P, block:P, cyclic:P, block-cyclic:B:P or shares:N0,N1,..., "
    "with two dimensions block-cyclic:MBxNB:PRxPC and the like"
)
#: Ranks of a layout that a text may ask for.
MOST_RANKS = 2**20


@dataclass(frozen=True, slots=True)
class Panel:
    """A block of an array that one rank holds in one piece: where it begins in the whole array, how large it is, and
    where it begins in the rank's own array; a number for each dimension."""

    start: tuple[int, ...]
    shape: tuple[int, ...]
    place: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """`dealings`: a way for each dimension of the process grid; none: the array is whole on each of `copies` ranks."""

    dealings: tuple[Dealing, ...] = ()
    copies: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.ranks <= MOST_RANKS:
            raise InputError("layout", self.text, f"one for 1 to {MOST_RANKS:,} ranks")

    @property
    def grid(self) -> tuple[int, ...]:
        """Parts in each dimension of the process grid."""
        return tuple(dealing.parts for dealing in self.dealings)

    @property
    def ranks(self) -> int:
        """How many ranks the array is laid out over."""
        return math.prod(self.grid) if self.dealings else self.copies

    @property
    def text(self) -> str:
        """As `parsed` reads it; of an index map only that it is one.

        >>> parsed("block-cyclic:64x32:2x3").text
        'block-cyclic:64x32:2x3'
        """
        if not self.dealings:
            return f"replicated:{self.copies}"
        names = [dealing.text.partition(":") for dealing in self.dealings]
        if len({name for name, _, _ in names}) > 1:
            return " x ".join(dealing.text + f":{dealing.parts}" for dealing in self.dealings)
        kind, sizes = names[0][0], "x".join(size for _, _, size in names)
        grid = "" if kind == "shares" else ":" + "x".join(str(parts) for parts in self.grid)
        return kind + (f":{sizes}" if sizes.strip("x") else "") + grid

    def check(self, shape: Sequence[int], ranks: int | None = None) -> None:
        """Raise InputError unless an array of this shape can be laid out in this way, over `ranks` where given."""
        if len(self.dealings) > len(shape):
            raise InputError("layout", self.text, f"one of at most {len(shape)} dimensions, as the array has")
        if ranks is not None and ranks != self.ranks:
            raise InputError("layout", self.text, f"one for {ranks} ranks")
        for dealing, length in zip(self.dealings, shape, strict=False):
            dealing.check(length)

    def coordinates(self, rank: int) -> tuple[int, ...]:
        """The place of a rank in the process grid."""
        return tuple(int(place) for place in np.unravel_index(rank, self.grid)) if self.dealings else ()

    def local_shape(self, shape: Sequence[int], rank: int) -> tuple[int, ...]:
        """The shape of the array that `rank` holds of a whole array of `shape`.

        >>> parsed("block-cyclic:2x2:2x2").local_shape((5, 6), 0)
        (3, 4)
        """
        self.check(shape)
        here = self.coordinates(rank)
        dealt = [int(d.counts(n)[c]) for d, n, c in zip(self.dealings, shape, here, strict=False)]
        return (*dealt, *shape[len(dealt) :])

    def local_sizes(self, shape: Sequence[int]) -> list[int]:
        """How many elements each rank holds of a whole array of `shape`; one number where it is replicated.

        >>> parsed("block-cyclic:2x2:2x2").local_sizes((5, 6))
        [12, 6, 8, 4]
        """
        self.check(shape)
        sizes = [math.prod(shape[len(self.dealings) :])]
        for dealing, length in zip(self.dealings, shape, strict=False):
            counts = dealing.counts(length).tolist()
            sizes = [size * count for size in sizes for count in counts]
        return sizes

    def panels(self, shape: Sequence[int], rank: int) -> Iterator[Panel]:
        """The blocks of `rank`, in the order of the whole array: its data map."""
        self.check(shape)
        sides = [
            _sides(dealing, length, part)
            for dealing, length, part in zip(self.dealings, shape, self.coordinates(rank), strict=False)
        ]
        rest = [[(0, length, 0)] if length else [] for length in shape[len(sides) :]]
        for chosen in product(*sides, *rest):
            starts, sizes, places = zip(*chosen, strict=True) if chosen else ((), (), ())
            yield Panel(starts, sizes, places)

    def panel_count(self, shape: Sequence[int], rank: int) -> int:
        """How many panels `rank` has, without making them."""
        here = self.coordinates(rank)
        dealt = [_run_count(d, n, c) for d, n, c in zip(self.dealings, shape, here, strict=False)]
        return math.prod(dealt) if all(shape[len(dealt) :]) else 0


def _sides(dealing: Dealing, length: int, part: int) -> list[tuple[int, int, int]]:
    """Start, length and own place of each run of a part."""
    runs = dealing.runs(length).until(length)
    sizes = np.diff(np.append(runs.starts, length))
    mine = runs.owners == part
    return list(zip(runs.starts[mine].tolist(), sizes[mine].tolist(), runs.places[mine].tolist(), strict=True))


def _run_count(dealing: Dealing, length: int, part: int) -> int:
    """How many runs of `length` elements a part has, without writing out those that repeat."""
    runs = dealing.runs(length)
    mine = runs.starts[runs.owners == part]
    times, rest = divmod(length, runs.period)
    return times * len(mine) + int(np.count_nonzero(mine < rest))


def block(*grid: int) -> Layout:
    """One block a rank: of N elements over P ranks N/P, rounded up."""
    return Layout(tuple(BlockCyclic(parts) for parts in _counts("grid", grid)))


def cyclic(*grid: int) -> Layout:
    """Element after element in turn."""
    return Layout(tuple(BlockCyclic(parts, 1) for parts in _counts("grid", grid)))


def block_cyclic(blocks: Sequence[int], grid: Sequence[int]) -> Layout:
    """Blocks of `blocks[d]` elements in turn over `grid[d]` parts in each dimension d."""
    sizes, parts = _counts("blocks", blocks), _counts("grid", grid)
    if len(sizes) != len(parts):
        raise InputError("layout", f"{len(sizes)} block sizes", f"one for each of the {len(parts)} dimensions")
    return Layout(tuple(BlockCyclic(count, size) for size, count in zip(sizes, parts, strict=True)))


def _counts(field: str, values: Sequence[int]) -> list[int]:
    """A whole number from 1 for each dimension. Raises InputError.

    >>> _counts("grid", [2, 2.5])
    Traceback (most recent call last):
    gridportal.base.errors.InputError: grid[1] is 2.5; accepted is a whole number from 1 to 9,007,199,254,740,992.
    """
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InputError(field, values, "a list with a whole number for each dimension")
    numbers = [int(each) if isinstance(each, np.integer) else each for each in values]
    return [whole(f"{field}[{place}]", number, 1, MOST) for place, number in enumerate(numbers)]


def shares(*lengths: Sequence[int]) -> Layout:
    """A piece of its own length for each part, in each dimension."""
    return Layout(tuple(Shares(tuple(int(length) for length in pieces)) for pieces in lengths))


def index_map(*places: Sequence[Any]) -> Layout:
    """For each dimension the places of the elements of each part, in the part's own order."""
    return Layout(tuple(IndexMap(parts) for parts in places))


def replicated(copies: int) -> Layout:
    """The whole array on each of `copies` ranks."""
    return Layout((), copies)


def parsed(text: str, field: str = "layout") -> Layout:
    """The layout that a text names. Raises InputError that says which part of it is wrong.

    >>> parsed("cyclic:4") == cyclic(4), parsed("shares:3,0,2") == shares([3, 0, 2])
    (True, True)
    """
    kind, *rest = text.strip().split(":")
    readers = {"replicated": 1, "block": 1, "cyclic": 1, "block-cyclic": 2, "shares": 1}
    if readers.get(kind) != len(rest):
        raise InputError(field, text, _FORMS)
    if kind == "shares":
        return shares(*([_number(field, text, n, 0) for n in piece.split(",")] for piece in rest[0].split("x")))
    sizes = [[_number(field, text, number, 1) for number in part.split("x")] for part in rest]
    if kind == "replicated" and len(sizes[0]) == 1:
        return replicated(sizes[0][0])
    if kind == "block-cyclic" and len(sizes[0]) == len(sizes[1]):
        return block_cyclic(*sizes)
    if kind in ("block", "cyclic"):
        return block(*sizes[0]) if kind == "block" else cyclic(*sizes[0])
    raise InputError(field, text, _FORMS)


def _number(field: str, text: str, word: str, least: int) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 17 and least <= int(word) <= MOST):
        raise InputError(field, text, f"{_FORMS}; {word or 'nothing'} is no whole number from {least}")
    return int(word)


def dump(layout: Layout) -> dict[str, Any]:
    """A layout as JSON."""
    if not layout.dealings:
        return {"replicated": layout.copies}
    return {"dimensions": [_dumped(dealing) for dealing in layout.dealings]}


def _dumped(dealing: Dealing) -> dict[str, Any]:
    if isinstance(dealing, BlockCyclic):
        return {"parts": dealing.parts, "block": dealing.block}
    if isinstance(dealing, Shares):
        return {"shares": list(dealing.lengths)}
    if isinstance(dealing, IndexMap):
        return {"map": [part.tolist() for part in dealing.places]}
    raise TypeError(dealing)


def load(document: Any, field: str = "layout") -> Layout:
    """The layout of a document of `dump`. Raises InputError."""
    if not isinstance(document, Mapping):
        raise InputError(field, document, "an object")
    if "replicated" in document:
        return replicated(whole(f"{field}.replicated", document["replicated"], 1, MOST))
    dimensions = document.get("dimensions")
    if not isinstance(dimensions, list) or not dimensions:
        raise InputError(f"{field}.dimensions", dimensions, "a list with an entry for each dimension")
    return Layout(tuple(_loaded(entry, f"{field}.dimensions[{i}]") for i, entry in enumerate(dimensions)))


def _loaded(entry: Any, field: str) -> Dealing:
    if not isinstance(entry, Mapping):
        raise InputError(field, entry, "an object")
    if "shares" in entry:
        return Shares(tuple(_wholes(entry["shares"], f"{field}.shares")))
    if "map" in entry:
        if not isinstance(entry["map"], list):
            raise InputError(f"{field}.map", entry["map"], "a list for each part")
        return IndexMap([_wholes(part, f"{field}.map[{i}]") for i, part in enumerate(entry["map"])])
    size = entry.get("block")
    parts = whole(f"{field}.parts", entry.get("parts"), 1, MOST)
    return BlockCyclic(parts, None if size is None else whole(f"{field}.block", size, 1, MOST))


def _wholes(values: Any, field: str) -> list[int]:
    if not isinstance(values, list):
        raise InputError(field, values, "a list of whole numbers")
    return [whole(f"{field}[{i}]", value, 0, MOST) for i, value in enumerate(values)]
