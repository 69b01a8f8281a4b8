"""Every pair of so many ranks as a sequence: 4,096 ranks have eight million pairs, which nobody has to keep."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import overload

Edge = tuple[int, int, float]


class AllPairs(Sequence[Edge]):
    """(a, b, 1.0) for every two ranks a < b, in their order; each is made when it is asked for.

    >>> list(AllPairs(3)), AllPairs(4096)[-1], len(AllPairs(4096))
    ([(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0)], (4094, 4095, 1.0), 8386560)
    """

    __slots__ = ("ranks",)

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks

    def __len__(self) -> int:
        return self.ranks * (self.ranks - 1) // 2

    @overload
    def __getitem__(self, place: int) -> Edge: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Edge, ...]: ...
    def __getitem__(self, place: int | slice) -> Edge | tuple[Edge, ...]:
        if isinstance(place, slice):
            return tuple(self[at] for at in range(*place.indices(len(self))))
        from_end = len(self) - 1 - (place if place >= 0 else len(self) + place)
        if not 0 <= from_end < len(self):
            raise IndexError(place)
        row = (math.isqrt(8 * from_end + 1) - 1) // 2  # the last rank but one has one pair, the one before two
        return self.ranks - 2 - row, self.ranks - 1 - (from_end - row * (row + 1) // 2), 1.0

    def __iter__(self) -> Iterator[Edge]:
        return ((a, b, 1.0) for a, b in combinations(range(self.ranks), 2))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AllPairs) and self.ranks == other.ranks

    def __hash__(self) -> int:
        return hash((AllPairs, self.ranks))

    def __repr__(self) -> str:
        return f"AllPairs({self.ranks})"
