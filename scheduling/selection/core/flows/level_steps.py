"""The inner loop of `LevelSearch`: steps by chance that take flows off what carries too many. Loops for `compiled`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduling.selection.core.compiled import compiled
from scheduling.selection.core.trees.usable_network import Ints


class LevelState(NamedTuple):
    """What the search knows: m ranks, n nodes, c crossings, and what is one too many.

    at: the node of each rank. on: the rank on each node, -1 without one. nodes: those that may be used; by_home, first:
    the same by their switches. edges: 2 x edges. partners, start: the partners of each rank. home: the switch of each
    node. ways, crossed: as in WayTable. most: of each crossing, then of each node, how many flows it lets through;
    load: how many it has. bad, place: which of them have too many, and where each stands there, -1. change, stamp,
    touched: all 0, and room, for sums. counts: switches, how many are bad, by how many flows, the last stamp; random:
    its state.
    """

    at: Ints
    on: Ints
    nodes: Ints
    by_home: Ints
    first: Ints
    edges: Ints
    partners: Ints
    start: Ints
    home: Ints
    ways: Ints
    crossed: Ints
    most: Ints
    load: Ints
    bad: Ints
    place: Ints
    change: Ints
    stamp: Ints
    touched: Ints
    counts: Ints
    random: Ints


@compiled
def relieve(state: LevelState, steps: int, heat: float) -> int:
    """Look at so many steps, and take those after which not more flows are too many; with `heat` some others too. By
    how many flows it still is too much at the end, 0 when nothing is."""
    at, on, nodes, by_home, first, edges, partners, start, home, ways, crossed, most, load, bad, place = state[:15]
    change, stamp, touched, counts, random = state[15:]
    crossings = len(most) - len(home)
    is_even = len(partners) == len(at) * (len(at) - 1)
    for _ in range(steps):
        if counts[1] == 0:
            break
        worst = bad[_draw(random, counts[1])]
        if worst < crossings:
            rank = _crossing(worst, at, edges, home, ways, crossed, counts[0], random)
        else:
            rank = on[worst - crossings]
        if is_even:
            node = _free(on, nodes, random)
        else:
            node = _target(rank, at, nodes, by_home, first, partners, start, home, random)
        if node < 0 or node == at[rank]:
            continue
        many = _exchanged(rank, node, at, on, partners, start, home, ways, crossed, counts, change, stamp, touched)
        more = _more(many, touched, change, load, most) + _more_on_nodes(rank, node, at, on, start, most[crossings:])
        if more <= 0 or (heat > 0.0 and _chance(random) < np.exp(-more / heat)):
            for i in range(many):
                load[touched[i]] += change[touched[i]]
                _note(touched[i], load, most, bad, place, counts)
            _take(rank, node, at, on, start, load, most, bad, place, counts)
            counts[2] += more
        for i in range(many):
            change[touched[i]] = 0
    return int(counts[2])


@compiled
def _take(
    rank: int,
    node: int,
    at: Ints,
    on: Ints,
    start: Ints,
    load: Ints,
    most: Ints,
    bad: Ints,
    place: Ints,
    counts: Ints,
) -> None:
    """The rank goes to a node, and the one that is there to its own."""
    crossings, before, other = len(load) - len(on), at[rank], on[node]
    at[rank], on[node], on[before] = node, rank, other
    load[crossings + node], load[crossings + before] = start[rank + 1] - start[rank], 0
    if other >= 0:
        at[other] = before
        load[crossings + before] = start[other + 1] - start[other]
    _note(crossings + node, load, most, bad, place, counts)
    _note(crossings + before, load, most, bad, place, counts)


@compiled
def _exchanged(
    rank: int,
    node: int,
    at: Ints,
    on: Ints,
    partners: Ints,
    start: Ints,
    home: Ints,
    ways: Ints,
    crossed: Ints,
    counts: Ints,
    change: Ints,
    stamp: Ints,
    touched: Ints,
) -> int:
    """Add up in `change` what crossings get when a rank goes to a node and the one there to its own; how many are
    `touched`."""
    before, other = at[rank], on[node]
    counts[3] += 1
    if home[node] == home[before]:
        return 0
    many = _moved(
        rank, other, before, node, 0, at, partners, start, home, ways, crossed, counts, change, stamp, touched
    )
    if other >= 0:
        many = _moved(
            other, rank, node, before, many, at, partners, start, home, ways, crossed, counts, change, stamp, touched
        )
    return many


@compiled
def _more_on_nodes(rank: int, node: int, at: Ints, on: Ints, start: Ints, most: Ints) -> int:
    """By how many flows more it would be too much on the two nodes."""
    before, other = at[rank], on[node]
    degree, theirs = start[rank + 1] - start[rank], 0
    if other >= 0:
        theirs = start[other + 1] - start[other]
    after = _over(degree, most[node]) + _over(theirs, most[before])
    return after - _over(degree, most[before]) - _over(theirs, most[node])


@compiled
def _draw(random: Ints, count: int) -> int:
    """A number below `count` by chance (xorshift)."""
    value = random[0]
    value ^= value << 13
    value ^= (value >> 7) & 0x1FFFFFFFFFFFFFF
    value ^= value << 17
    random[0] = value
    return int((value & 0x7FFFFFFFFFFFFFF) % count)


@compiled
def _chance(random: Ints) -> float:
    return _draw(random, 1 << 30) / (1 << 30)


@compiled
def _crossing(
    worst: int, at: Ints, edges: Ints, home: Ints, ways: Ints, crossed: Ints, switches: int, random: Ints
) -> int:
    """One of the two ranks of a pair whose flows cross what has too many: the next pair from one by chance on."""
    count = edges.shape[1]
    place = _draw(random, count)
    for _ in range(count):
        a, b = edges[0, place], edges[1, place]
        key = home[at[a]] * switches + home[at[b]]
        for i in range(ways[key], ways[key + 1]):
            if crossed[i] == worst:
                return int(a if _draw(random, 2) else b)
        place = place + 1 if place + 1 < count else 0
    return int(edges[0, place])


@compiled
def _target(
    rank: int, at: Ints, nodes: Ints, by_home: Ints, first: Ints, partners: Ints, start: Ints, home: Ints, random: Ints
) -> int:
    """Where the rank may go: any node, or as often one on the switch of a partner; -1 where that has none."""
    if start[rank + 1] == start[rank] or _draw(random, 2):
        return int(nodes[_draw(random, len(nodes))])
    partner = partners[start[rank] + _draw(random, start[rank + 1] - start[rank])]
    switch = home[at[partner]]
    if first[switch + 1] == first[switch]:
        return -1
    return int(by_home[first[switch] + _draw(random, first[switch + 1] - first[switch])])


@compiled
def _free(on: Ints, nodes: Ints, random: Ints) -> int:
    """A node without a rank: where all talk with all, two that change places change nothing. -1 where none is hit."""
    for _ in range(32):
        node = nodes[_draw(random, len(nodes))]
        if on[node] < 0:
            return int(node)
    return -1


@compiled
def _moved(
    rank: int,
    other: int,
    before: int,
    after: int,
    many: int,
    at: Ints,
    partners: Ints,
    start: Ints,
    home: Ints,
    ways: Ints,
    crossed: Ints,
    counts: Ints,
    change: Ints,
    stamp: Ints,
    touched: Ints,
) -> int:
    """Add up in `change` what crossings get or lose when a rank goes from one node to another and `other`, the one that
    changes places with it, is passed over; how many are `touched`."""
    for i in range(start[rank], start[rank + 1]):
        if partners[i] == other:
            continue
        there = home[at[partners[i]]]
        for sign, here in ((-1, home[before]), (1, home[after])):
            key = here * counts[0] + there
            for j in range(ways[key], ways[key + 1]):
                if stamp[crossed[j]] != counts[3]:
                    stamp[crossed[j]] = counts[3]
                    touched[many] = crossed[j]
                    many += 1
                change[crossed[j]] += sign
    return many


@compiled
def _more(many: int, touched: Ints, change: Ints, load: Ints, most: Ints) -> int:
    """By how many flows more it would be too much."""
    more = 0
    for i in range(many):
        each = touched[i]
        more += _over(load[each] + change[each], most[each]) - _over(load[each], most[each])
    return more


@compiled
def _over(flows: int, most: int) -> int:
    return max(0, flows - most)


@compiled
def _note(each: int, load: Ints, most: Ints, bad: Ints, place: Ints, counts: Ints) -> None:
    """Keep the list of what has too many."""
    if load[each] > most[each] and place[each] < 0:
        bad[counts[1]], place[each] = each, counts[1]
        counts[1] += 1
    elif load[each] <= most[each] and place[each] >= 0:
        counts[1] -= 1
        last = bad[counts[1]]
        bad[place[each]], place[last] = last, place[each]
        place[each] = -1
