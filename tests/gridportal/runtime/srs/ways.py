"""Ways to lay out arrays for property tests, and element by element where each is then."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gridportal.runtime.srs import layouts
from gridportal.runtime.srs.dealing import BlockCyclic, Dealing, IndexMap, Shares
from gridportal.runtime.srs.layouts import Layout

BLOCKS = st.sampled_from([None, 1, 2, 3, 5, 8, 64, 1000])


@st.composite
def dealings(draw: Any, length: int) -> Dealing:
    """Any way to deal out a dimension of this length over up to seven parts."""
    parts, kind = draw(st.integers(1, 7)), draw(st.sampled_from(["blocks", "shares", "map"]))
    if kind == "blocks":
        return BlockCyclic(parts, draw(BLOCKS))
    if kind == "shares":
        cuts = sorted(draw(st.lists(st.integers(0, length), min_size=parts - 1, max_size=parts - 1)))
        return Shares(tuple(int(n) for n in np.diff([0, *cuts, length])))
    order = draw(st.permutations(range(length)))
    cuts = sorted(draw(st.lists(st.integers(0, length), min_size=parts - 1, max_size=parts - 1)))
    return IndexMap(np.split(np.array(order, dtype=np.int64), cuts))


@st.composite
def ways(draw: Any, shape: tuple[int, ...]) -> Layout:
    """Any layout of an array of this shape."""
    if draw(st.integers(0, 5)) == 0:
        return layouts.replicated(draw(st.integers(1, 4)))
    dimensions = draw(st.integers(1, len(shape)))
    return Layout(tuple(draw(dealings(length)) for length in shape[:dimensions]))


SHAPES = st.one_of(
    st.tuples(st.integers(0, 60)),
    st.tuples(st.integers(0, 14), st.integers(0, 14)),
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)),
)


def where(dealing: Dealing, length: int) -> tuple[list[int], list[int]]:
    """Element by element: the part that has it, and its place there."""
    if isinstance(dealing, BlockCyclic):
        block = dealing.block or max(1, -(-length // dealing.parts))
        return (
            [g // block % dealing.parts for g in range(length)],
            [g // block // dealing.parts * block + g % block for g in range(length)],
        )
    held = dealing.places if isinstance(dealing, IndexMap) else _pieces(dealing)
    owners, places = [0] * length, [0] * length
    for part, elements in enumerate(held):
        for place, element in enumerate(elements):
            owners[element], places[element] = part, place
    return owners, places


def _pieces(dealing: Any) -> list[range]:
    ends = np.cumsum((0, *dealing.lengths)).tolist()
    return [range(begin, end) for begin, end in pairwise(ends)]


def local(layout: Layout, whole: np.ndarray, rank: int) -> np.ndarray:
    """What a rank has of an array, taken element by element."""
    kept = []
    for axis, (dealing, part) in enumerate(zip(layout.dealings, layout.coordinates(rank), strict=True)):
        owners, places = where(dealing, whole.shape[axis])
        mine = [g for g in range(whole.shape[axis]) if owners[g] == part]
        kept.append(np.array(sorted(mine, key=lambda g: places[g]), dtype=int))
    kept += [np.arange(length) for length in whole.shape[len(kept) :]]
    return whole[np.ix_(*kept)].copy()
