"""The inner loop of `Embedding`: depth-first search that can be stopped after a number of steps and goes on where it
stopped. Loops for `compiled`; what they need of the state is handed over array by array, which is three times as fast.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduling.selection.core.compiled import bit_count, compiled, lowest_bit
from scheduling.selection.core.pairs.bit_rows import BitRows
from scheduling.selection.core.trees.usable_network import Bools, Ints

FOUND, NONE, STOPPED = 1, 0, -1


class EmbeddingState(NamedTuple):
    """What the search knows. m ranks, n vertices, words of 64 vertices.

    adjacent: n rows of bits. beside, degree: the partners of each rank, and how many. precedes: m x m, whether a rank's
    vertex comes before another's. taken: rows of bits, vertex sets to pass over. domains, counts: the vertices left for
    each rank, and how many of them are free. placed: the vertex of each rank, or -1. used: the vertices of placed
    ranks. rank_at, untried: by depth, the rank that is placed there and the vertices that it has still to try.
    saved_domains, saved: domains before they were narrowed, with rank and count. mark: by depth, how many are saved
    before it. at: depth, whether it was just reached, how many domains are saved, how many sets may be passed over.
    """

    adjacent: BitRows
    beside: Ints
    degree: Ints
    precedes: Bools
    taken: BitRows
    domains: BitRows
    counts: Ints
    placed: Ints
    used: BitRows
    rank_at: Ints
    untried: BitRows
    saved_domains: BitRows
    saved: Ints
    mark: Ints
    at: Ints


@compiled
def search_on(state: EmbeddingState, limit: int) -> int:
    """Go on for about `limit` steps: FOUND (the answer is `placed`), NONE, or STOPPED."""
    adjacent, beside, degree, precedes, taken = state[:5]
    domains, counts, placed, used, rank_at, untried = state[5:11]
    saved_domains, saved, mark, at = state[11:]
    depth, top, patience = at[0], at[2], at[3]
    is_new = at[1] > 0
    answer, steps = STOPPED, 0
    while steps < limit:
        if is_new and depth == len(degree):
            is_new = False
            if patience <= 0 or not _is_among(used, taken):
                answer = FOUND
                break
            patience -= 1
        if is_new:
            rank_at[depth] = _next_rank(placed, counts, degree)
            untried[depth] = domains[rank_at[depth]] & ~used
        else:
            depth -= 1
            if depth < 0:
                answer = NONE
                break
            top = _undo(rank_at[depth], mark[depth], top, domains, counts, placed, used, saved_domains, saved)
        rank = rank_at[depth]
        is_new, mark[depth] = False, top
        vertex = _take_first(untried[depth])
        while vertex >= 0:
            steps += 1
            is_new = _put(rank, vertex, domains, counts, placed, used)
            if is_new:
                is_new, top = _narrow(
                    rank, vertex, top, adjacent, beside, degree, domains, counts, placed, used, saved_domains, saved
                )
            if is_new:
                is_new, top = _keep_order(
                    rank, vertex, top, precedes, domains, counts, placed, used, saved_domains, saved
                )
            if is_new:
                break
            top = _undo(rank, mark[depth], top, domains, counts, placed, used, saved_domains, saved)
            vertex = _take_first(untried[depth])
        depth += 1 if is_new else 0
    at[0], at[1], at[2], at[3] = depth, 1 if is_new else 0, top, patience
    return answer


@compiled
def _is_among(used: BitRows, taken: BitRows) -> bool:
    for i in range(len(taken)):
        same = True
        for w in range(len(used)):
            same &= taken[i, w] == used[w]
        if same:
            return True
    return False


@compiled
def _next_rank(placed: Ints, counts: Ints, degree: Ints) -> int:
    """The open rank with the fewest vertices left, of equals the busiest."""
    chosen = -1
    for r in range(len(placed)):
        if placed[r] < 0:
            fewer = chosen < 0 or counts[r] < counts[chosen]
            if fewer or (counts[r] == counts[chosen] and degree[r] > degree[chosen]):
                chosen = r
    return chosen


@compiled
def _take_first(untried: BitRows) -> int:
    """The first vertex, which is taken out; -1 when there is none."""
    for w in range(len(untried)):
        if untried[w]:
            vertex = 64 * w + lowest_bit(untried[w])
            untried[w] &= untried[w] - np.uint64(1)
            return vertex
    return -1


@compiled
def _put(rank: int, vertex: int, domains: BitRows, counts: Ints, placed: Ints, used: BitRows) -> bool:
    """Place a rank; False when another one has no other vertex."""
    word, bit = vertex >> 6, np.uint64(1) << np.uint64(vertex & 63)
    placed[rank] = vertex
    used[word] |= bit
    fits = True
    for s in range(len(placed)):
        if placed[s] < 0 and domains[s, word] & bit:
            counts[s] -= 1
            fits &= counts[s] > 0
    return fits


@compiled
def _undo(
    rank: int,
    mark: int,
    top: int,
    domains: BitRows,
    counts: Ints,
    placed: Ints,
    used: BitRows,
    saved_domains: BitRows,
    saved: Ints,
) -> int:
    """Take a rank away, and give back all that was narrowed since `mark`."""
    while top > mark:
        top -= 1
        s = saved[top, 0]
        counts[s] = saved[top, 1]
        for w in range(len(used)):
            domains[s, w] = saved_domains[top, w]
    word, bit = placed[rank] >> 6, np.uint64(1) << np.uint64(placed[rank] & 63)
    for s in range(len(placed)):
        if placed[s] < 0 and domains[s, word] & bit:
            counts[s] += 1
    placed[rank] = -1
    used[word] &= ~bit
    return top


@compiled
def _narrow(
    rank: int,
    vertex: int,
    top: int,
    adjacent: BitRows,
    beside: Ints,
    degree: Ints,
    domains: BitRows,
    counts: Ints,
    placed: Ints,
    used: BitRows,
    saved_domains: BitRows,
    saved: Ints,
) -> tuple[bool, int]:
    """Keep the vertex' neighbours for the rank's partners; False when one of them has none left."""
    for i in range(degree[rank]):
        s = beside[rank, i]
        if placed[s] >= 0:
            continue
        saved[top, 0], saved[top, 1] = s, counts[s]
        count = 0
        for w in range(len(used)):
            saved_domains[top, w] = domains[s, w]
            domains[s, w] &= adjacent[vertex, w]
            count += bit_count(domains[s, w] & ~used[w])
        counts[s] = count
        top += 1
        if count == 0:
            return False, top
    return True, top


@compiled
def _keep_order(
    rank: int,
    vertex: int,
    top: int,
    precedes: Bools,
    domains: BitRows,
    counts: Ints,
    placed: Ints,
    used: BitRows,
    saved_domains: BitRows,
    saved: Ints,
) -> tuple[bool, int]:
    """Keep what comes after (or before) the vertex, for ranks that it precedes; False when one has none left."""
    word, below = vertex >> 6, (np.uint64(1) << np.uint64(vertex & 63)) - np.uint64(1)
    for s in range(len(placed)):
        after = precedes[rank, s]
        if placed[s] >= 0 or not (after or precedes[s, rank]):
            continue
        saved[top, 0], saved[top, 1] = s, counts[s]
        count = 0
        for w in range(len(used)):
            saved_domains[top, w] = domains[s, w]
            if w == word:
                domains[s, w] &= ~below if after else below
            elif (w < word) == after:
                domains[s, w] = np.uint64(0)
            count += bit_count(domains[s, w] & ~used[w])
        counts[s] = count
        top += 1
        if count == 0:
            return False, top
    return True, top
