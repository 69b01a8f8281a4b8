"""The next best groups that differ from those before in several nodes: what a trial or a person can tell apart.

Not in the papers: Pattern 2003, 2.4 takes all groups that are feasible once the last deletions are undone, and 3.3 the
best three of them; those often differ in one node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from scheduling.selection.core.threshold import Group, OutOfTime, Ranked

#: So many times as many groups are asked for as are wanted, to take those that differ enough.
MORE = 4

Ask = Callable[[Sequence[int], int], list[Ranked]]
Strength = Callable[[int], tuple[float, ...]]


def differ(one: Group, other: Group) -> int:
    """In how many nodes two groups differ: the larger of what each has that the other has not."""
    first, second = set(one), set(other)
    return max(len(first - second), len(second - first))


def unlike_groups(ask: Ask, nodes: Sequence[int], k: int, least: int, strength: Strength) -> list[Ranked]:
    """At most `k` groups, best first, each of which differs from every one before it in `least` nodes at least.

    `ask`: the best groups on some of the `nodes`, so many of them. Finds: of the next best groups as they come those
    that differ enough; where these are too few, the best without the weakest nodes of those that were taken, which is
    no promise that there is no better one. Cost: at most `k` questions.

    >>> lists = {8: [Ranked(9.0, (0, 1), True), Ranked(8.0, (0, 2), True)], 1: [Ranked(7.0, (2, 3), True)]}
    >>> found = unlike_groups(lambda nodes, count: lists[count], range(4), 2, 2, lambda node: (node,))
    >>> [each.group for each in found]
    [(0, 1), (2, 3)]
    """
    found: list[Ranked] = []
    for each in ask(nodes, MORE * k):
        if len(found) < k and all(differ(each.group, other.group) >= least for other in found):
            found.append(each)
    while found and len(found) < k:
        left = _without(nodes, [each.group for each in found], least, strength)
        try:
            following = ask(left, 1)
        except OutOfTime:
            break
        if not following:
            break
        found.append(replace(following[0], proved=False))
    return sorted(found, key=lambda each: -each.value)


def _without(nodes: Sequence[int], groups: Sequence[Group], least: int, strength: Strength) -> list[int]:
    """The nodes without the weakest of each group, as many as are to differ."""
    left_out: set[int] = set()
    for group in groups:
        own = set(group)
        order = sorted(own - left_out, key=strength)
        left_out.update(order[: max(0, min(least, len(own)) - len(own & left_out))])
    return [node for node in nodes if node not in left_out]
