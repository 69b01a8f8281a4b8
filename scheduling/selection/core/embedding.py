"""Does a pattern fit into a graph? An exact search with integers as bit sets.

Source: Pattern 2003, figure 1, step 2 ("attempt to find a subgraph"), on the graph of pairs that are good enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from scheduling.selection.core import symmetry
from scheduling.selection.core.usable_network import Bools

SMALL_DOMAIN = 6
PASSED = 256


def bits(rows: Bools) -> list[int]:
    """Each row of a boolean matrix as an integer, column 0 its lowest bit."""
    packed = np.packbits(rows, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def members(mask: int) -> list[int]:
    """The places of the set bits, lowest first."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


class Embedding:
    """Finds places for the ranks of a pattern so that ranks that talk lie on joined vertices, if there are any.

    Filters first (degrees, then for every rank the vertices whose neighbours can hold its partners, to a fixed point),
    starts from the pattern's busiest rank, goes on with the rank that has the fewest places, and checks forward.
    Symmetric placements are tried once (`symmetry.rank_order`): vertices are numbered by rising degree, so that the
    hopeless ones leave the graph first. Exact; exponential at worst. `tick` is called at every step and may raise.
    """

    def __init__(self, ranks: int, edges: Sequence[tuple[int, int]], tick: Callable[[], None]) -> None:
        self.ranks = ranks
        self.beside = [sorted(b) for b in symmetry.neighbours(ranks, edges)]
        self.degree = [len(b) for b in self.beside]
        self.tick = tick
        self.edges = tuple(sorted((min(e), max(e)) for e in edges))
        self.root = max(range(ranks), key=lambda r: self.degree[r])

    def find(
        self, joined: Bools, taken: Sequence[frozenset[int]] = (), allowed: Bools | None = None
    ) -> tuple[int, ...] | None:
        """Vertices for ranks 0, 1, ... in a symmetric boolean matrix without diagonal; None when there is no place.

        allowed: ranks x vertices, where each rank may stand; None: everywhere.
        Placements on a vertex set in `taken` are passed over, up to PASSED times; then one is returned, and who wants
        another set asks again without each of its vertices (`ThresholdSearch` does).
        """
        self.taken, self.patience = taken, PASSED
        self._order_ranks(() if allowed is None else symmetry.rank_kinds(allowed))
        alive = core(joined, min(self.degree))
        if len(alive) < self.ranks:
            return None
        graph = joined[np.ix_(alive, alive)]
        order = np.argsort(graph.sum(axis=1), kind="stable")
        graph, alive = graph[np.ix_(order, order)], alive[order]
        self.adjacent = bits(graph)
        degrees = graph.sum(axis=1).tolist()
        domains = [sum(1 << v for v, d in enumerate(degrees) if d >= need) for need in self.degree]
        if allowed is not None:
            inside = bits(allowed[:, alive])
            domains = [domain & inside[r] for r, domain in enumerate(domains)]
        if not self._settle(domains, set(range(self.ranks)), len(alive)):
            return None
        self.alive = alive.tolist()
        placed = self._search(domains, set(range(self.ranks)), [-1] * self.ranks, root=True)
        return None if placed is None else tuple(self.alive[v] for v in placed)

    def _order_ranks(self, kinds: tuple[int, ...]) -> None:
        """Which ranks stand before and after each, so that symmetric placements are tried once."""
        self.after: list[list[int]] = [[] for _ in range(self.ranks)]
        self.before: list[list[int]] = [[] for _ in range(self.ranks)]
        for r, others in symmetry.rank_order(self.ranks, self.edges, kinds):
            for s in others:
                self.after[r].append(s)
                self.before[s].append(r)

    def _search(
        self, domains: list[int], open_: set[int], placed: list[int], *, root: bool = False
    ) -> list[int] | None:
        if not open_:
            return placed if self._is_new_set(placed) else None
        self.tick()
        r = self.root if root else min(open_, key=lambda s: (domains[s].bit_count(), -self.degree[s]))
        rest = open_ - {r}
        for v in members(domains[r]):
            tried = self._put(r, v, domains, rest)
            if tried is None or (len(open_) > self.ranks - 2 and not self._settle(tried, rest, len(self.adjacent))):
                continue
            placed[r] = v
            found = self._search(tried, rest, placed)
            if found is not None:
                return found
        return None

    def _is_new_set(self, placed: list[int]) -> bool:
        self.patience -= 1
        return self.patience < 0 or not self.taken or frozenset(self.alive[v] for v in placed) not in self.taken

    def _put(self, r: int, v: int, domains: list[int], rest: set[int]) -> list[int] | None:
        """The domains after rank r took vertex v, None when one becomes empty."""
        after = domains.copy()
        bit = 1 << v
        keep = ~bit
        for s in rest:
            after[s] &= keep
        near = self.adjacent[v]
        for s in self.beside[r]:
            if s in rest:
                after[s] &= near
        for s in self.after[r]:
            if s in rest:
                after[s] &= -(bit << 1)
        for s in self.before[r]:
            if s in rest:
                after[s] &= bit - 1
        if not all(after[s] for s in rest):
            return None
        changed = [s for s in rest if after[s] != domains[s]]
        return after if self._look_ahead(after, rest, changed) else None

    def _look_ahead(self, domains: list[int], rest: set[int], changed: list[int]) -> bool:
        """A rank with few places left narrows its partners to the neighbours of those places; repeat while it helps."""
        while changed:
            s = changed.pop()
            own = domains[s]
            if own.bit_count() > SMALL_DOMAIN:
                continue
            near = 0
            for v in members(own):
                near |= self.adjacent[v]
            if not _narrow(domains, [t for t in self.beside[s] if t in rest], near, changed):
                return False
            if own & (own - 1) == 0 and not _narrow(domains, [t for t in rest if t != s], ~own, changed):
                return False
        return True

    def _settle(self, domains: list[int], rest: set[int], vertices: int) -> bool:
        """Narrow every open rank to vertices with a neighbour in each partner's domain, to a fixed point."""
        reach: dict[int, int] = {}
        busy = True
        while busy:
            busy = False
            for s in rest:
                narrowed = domains[s]
                for t in self.beside[s]:
                    if t in rest:
                        narrowed &= self._reach(domains[t], reach)
                if not narrowed:
                    return False
                if narrowed != domains[s]:
                    domains[s], busy = narrowed, True
        together = 0
        for s in rest:
            together |= domains[s]
        return together.bit_count() >= len(rest)

    def _reach(self, domain: int, reach_of: dict[int, int]) -> int:
        if domain not in reach_of:
            near = 0
            for v in members(domain):
                near |= self.adjacent[v]
            reach_of[domain] = near
        return reach_of[domain]


def _narrow(domains: list[int], ranks: list[int], keep: int, changed: list[int]) -> bool:
    """Restrict the domains of `ranks` to `keep`, noting which changed; False when one becomes empty."""
    for t in ranks:
        if domains[t] & ~keep:
            domains[t] &= keep
            if not domains[t]:
                return False
            changed.append(t)
    return True


def core(joined: Bools, least: int) -> NDArray[np.int64]:
    """The vertices left after removing those with fewer than `least` neighbours, again and again (k-core)."""
    alive = np.arange(len(joined))
    graph = joined
    while True:
        keep = graph.sum(axis=1) >= least
        if keep.all():
            return alive
        alive, graph = alive[keep], graph[np.ix_(keep, keep)]
