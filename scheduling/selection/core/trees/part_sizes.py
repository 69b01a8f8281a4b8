"""How many nodes are connected at every bandwidth, and the few parts in which the best groups of `m` nodes lie.

Source: Selection 1999, figure 2, whose loop asks for the connected part after each removed link. Links are added in
falling order here, which visits the same parts from the other end, and only their sizes are kept: the bottleneck is
known for every number of nodes at once, and a merge tree is made of what matters for one number alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scheduling.selection.core.trees.usable_network import Floats, Ints, Network, of_links

#: From so many links on it pays to load compiled loops.
MANY = 20_000


@dataclass(frozen=True, slots=True)
class PartSizes:
    """`worth`: of the links, falling; `sizes`: how many ends at compute nodes the part has that each link forms or
    grows, 0 where it brings no compute nodes together."""

    worth: Floats
    sizes: Ints

    def bottlenecks(self) -> Floats:
        """The highest worth at which `m` compute nodes are connected, for every m that can be; entry m - 2 is of m.

        Cost: O(links).
        """
        largest = np.maximum.accumulate(self.sizes)
        most = int(largest[-1]) if len(largest) else 0
        found: Floats = self.worth[np.searchsorted(largest, np.arange(2, most + 1))]
        return found

    def level(self, m: int, k: int) -> float:
        """The worth at which `m` nodes are connected in `k` ways at least; -inf where they never are."""
        ways = np.flatnonzero(self.sizes >= m)[:k]
        return float(self.worth[ways[-1]]) if len(ways) == k else -np.inf


def part_sizes(network: Network, worth: Floats) -> PartSizes:
    """Add the links in falling order of `worth`. A compute node counts once for each of its links, and forwards
    nothing. Cost: one sort, and O(1) for a link at a compute node; O(log switches) for others, amortized."""
    n = network.count
    order = np.argsort(-worth, kind="stable")
    u, v = network.u[order], network.v[order]
    low, high = np.minimum(u, v), np.maximum(u, v)  # compute nodes have the lower numbers
    switch, other = high - n, np.where(low < n, -1, low - n)
    above, size = np.arange(network.size - n), np.zeros(network.size - n, dtype=np.int64)
    return PartSizes(worth[order], _run(grow, switch, other, above, size))


def grow(switch: Ints, other: Ints, above: Ints, size: Ints, out: Ints) -> None:
    """Into `out` the size of each part when its link is added. switch, other: the ends of the links, in the order of
    adding; other is below 0 for a compute node, both are for two of them. above, size: of each switch the next one on
    the way to what stands for its part, and how many ends at compute nodes that has."""
    for step in range(len(switch)):
        here, there = switch[step], other[step]
        if here < 0:
            out[step] = 2  # two compute nodes side by side
            continue
        while above[here] != here:
            above[here] = above[above[here]]
            here = above[here]
        if there < 0:
            size[here] += 1
            out[step] = size[here]
            continue
        while above[there] != there:
            above[there] = above[above[there]]
            there = above[there]
        if here == there:
            out[step] = 0
            continue
        out[step] = size[here] + size[there] if size[here] > 0 and size[there] > 0 else 0
        if size[here] < size[there]:
            here, there = there, here
        above[there] = here
        size[here] += size[there]


def name_parts(a: Ints, b: Ints, above: Ints, out: Ints) -> None:
    """Into `out` of each switch the one that stands for its part, once the links between `a` and `b` are added."""
    for step in range(len(a)):
        here, there = a[step], b[step]
        while above[here] != here:
            above[here] = above[above[here]]
            here = above[here]
        while above[there] != there:
            above[there] = above[above[there]]
            there = above[there]
        above[there] = here
    for place in range(len(above)):
        here = place
        while above[here] != here:
            above[here] = above[above[here]]
            here = above[here]
        out[place] = here


def _run(loop: Callable[..., None], first: Ints, *others: Ints, count: int | None = None) -> Ints:
    """What a loop writes: as machine code where there is much to do, else over lists, for which Python is quicker."""
    count = len(first) if count is None else count
    if len(first) > MANY:
        from scheduling.selection.core.compiled import compiled_once

        out = np.zeros(count, dtype=np.int64)
        compiled_once(loop)(first, *others, out)
        return out
    numbers = [0] * count
    loop(first.tolist(), *(each.tolist() for each in others), numbers)
    return np.array(numbers, dtype=np.int64)


def within(network: Network, worth: Floats, m: int, level: float) -> tuple[Network, Ints]:
    """The parts with `m` compute nodes or more that links worth at least `level` form, and which compute nodes of
    `network` are those of the answer. Links keep their order. Cost: O(links)."""
    n = network.count
    kept = np.flatnonzero(worth >= level)
    u, v = network.u[kept], network.v[kept]
    low, high = np.minimum(u, v), np.maximum(u, v)
    part = _parts(low[low >= n] - n, high[low >= n] - n, max(network.size - n, 1))
    of_link = np.where(high >= n, part[np.maximum(high - n, 0)], -1)  # -1: two compute nodes side by side
    ends = np.bincount(of_link[(low < n) & (high >= n)], minlength=len(part))
    large = np.where(of_link >= 0, ends[of_link] >= m, m <= 2)
    kept = kept[large]
    return of_links(network, kept)


def _parts(a: Ints, b: Ints, switches: int) -> Ints:
    """For each switch one that stands for its part."""
    return _run(name_parts, a, b, np.arange(switches), count=switches)
