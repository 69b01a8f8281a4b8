"""How many nodes are connected at every bandwidth, and the few parts in which the best groups of `m` nodes lie.

Source: Selection 1999, figure 2, whose loop asks for the connected part after each removed link. Links are added in
falling order here, which visits the same parts from the other end, and only their sizes are kept: the bottleneck is
known for every number of nodes at once, and a merge tree is made of what matters for one number alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduling.selection.core.usable_network import Floats, Groups, Ints, Network, of_links


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
    switch, other = (high - n).tolist(), np.where(low < n, -1, low - n).tolist()
    return PartSizes(worth[order], np.array(_grown(switch, other, network.size - n), dtype=np.int64))


def _grown(switch: list[int], other: list[int], switches: int) -> list[int]:
    """The size of each part when its link is added. Each switch knows its part by number; the smaller part is
    renumbered, so that the many links of compute nodes need no search."""
    part, size = list(range(switches)), [0] * switches
    members = [[place] for place in range(switches)]
    grown = []
    for a, b in zip(switch, other, strict=True):
        if a < 0:
            grown.append(2)  # two compute nodes side by side
            continue
        here = part[a]
        if b < 0:
            size[here] = number = size[here] + 1
            grown.append(number)
            continue
        there = part[b]
        if here == there:
            grown.append(0)
            continue
        if len(members[here]) < len(members[there]):
            here, there = there, here
        grown.append(size[here] + size[there] if size[here] and size[there] else 0)
        size[here] += size[there]
        members[here] += members[there]
        for place in members[there]:
            part[place] = here
        members[there] = []
    return grown


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
    groups = Groups(switches)
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        groups.join(x, y)
    return np.array([groups.root(x) for x in range(switches)], dtype=np.int64)
