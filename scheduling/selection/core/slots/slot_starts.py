"""Placements to start from, with several ranks on a node: nodes are chosen first, then the ranks that share each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.slots.rank_blocks import rank_blocks
from scheduling.selection.core.slots.slot_room import Room
from scheduling.selection.core.slots.slot_scores import SlotScores
from scheduling.selection.core.threshold import Group
from scheduling.selection.core.trees.usable_network import Floats, Ints

#: Groups are grown from so many nodes at most, and greedy placements made where ranks and pairs that talk, times nodes,
#: are so many at most.
MOST_GROWN, MOST_GREEDY = 32, 60_000
#: The best groups of m of these nodes (places among the usable ones), one rank on each.
ChooseNodes = Callable[[Ints, int], list[Group]]


def node_groups(room: Room, ranks: int, choose: ChooseNodes, sizes: int | None = None) -> Iterator[Ints]:
    """Groups of nodes with slots enough: for each size of node the best of those that are at least as large, as few as
    hold all ranks, or as many as were asked for. `sizes`: by so many sizes only, the largest first."""
    usable = np.flatnonzero(room.capacity > 0)
    if room.domains is not None:
        usable = usable[room.domains[:, usable].any(axis=0)]
    for size in np.unique(np.minimum(room.capacity[usable], ranks))[::-1][:sizes].tolist():
        large = usable[room.capacity[usable] >= size]
        wanted = room.nodes or -(-ranks // size)
        if wanted <= len(large) and np.sort(room.capacity[large])[-wanted:].sum() >= ranks:
            for group in choose(large, wanted):
                nodes = np.array(group, dtype=np.int64)
                if room.capacity[nodes].sum() >= ranks:
                    yield nodes
    if room.nodes is not None and room.nodes <= len(usable):
        largest = usable[np.argsort(-room.capacity[usable], kind="stable")[: room.nodes]]
        if room.capacity[largest].sum() >= ranks:
            yield largest


def grown_groups(aim: Floats, room: Room, ranks: int) -> Iterator[Ints]:
    """Groups grown from the nodes with the most slots and the best links: each time the node that lowers the lowest
    worth of a pair least, of equals the one with the most slots, until they are enough."""
    worth = np.diagonal(aim)
    capacity = np.minimum(room.capacity, ranks)
    usable = (capacity > 0) & (worth > -np.inf)
    strength = np.where(np.isfinite(aim), aim, 0.0).sum(axis=1)
    for start in np.lexsort((-strength, -capacity, ~usable))[:MOST_GROWN].tolist():
        group = [start] if usable[start] else []
        reach, free = np.minimum(aim[start], worth), usable.copy()
        free[start] = False
        while group and not _is_enough(group, capacity, ranks, room.nodes):
            node = int(np.lexsort((-capacity, -np.where(free, reach, -np.inf)))[0])
            if not free[node]:
                group = []
                break
            group.append(node)
            free[node] = False
            reach = np.minimum(reach, aim[node])
        if group and capacity[group].sum() >= ranks:
            yield np.array(group, dtype=np.int64)


def _is_enough(group: list[int], capacity: Ints, ranks: int, nodes: int | None) -> bool:
    return len(group) == nodes if nodes is not None else int(capacity[group].sum()) >= ranks


def sizes_on(nodes: Ints, room: Room, ranks: int) -> list[int]:
    """How many ranks each of the nodes gets when they are filled in this order, each with one at least."""
    left, sizes = ranks, []
    for number, node in enumerate(nodes.tolist()):
        size = min(int(room.capacity[node]), left - (len(nodes) - number - 1))
        sizes.append(size)
        left -= size
    return sizes


def filled(nodes: Ints, room: Room, ranks: int) -> Group:
    """The ranks in their order on the nodes in theirs."""
    return tuple(np.repeat(nodes, sizes_on(nodes, room, ranks)).tolist())


def blocked(
    nodes: Ints, room: Room, pattern: Pattern, by_sizes: dict[tuple[int, ...], list[list[int]]], *, even: bool
) -> Group:
    """Ranks that exchange much together on a node. `even`: about as many on each node, else the nodes are filled.
    `by_sizes`: blocks by their sizes, which groups of like nodes share."""
    sizes = tuple(_even_sizes(nodes, room, pattern.ranks) if even else sizes_on(nodes, room, pattern.ranks))
    if sizes not in by_sizes:
        by_sizes[sizes] = rank_blocks(pattern, sizes)
    at = [0] * pattern.ranks
    for node, block in zip(nodes.tolist(), by_sizes[sizes], strict=True):
        for rank in block:
            at[rank] = node
    return tuple(at)


def _even_sizes(nodes: Ints, room: Room, ranks: int) -> list[int]:
    sizes = np.ones(len(nodes), dtype=np.int64)
    for _ in range(ranks - len(nodes)):
        sizes[np.where(sizes < room.capacity[nodes], sizes, ranks + 1).argmin()] += 1
    return [int(size) for size in sizes]


def greedy(scores: SlotScores, room: Room, order: Sequence[int]) -> Group | None:
    """Each rank in this order where the score stays highest; None where that leaves no room, or takes too long."""
    if (len(order) + len(scores.pattern.edges)) * len(room.capacity) > MOST_GREEDY:
        return None
    at, left, partial, used = [-1] * len(order), room.capacity.copy(), scores.start(), list[int]()
    for depth, rank in enumerate(order):
        best = None
        for node in room.allows(rank).tolist():
            now = used if node in used else [*used, node]
            if left[node] <= 0 or not _fits_after(room, left, node, now, len(order) - depth - 1):
                continue
            extended = scores.extended(partial, rank, node, at)
            if best is None or extended.score > best[0].score:
                best = (extended, node, now)
        if best is None:
            return None
        partial, at[rank], used = best
        left[at[rank]] -= 1
    return tuple(at)


def _fits_after(room: Room, left: Ints, node: int, used: Sequence[int], ranks: int) -> bool:
    after = left.copy()
    after[node] -= 1
    return room.can_hold(ranks, used, after)
