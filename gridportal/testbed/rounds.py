"""Rounds of measurements that do not disturb each other: in a round no two pairs share a node, or a link."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import combinations

Pair = tuple[str, str]


def tournament(names: Sequence[str]) -> list[list[Pair]]:
    """Every pair of `names` once, in the fewest rounds: n - 1 for even n, n for odd (the circle method), O(n^2).

    >>> tournament(["a", "b", "c", "d"])
    [[('a', 'd'), ('b', 'c')], [('a', 'c'), ('d', 'b')], [('a', 'b'), ('c', 'd')]]
    """
    circle: list[str | None] = [*names, *([None] if len(names) % 2 else [])]
    rounds = []
    for _ in range(len(circle) - 1):
        half = len(circle) // 2
        facing = zip(circle[:half], reversed(circle[half:]), strict=True)
        rounds.append([(a, b) for a, b in facing if a is not None and b is not None])
        circle.insert(1, circle.pop())
    return [pairs for pairs in rounds if pairs]


def apart(names: Sequence[str], links: Callable[[str, str], Iterable[Hashable]]) -> list[list[Pair]]:
    """Every pair once, in rounds where no two share a node or one of their `links(a, b)`.

    Greedy, the longest paths first, each into the first round with room: not always the fewest rounds.
    """
    used = {pair: {*pair, *links(*pair)} for pair in combinations(names, 2)}
    rounds: list[tuple[list[Pair], set[Hashable]]] = []
    for pair in sorted(used, key=lambda pair: -len(used[pair])):
        for pairs, taken in rounds:
            if not taken & used[pair]:
                pairs.append(pair)
                taken |= used[pair]
                break
        else:
            rounds.append(([pair], set(used[pair])))
    return [pairs for pairs, _ in rounds]
