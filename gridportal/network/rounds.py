"""Rounds of measurements that do not disturb each other: in a round no two pairs share a node, or a link.

A pair stands for both directions, measured one after the other: at once, the acknowledgements of the one would wait in
the queue of the other. What measuring takes of a link is bounded by the share of it that probes may use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from gridportal.network.routes import Routes
from gridportal.network.topology import Topology

Pair = tuple[str, str]
#: One direction of a link, by its ends.
Direction = tuple[str, str]
Links = Callable[[str, str], Iterable[Hashable]]
Ways = Callable[[str, str], Sequence[Direction]]
Parts = Callable[[str, str], Sequence[tuple[Direction, float]]]


def tournament(names: Sequence[str]) -> list[list[Pair]]:
    """Every pair of `names` once, in the fewest rounds: n - 1 for even n, n for odd (the circle method), O(n^2).

    >>> tournament(["a", "b", "c", "d"])
    [[('a', 'd'), ('b', 'c')], [('a', 'c'), ('d', 'b')], [('a', 'b'), ('c', 'd')]]
    """
    rounds = [tournament_round(names, index) for index in range(tournament_length(len(names)))]
    return [pairs for pairs in rounds if pairs]


def tournament_length(count: int) -> int:
    """How many rounds a tournament of `count` has."""
    return max(0, count - 1 + count % 2)


def tournament_round(names: Sequence[str], index: int) -> list[Pair]:
    """Round `index` of the tournament alone, O(n): the first stays, the others move on by one place a round."""
    circle: list[str | None] = [*names, *([None] if len(names) % 2 else [])]
    if not circle:
        return []
    others = circle[1:]
    shift = index % len(others)
    turned = [circle[0], *others[len(others) - shift :], *others[: len(others) - shift]]
    half = len(turned) // 2
    facing = zip(turned[:half], reversed(turned[half:]), strict=True)
    return [(a, b) for a, b in facing if a is not None and b is not None]


def apart(names: Sequence[str], links: Links) -> list[list[Pair]]:
    """Every pair once, in rounds where no two share a node or one of their `links(a, b)`.

    The tournament where no two pairs of its rounds meet on a link, as on a star; else the shorter of two greedy plans,
    which need not be the shortest: the tournament's rounds taken apart, and the longest paths first, each in the first
    round with room. O(pairs * rounds * length of a path).
    """
    plan = tournament(names)
    parted = [part for pairs in plan for part in split(pairs, links)]
    if len(parted) == len(plan):
        return plan
    used = {pair: len({*links(*pair)}) for pair in combinations(names, 2)}
    greedy = split(sorted(used, key=lambda pair: -used[pair]), links)
    return min(parted, greedy, key=len)


def split(pairs: Iterable[Pair], links: Links, most: int | None = None) -> list[list[Pair]]:
    """`pairs` in rounds where no two share a node or a link: each in the first round with room, in the order given.

    With `most` rounds at most; a pair for which none has room is then left out. O(pairs * rounds * length of a path).
    """
    rounds: list[tuple[list[Pair], set[Hashable]]] = []
    for pair in pairs:
        needed = {*pair, *links(*pair)}
        for chosen, taken in rounds:
            if taken.isdisjoint(needed):
                chosen.append(pair)
                taken |= needed
                break
        else:
            if most is None or len(rounds) < most:
                rounds.append(([pair], needed))
    return [chosen for chosen, _ in rounds]


def ways_of(topology: Topology) -> Ways:
    """From source to target the directed links that carry the data; none where there is no way.

    On a crossbar of pairs each ordered pair has a link of its own.
    """
    parts = parts_of(topology)
    return lambda source, target: [link for link, _ in parts(source, target)]


def parts_of(topology: Topology) -> Parts:
    """The same with the part of the data that each link carries, which is all of it unless paths share it (ECMP)."""
    if topology.kind == "pairs":
        own = {(link.source, link.target) for link in topology.links}
        if not topology.directed:
            own |= {(b, a) for a, b in own}
        return lambda a, b: [((a, b), 1.0)] if (a, b) in own else []
    routes = Routes(topology)

    def parts(source: str, target: str) -> list[tuple[Direction, float]]:
        path = routes.path(source, target)
        names = topology.nodes
        loads = () if path is None else path.loads
        return [((names[routes.tail[arc]].id, names[routes.head[arc]].id), part) for arc, part in loads]

    return parts


def both_ways(ways: Ways) -> Links:
    """The links that a pair uses in either direction, by their two ends: data one way is acknowledged the other."""

    def links(a: str, b: str) -> set[frozenset[str]]:
        return {frozenset(link) for link in (*ways(a, b), *ways(b, a))}

    return links


def room(
    capacities: Mapping[Direction, float], share: float, size: int, since: float, until: float
) -> dict[Direction, int]:
    """How many probes of `size` bytes each direction of a link may carry between two moments (seconds).

    It may carry `share` of its capacity (bit/s) over time: the n-th probe falls due after n * 8 * size / (share *
    capacity) seconds, counted from moment 0. So windows that follow one another never allow more than the share and
    one probe, whoever counts, without anything that must be remembered.

    >>> room({("a", "b"): 1e6}, 0.02, 50_000, 0.0, 60.0), room({("a", "b"): 1e6}, 0.02, 50_000, 50.0, 59.0)
    ({('a', 'b'): 3}, {('a', 'b'): 0})
    """
    found = {}
    for link, capacity in capacities.items():
        rate = share * capacity / (8 * size)
        found[link] = math.floor(until * rate) - math.floor(since * rate)
    return found


def affordable(pairs: Iterable[Pair], ways: Ways, left: Mapping[Direction, int], most: int) -> list[Pair]:
    """The first pairs, at most `most`, both of whose directions fit into what is `left` on all of their links.

    A pair without a way in one direction is measured in the other; without any it is left out. What the first pair that
    does not fit needs is kept for it, so that a pair over a slow link comes to its turn.
    """
    remaining = dict(left)
    chosen: list[Pair] = []
    reserved = False
    for a, b in pairs:
        if len(chosen) >= most:
            break
        needed = [*ways(a, b), *ways(b, a)]
        fits = all(remaining.get(link, 0) >= needed.count(link) for link in needed)
        if needed and (fits or not reserved):
            for link in needed:
                remaining[link] = remaining.get(link, 0) - 1
        if needed and fits:
            chosen.append((a, b))
        reserved = reserved or (bool(needed) and not fits)
    return chosen


def oldest_first(names: Sequence[str], last: Mapping[Pair, float], start: int, most: int) -> Iterator[Pair]:
    """Pairs in the order of their last measurement, those never measured before all, in tournament order from round
    `start` on; of large numbers of nodes only the first `most` that were not measured before, O(most)."""
    length = tournament_length(len(names))
    count = 0
    for index in range(length):
        for pair in tournament_round(names, start + index):
            if pair not in last and count < most:
                count += 1
                yield pair
        if count >= most:
            break
    present = set(names)
    yield from (pair for pair in sorted(last, key=lambda pair: last[pair]) if present.issuperset(pair))


def carried(pairs: Iterable[tuple[Pair, int]], ways: Ways) -> dict[Direction, int]:
    """Bytes on each direction of a link, from what was sent from node to node: the price of probing, link by link."""
    total: dict[Direction, int] = {}
    for (source, target), size in pairs:
        for link in ways(source, target):
            total[link] = total.get(link, 0) + size
    return total
