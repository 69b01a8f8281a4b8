"""Which vertices of a graph can hold a pattern at all, and in which order to try them. Loops for `compiled`."""

from __future__ import annotations

import numpy as np

from scheduling.selection.core.compiled import compiled, lowest_bit
from scheduling.selection.core.pairs.bit_rows import BitRows
from scheduling.selection.core.trees.usable_network import Bools, Ints


@compiled
def hopeful_vertices(adjacent: BitRows, least: int, least_part: int) -> tuple[Ints, Ints]:
    """The vertices that are left after removing those with fewer than `least` neighbours, again and again (k-core), and
    then the connected parts of fewer than `least_part`; with the size of the part of each.

    They come in the order in which a vertex with the fewest neighbours is taken away each time (degeneracy).
    O(vertices^2 / 64 + edges).
    """
    degree = _degrees(adjacent)
    gone = np.zeros(len(adjacent), np.bool_)
    _peel(adjacent, degree, gone, least)
    size = _part_sizes(adjacent, gone)
    for v in range(len(adjacent)):
        gone[v] |= size[v] < least_part
    order = _fewest_neighbours_first(adjacent, degree, gone)
    return order, size[order]


@compiled
def _degrees(adjacent: BitRows) -> Ints:
    degree = np.zeros(len(adjacent), np.int64)
    for v in range(len(adjacent)):
        degree[v] = len(_members(adjacent[v]))
    return degree


@compiled
def _members(row: BitRows) -> Ints:
    """The places of the set bits, rising."""
    found = np.empty(64 * len(row), np.int64)
    count = 0
    for w in range(len(row)):
        word = row[w]
        while word:
            found[count] = 64 * w + lowest_bit(word)
            count += 1
            word &= word - np.uint64(1)
    return found[:count]


@compiled
def _peel(adjacent: BitRows, degree: Ints, gone: Bools, least: int) -> None:
    waiting = [np.int64(v) for v in range(len(adjacent)) if degree[v] < least]
    for v in waiting:
        gone[v] = True
    while len(waiting):
        for u in _members(adjacent[waiting.pop()]):
            degree[u] -= 1
            if not gone[u] and degree[u] < least:
                gone[u] = True
                waiting.append(u)


@compiled
def _part_sizes(adjacent: BitRows, gone: Bools) -> Ints:
    """Of the connected part of each vertex; 0 for those that are gone."""
    size = np.zeros(len(adjacent), np.int64)
    part = np.empty(len(adjacent), np.int64)
    for start in range(len(adjacent)):
        if gone[start] or size[start]:
            continue
        part[0], count, looked_at = start, 1, 0
        size[start] = 1
        while looked_at < count:
            for u in _members(adjacent[part[looked_at]]):
                if not gone[u] and not size[u]:
                    size[u] = 1
                    part[count] = u
                    count += 1
            looked_at += 1
        size[part[:count]] = count
    return size


@compiled
def _fewest_neighbours_first(adjacent: BitRows, degree: Ints, gone: Bools) -> Ints:
    """The vertices that are not gone, by buckets of equal degree as doubly linked lists."""
    n = len(adjacent)
    first, after, before = np.full(n + 1, -1), np.full(n, -1), np.full(n, -1)
    left = 0
    for v in range(n - 1, -1, -1):
        if not gone[v]:
            _link(v, degree[v], first, after, before)
            left += 1
    order = np.empty(left, np.int64)
    done, least = gone.copy(), 0
    for position in range(left):
        least = max(least - 1, 0)
        while first[least] < 0:
            least += 1
        v = first[least]
        _unlink(v, least, first, after, before)
        done[v] = True
        order[position] = v
        for u in _members(adjacent[v]):
            if not done[u]:
                _unlink(u, degree[u], first, after, before)
                degree[u] -= 1
                _link(u, degree[u], first, after, before)
    return order


@compiled
def _link(v: int, bucket: int, first: Ints, after: Ints, before: Ints) -> None:
    after[v], before[v] = first[bucket], -1
    if first[bucket] >= 0:
        before[first[bucket]] = v
    first[bucket] = v


@compiled
def _unlink(v: int, bucket: int, first: Ints, after: Ints, before: Ints) -> None:
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        first[bucket] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]
