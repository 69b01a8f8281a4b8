"""What reading the arrays of a program moves when it goes on elsewhere, from the map that it has told.

Source: Migration 2003, 8.3: the rescheduler makes the data maps of the configuration that runs and of the one to come.
The one to come the program makes itself when it starts there. Here it is taken to be of the same kind with the same
blocks: in two dimensions on a grid as square as can be where the present one is, else in one row or column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gridportal.base.errors import InputError
from gridportal.runtime.srs.dealing import BlockCyclic
from gridportal.runtime.srs.layouts import Layout, parsed, replicated
from gridportal.runtime.srs.redistribution import Message
from scheduling.checkpoints.core.plan_bounds import bounded
from scheduling.checkpoints.core.redistribution_time import ArrayMove, Pair, array_move
from scheduling.performance.core.rank_grid import grid_of
from scheduling.runs.core.checkpoint_manifest import ArrayFacts

#: With more messages than that their simulation takes longer than somebody waits.
_MOST_MESSAGES = 2000
#: So many arrays, the largest, are simulated one by one; all others together as one.
_ONE_BY_ONE = 4


def on_ranks(layout: Layout, ranks: int) -> Layout:
    """The layout with so many ranks. Raises InputError for one that only its program can make anew.

    >>> [on_ranks(parsed(text), 8).text for text in ("block:3", "cyclic:2x2", "block-cyclic:64x64:4x1", "replicated:3")]
    ['block:8', 'cyclic:2x4', 'block-cyclic:64x64:8x1', 'replicated:8']
    """
    if ranks == layout.ranks:
        return layout
    if not layout.dealings:
        return replicated(ranks)
    dealt = [each for each in layout.dealings if isinstance(each, BlockCyclic)]
    if len(dealt) < len(layout.dealings) or len(dealt) > 2:
        raise InputError("layout", layout.text, "one of blocks in one or two dimensions")
    grid = _grid(layout.grid, ranks)
    return Layout(tuple(replace(each, parts=parts) for each, parts in zip(dealt, grid, strict=True)))


def _grid(before: tuple[int, ...], ranks: int) -> tuple[int, ...]:
    if len(before) == 1:
        return (ranks,)
    rows, columns = before
    if 1 in before and grid_of(rows * columns)[0] > 1:  # it could be squarer, and is not
        return (1, ranks) if rows == 1 else (ranks, 1)
    return grid_of(ranks)[::-1] if rows > columns else grid_of(ranks)


def reads(arrays: Sequence[ArrayFacts], old: Sequence[str], new: Sequence[str]) -> list[ArrayMove]:
    """What each array moves between the nodes `old` and `new`, both rank by rank, the largest first; of many the small
    ones together. Raises InputError where the map is not of so many ranks, or does not say how it would be on others;
    and for too many messages."""
    moves = [array_move(_messages(each, len(old), len(new)), old, new) for each in arrays]
    moves.sort(key=lambda move: sum(move.moved.values()), reverse=True)
    return [*moves[:_ONE_BY_ONE], *([_together(rest)] if (rest := moves[_ONE_BY_ONE:]) else [])]


def _together(moves: Sequence[ArrayMove]) -> ArrayMove:
    moved, readers = Counter[Pair](), Counter[Pair]()
    for each in moves:
        moved.update(each.moved)
        readers |= Counter(each.readers)
    return ArrayMove(moved, readers)


def _messages(array: ArrayFacts, old: int, new: int) -> list[Message]:
    layout = parsed(array.layout)
    if layout.ranks != old:
        raise InputError("layout", array.layout, f"one of {old} ranks")
    way = bounded(layout, on_ranks(layout, new), array.shape)
    if way.message_count() > _MOST_MESSAGES:
        raise InputError("layout", array.layout, f"one with at most {_MOST_MESSAGES:,} messages to {new} ranks")
    try:
        return way.messages(np.dtype(array.dtype).itemsize)
    except TypeError as error:
        raise InputError("dtype", array.dtype, "a type of numpy") from error
