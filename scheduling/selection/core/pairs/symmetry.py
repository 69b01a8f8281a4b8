"""The symmetries of a pattern, as an order on ranks that keeps one placement of each set of equivalent ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from scheduling.selection.core.trees.usable_network import Bools, Groups

MAX_RANKS = 128
STEPS = 20_000

Edges = tuple[tuple[int, int], ...]
Order = tuple[tuple[int, tuple[int, ...]], ...]


@lru_cache(maxsize=256)
def rank_order(ranks: int, edges: Edges, kinds: tuple[int, ...] = ()) -> Order:
    """Pairs (r, others): rank r's node must come before those of `others` in any fixed order of the nodes.

    Finds: for patterns of up to 128 ranks a set of conditions that every placement meets after some renaming of ranks
    by a symmetry of the pattern; so a search under them loses no node set and no value. The first r is the rank to
    start from. `kinds`: a number for each rank, where only ranks of one number may change places (by default all may).
    Where looking for a symmetry takes more than 20,000 steps it is taken to be absent: fewer conditions, still correct.
    Source: J.-F. Puget, Breaking symmetries in all different problems (2005): r before its orbit under the symmetries
    that fix the ranks before it.

    >>> rank_order(4, ((0, 1), (0, 3), (1, 2), (2, 3)))
    ((0, (1, 2, 3)), (1, (3,)))
    >>> rank_order(4, ((0, 1), (0, 3), (1, 2), (2, 3)), (7, 0, 0, 0))
    ((1, (3,)),)
    """
    if ranks > MAX_RANKS:
        return ()
    beside = neighbours(ranks, edges)
    kinds = kinds or (0,) * ranks
    swaps = _twin_swaps(beside, kinds)
    order: list[tuple[int, tuple[int, ...]]] = []
    fixed: list[int] = []
    for r in _walk(beside):
        orbit = _orbit(r, fixed, beside, kinds, swaps)
        if orbit:
            order.append((r, orbit))
        fixed.append(r)
    return tuple(order)


def rank_kinds(domains: Bools) -> tuple[int, ...]:
    """A number for each row of ranks x nodes, the same for ranks that may stand on the same nodes.

    >>> rank_kinds(np.array([[True, False], [True, True], [True, False]]))
    (0, 1, 0)
    """
    first: dict[bytes, int] = {}
    return tuple(first.setdefault(row.tobytes(), len(first)) for row in np.ascontiguousarray(domains))


def neighbours(ranks: int, edges: Iterable[tuple[int, int]]) -> list[set[int]]:
    """The ranks that each rank talks to."""
    beside: list[set[int]] = [set() for _ in range(ranks)]
    for a, b in edges:
        beside[a].add(b)
        beside[b].add(a)
    return beside


def _walk(beside: list[set[int]]) -> list[int]:
    """All ranks breadth first, from the busiest."""
    left = sorted(range(len(beside)), key=lambda r: (-len(beside[r]), r))
    order: list[int] = []
    seen: set[int] = set()
    for start in left:
        queue = [start] if start not in seen else []
        seen.add(start)
        while queue:
            r = queue.pop(0)
            order.append(r)
            fresh = sorted(beside[r] - seen, key=lambda s: (-len(beside[s]), s))
            seen.update(fresh)
            queue += fresh
    return order


def _twin_swaps(beside: list[set[int]], kinds: Sequence[int]) -> list[list[int]]:
    """Ranks with the same partners (leaves of a star, members of a clique) can be exchanged."""
    found = []
    for closed in (False, True):
        alike: dict[tuple[int, frozenset[int]], list[int]] = {}
        for r, partners in enumerate(beside):
            alike.setdefault((kinds[r], frozenset(partners | {r} if closed else partners)), []).append(r)
        for twins in alike.values():
            for a, b in pairwise(twins):
                swap = list(range(len(beside)))
                swap[a], swap[b] = b, a
                found.append(swap)
    return found


def _orbit(
    r: int, fixed: list[int], beside: list[set[int]], kinds: Sequence[int], symmetries: list[list[int]]
) -> tuple[int, ...]:
    """The ranks that a symmetry which fixes `fixed` can put in r's place. Symmetries found are added to
    `symmetries`."""
    groups = Groups(len(beside))
    for symmetry in symmetries:
        if all(symmetry[f] == f for f in fixed):
            for a, b in enumerate(symmetry):
                groups.join(a, b)
    colour = _colours(beside, fixed, kinds)
    for s in range(len(beside)):
        if s in fixed or colour[s] != colour[r] or groups.root(s) == groups.root(r):
            continue
        mapping = _symmetry(r, s, fixed, beside, colour)
        if mapping:
            symmetries.append(mapping)
            for a, b in enumerate(mapping):
                groups.join(a, b)
    home = groups.root(r)
    return tuple(s for s in range(len(beside)) if s != r and groups.root(s) == home)


def _colours(beside: list[set[int]], fixed: Sequence[int], kinds: Sequence[int]) -> list[int]:
    """Colour refinement: ranks with different colours are in different orbits."""
    colour = list(kinds)
    for number, r in enumerate(fixed, max(kinds) + 1):
        colour[r] = number
    while True:
        seen = [(colour[r], tuple(sorted(colour[s] for s in beside[r]))) for r in range(len(beside))]
        names = {key: number for number, key in enumerate(sorted(set(seen)))}
        if len(names) == len(set(colour)):
            return colour
        colour = [names[key] for key in seen]


def _symmetry(r: int, s: int, fixed: list[int], beside: list[set[int]], colour: list[int]) -> list[int] | None:
    """A symmetry that fixes `fixed` and maps r to s, by backtracking along the walk; None when none was found."""
    image = {f: f for f in fixed}
    order = [r, *(x for x in _walk(beside) if x != r and x not in image)]
    steps = STEPS

    def extend(at: int) -> bool:
        nonlocal steps
        if at == len(order):
            return True
        x = order[at]
        used = set(image.values())
        for y in [s] if at == 0 else range(len(beside)):
            steps -= 1
            if steps < 0:
                return False
            if y in used or colour[y] != colour[x]:
                continue
            if all((z in beside[x]) == (w in beside[y]) for z, w in image.items()):
                image[x] = y
                if extend(at + 1):
                    return True
                del image[x]
        return False

    return [image[x] for x in range(len(beside))] if extend(0) else None
