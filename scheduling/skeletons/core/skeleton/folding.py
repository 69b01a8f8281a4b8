"""A long row of symbols as loops: what stands there twice or more in a row becomes a loop around it.

The row is read once; after each symbol the end of what was read is compared with what stands before it, for all body
lengths up to a window. Loops of loops come about by themselves. O(symbols * window) comparisons of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

WINDOW = 256


@dataclass(frozen=True, slots=True)
class Repeat:
    """`body`, `count` times in a row; the numbers in a body are symbols."""

    count: int
    body: tuple[int | Repeat, ...]


Tree = tuple[int | Repeat, ...]


def fold(symbols: Iterable[int], window: int = WINDOW) -> Tree:
    """The row as a tree of loops: `tuple(unfold(fold(row))) == tuple(row)`.

    >>> fold([1, 2, 2, 2, 1, 2, 2, 2, 3])
    (Repeat(count=2, body=(1, Repeat(count=3, body=(2,)))), 3)
    """
    row: list[int | Repeat] = []
    for symbol in symbols:
        row.append(symbol)
        while _shorten(row, window):
            pass
    return tuple(row)


def unfold(tree: Tree) -> Iterator[int]:
    """The symbols in their order."""
    for node in tree:
        if isinstance(node, Repeat):
            for _ in range(node.count):
                yield from unfold(node.body)
        else:
            yield node


def _shorten(row: list[int | Repeat], window: int) -> bool:
    """Fold the end of the row if it repeats what stands before it."""
    last = row[-1]
    for length in range(1, min(window, len(row) - 1) + 1):
        before = row[-1 - length]
        if isinstance(before, Repeat) and len(before.body) == length and before.body == tuple(row[-length:]):
            row[-1 - length :] = [Repeat(before.count + 1, before.body)]
            return True
        if before == last and 2 * length <= len(row) and row[-2 * length : -length] == row[-length:]:
            row[-2 * length :] = [Repeat(2, tuple(row[-length:]))]
            return True
    return False
