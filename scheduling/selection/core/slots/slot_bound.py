"""More than this no placement with several ranks on a node can be worth: the proof for what a quick search found.

Source: Selection 1999, figure 2, whose parts hold slots here in place of nodes. On networks without cycles the bound is
met for every pattern that is connected.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.slots.slot_room import Room
from scheduling.selection.core.trees.packing import pack
from scheduling.selection.core.trees.usable_network import Floats, Groups, Ints, Network

#: More groups of ranks are not packed but only counted.
MOST_PACKED = 64


@dataclass(frozen=True)
class Bound:
    """More than `value` no placement is worth, -inf where there is none. nodes: for a pattern that is connected, nodes
    of a part that is joined at that value and has slots enough; on networks without cycles they reach it."""

    value: float
    nodes: Ints | None = None


def highest_worth(aim: Floats, pattern: Pattern, room: Room) -> Bound:
    """Of the lowest of a matrix over the pattern's ranks and pairs.

    aim: n x n symmetric, on the diagonal what a node is worth to a rank. Cost: O(n^2) for a spanning tree, then
    O(n log n) for each of the O(log n) levels that are tried.
    """
    worth = np.diagonal(aim)
    return _highest(_spanning_tree(aim), worth, worth, pattern, room)


def _highest(
    links: Sequence[tuple[int, int, float]], worth: Floats, of_nodes: Floats, pattern: Pattern, room: Room
) -> Bound:
    """The highest level at which slots are enough; `worth`: of all vertices, `of_nodes`: of those that can be a level
    by themselves."""
    sizes = [len(part) for part in pattern.components()]
    if len(sizes) == 1 and room.nodes is None and room.domains is None:
        levels = np.array([_first_enough(links, worth, room.capacity, sizes[0])])
    else:
        levels = np.unique(np.concatenate([[value for _, _, value in links], of_nodes]))
    levels = levels[levels > -np.inf]
    rising = range(len(levels))
    first_bad = bisect_left(rising, True, key=lambda i: not _fits(float(levels[i]), links, worth, sizes, room))
    if not first_bad:
        return Bound(-np.inf)
    value = float(levels[first_bad - 1])
    large = [part for part in _parts(value, links, worth, room) if _holds(part, sizes[0], room)]
    return Bound(value, _fewest(large[0], sizes[0], room) if len(sizes) == 1 else None)


def _first_enough(links: Sequence[tuple[int, int, float]], worth: Floats, capacity: Ints, ranks: int) -> float:
    """The highest level at which one part has slots enough, by one sweep over the links in falling order; -inf where
    none ever has. Cost: one sort, and O(1) for each link, amortized."""
    slots, limit = capacity.tolist(), worth.tolist()
    best = max((limit[node] for node, has in enumerate(slots) if has >= ranks), default=-np.inf)
    groups = Groups(len(slots))
    falling = sorted(((min(value, limit[a], limit[b]), a, b) for a, b, value in links), reverse=True)
    for value, a, b in falling:
        if value <= best:
            break
        first, second = groups.root(a), groups.root(b)
        if first == second:
            continue
        groups.join(first, second)
        slots[groups.root(second)] = total = slots[first] + slots[second]
        if total >= ranks:
            return float(value)
    return float(best)


def _fewest(nodes: Ints, ranks: int, room: Room) -> Ints:
    """Of a part as few nodes as hold all ranks, or as many as were asked for: those with the most slots."""
    falling = nodes[np.argsort(-room.capacity[nodes], kind="stable")]
    enough = int(np.searchsorted(np.cumsum(room.capacity[falling]), ranks)) + 1
    return falling[: room.nodes or enough]


def _parts(level: float, links: Sequence[tuple[int, int, float]], worth: Floats, room: Room) -> list[Ints]:
    """The nodes with slots of each part that is joined at a level."""
    usable = worth >= level
    groups = Groups(len(worth))
    for a, b, value in links:
        if value >= level and usable[a] and usable[b]:
            groups.join(a, b)
    nodes = np.flatnonzero(usable & (room.capacity > 0))
    part = np.array([groups.root(node) for node in nodes.tolist()])
    order = np.argsort(part, kind="stable")
    return np.split(nodes[order], np.flatnonzero(np.diff(part[order])) + 1) if len(nodes) else []


def _fits(level: float, links: Sequence[tuple[int, int, float]], worth: Floats, sizes: list[int], room: Room) -> bool:
    """Whether slots are enough in the parts that are joined at a level."""
    parts = _parts(level, links, worth, room)
    nodes = np.concatenate(parts) if parts else np.array([], dtype=np.int64)
    if not len(nodes) or (room.nodes is not None and len(nodes) < room.nodes):
        return False
    if len(sizes) == 1:
        return any(_holds(each, sizes[0], room) for each in parts)
    if _most(room.capacity[nodes], room.nodes) < sum(sizes):
        return False
    bins = [int(room.capacity[each].sum()) for each in parts]
    return max(bins) >= sizes[0] if len(sizes) > MOST_PACKED else pack(sizes, bins) is not None


def _holds(nodes: Ints, ranks: int, room: Room) -> bool:
    """Whether a part has slots, nodes and allowed places enough for a pattern that is connected."""
    if room.nodes is not None and len(nodes) < room.nodes:
        return False
    if _most(room.capacity[nodes], room.nodes) < ranks:
        return False
    return room.domains is None or bool(room.domains[:, nodes].any(axis=1).all())


def _most(capacity: Ints, nodes: int | None) -> int:
    """The most slots on so many of the nodes."""
    return int(capacity.sum() if nodes is None else np.sort(capacity)[-nodes:].sum())


def _spanning_tree(aim: Floats) -> list[tuple[int, int, float]]:
    """Links (a, b, worth) of a tree over which every two nodes have the widest way that the matrix offers."""
    count = len(aim)
    if count < 2:
        return []
    best, source = aim[0].copy(), np.zeros(count, dtype=np.int64)
    outside = np.ones(count, dtype=bool)
    outside[0] = False
    links = []
    for _ in range(count - 1):
        node = int(np.where(outside, best, -np.inf).argmax())
        if not outside[node] or best[node] == -np.inf:
            node = int(np.flatnonzero(outside)[0])
        else:
            links.append((int(source[node]), node, float(best[node])))
        outside[node] = False
        closer = aim[node] > best
        best[closer], source[closer] = aim[node][closer], node
    return links


def highest_on_network(network: Network, caps: Sequence[float] | None, pattern: Pattern, room: Room) -> Bound:
    """The same from the links of a network without cycles: for more nodes than a matrix of all pairs is made of.

    caps: what each compute node is worth to a rank. Cost: O(links) for each of O(log links) levels.
    """
    switches = network.size - network.count
    limit = np.full(network.count, np.inf) if caps is None else np.asarray(caps, dtype=np.float64)
    worth = np.concatenate([limit, np.full(switches, np.inf)])
    links = list(zip(network.u.tolist(), network.v.tolist(), network.w.tolist(), strict=True))
    return _highest(links, worth, limit, pattern, _with_switches(room, switches))


def _with_switches(room: Room, switches: int) -> Room:
    """With vertices that have no room."""
    capacity = np.concatenate([room.capacity, np.zeros(switches, dtype=np.int64)])
    domains = room.domains
    if domains is not None:
        domains = np.concatenate([domains, np.zeros((len(domains), switches), dtype=bool)], axis=1)
    return Room(capacity, room.nodes, domains)
