"""The inner loop of `CliqueSearch`: depth-first search that can be stopped after a number of steps and goes on where it
stopped. Loops for `compiled`.

Source: the bound by greedy colouring is that of Tomita and Seki (2003), on bit sets as San Segundo (2011).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduling.selection.core.compiled import bit_count, compiled, lowest_bit
from scheduling.selection.core.pairs.bit_rows import BitRows
from scheduling.selection.core.trees.usable_network import Ints

FOUND, NONE, STOPPED = 1, 0, -1


class CliqueState(NamedTuple):
    """What the search knows. m members, n vertices, words of 64 vertices.

    adjacent: n rows of bits. taken: rows of bits, cliques to pass over. candidates: by depth, the vertices joined to
    all members so far. to_try, tries: by depth, the vertices to try there, last first, and how many are left. clique:
    the members. depth: of the search, -1 after the last step.
    """

    adjacent: BitRows
    taken: BitRows
    candidates: BitRows
    to_try: Ints
    tries: Ints
    clique: Ints
    depth: Ints


@compiled
def start(state: CliqueState) -> None:
    """What is to try for the first member."""
    _bound(state, 0)


@compiled
def search_on(state: CliqueState, limit: int) -> int:
    """Go on for about `limit` steps: FOUND (the answer is `clique`), NONE, or STOPPED."""
    members = len(state.clique)
    for _ in range(limit):
        depth = state.depth[0]
        if depth < 0:
            return NONE
        if not state.tries[depth]:
            state.depth[0] -= 1
            continue
        state.tries[depth] -= 1
        vertex = state.to_try[depth, state.tries[depth]]
        state.clique[depth] = vertex
        state.candidates[depth, vertex >> 6] &= ~(np.uint64(1) << np.uint64(vertex & 63))
        if depth + 1 < members:
            _go_deeper(state, depth, vertex)
        elif not _is_taken(state):
            return FOUND
    return STOPPED


@compiled
def _go_deeper(state: CliqueState, depth: int, vertex: int) -> None:
    count = 0
    for w in range(state.candidates.shape[1]):
        state.candidates[depth + 1, w] = state.candidates[depth, w] & state.adjacent[vertex, w]
        count += bit_count(state.candidates[depth + 1, w])
    if count >= len(state.clique) - depth - 1:
        _bound(state, depth + 1)
        state.depth[0] += 1


@compiled
def _bound(state: CliqueState, depth: int) -> None:
    """Vertices beyond the first need - 1 colours are to be tried: without one of them no clique is large enough."""
    need, words = len(state.clique) - depth, state.candidates.shape[1]
    left, free = state.candidates[depth].copy(), np.empty(words, np.uint64)
    colour, count, first = 0, 0, 0
    while first < words:
        colour += 1
        free[:] = left
        for w in range(first, words):
            while free[w]:
                vertex = 64 * w + lowest_bit(free[w])
                left[w] &= ~(free[w] & (~free[w] + np.uint64(1)))
                free[w] &= free[w] - np.uint64(1)
                for x in range(w, words):
                    free[x] &= ~state.adjacent[vertex, x]
                if colour >= need:
                    state.to_try[depth, count] = vertex
                    count += 1
        while first < words and not left[first]:
            first += 1
    state.tries[depth] = count


@compiled
def _is_taken(state: CliqueState) -> bool:
    """Whether the clique is to be passed over."""
    for row in state.taken:
        inside = True
        for vertex in state.clique:
            inside &= (row[vertex >> 6] >> np.uint64(vertex & 63)) & np.uint64(1) == np.uint64(1)
        if inside:
            return True
    return False
