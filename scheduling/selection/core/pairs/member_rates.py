"""What every node that may be used would get to each of a few members of a group, without the rates of all pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gridportal.network.narrowest import Worth
from scheduling.selection.core.pairs.pair_rates import NO_PATH, Pairs
from scheduling.selection.core.trees.usable_network import Floats, Ints, Network


def member_rates(pairs: Pairs, members: Sequence[int], value: Worth) -> Floats:
    """n x m: of each of the n usable nodes to each of the m members (places among them) what the narrowest link of the
    path is worth, the lower of both directions; -inf without a path, and of a member to itself.

    Cost: O(m (nodes + links)) on networks without cycles, else that of all pairs.

    >>> from gridportal.network.narrowest import bandwidth
    >>> from gridportal.network.topology import parse
    >>> links = [{"source": x, "target": "s", "capacity": w} for x, w in (("a", 9), ("b", 4), ("c", 8))]
    >>> net = parse({"nodes": [*({"id": x} for x in "abc"), {"id": "s", "kind": "network"}], "links": links})
    >>> member_rates(Pairs(net, net.compute_nodes()), [0, 1], bandwidth).T.tolist()
    [[-inf, 4.0, 8.0], [4.0, -inf, 4.0]]
    """
    network = pairs.tree(value)
    if network is None:
        return pairs.rates(value)[:, list(members)]
    return _over_tree(network, members)


def _over_tree(network: Network, members: Sequence[int]) -> Floats:
    """Values spread from the members through the network nodes, towards the root of each part and back from it."""
    n, m = network.count, len(members)
    column = np.full(network.size, -1, dtype=np.int64)
    column[list(members)] = np.arange(m)
    reach = np.full((network.size, m), NO_PATH)
    u, v, w = network.u, network.v, network.w
    inner = (u >= n) & (v >= n)
    access = np.flatnonzero((u < n) & (v >= n))
    for place in access[column[u[access]] >= 0].tolist():
        at, member = v[place], column[u[place]]
        reach[at, member] = max(reach[at, member], w[place])
    for child, parent, worth in rising_links(network.size, u[inner], v[inner], w[inner]):
        np.maximum.at(reach, parent, np.minimum(reach[child], worth[:, None]))
    for child, parent, worth in rising_links(network.size, u[inner], v[inner], w[inner])[::-1]:
        reach[child] = np.maximum(reach[child], np.minimum(reach[parent], worth[:, None]))
    rates = np.full((n, m), NO_PATH)
    np.maximum.at(rates, u[access], np.minimum(reach[v[access]], w[access][:, None]))
    for place in np.flatnonzero(v < n).tolist():
        for here, there in ((u[place], v[place]), (v[place], u[place])):
            if column[there] >= 0:
                rates[here, column[there]] = max(rates[here, column[there]], w[place])
    rates[list(members), np.arange(m)] = NO_PATH
    return rates


def rising_links(size: int, u: Ints, v: Ints, w: Floats) -> list[tuple[Ints, Ints, Floats]]:
    """The links between network nodes as (children, their parents, worth), level by level, the deepest first."""
    steps: list[tuple[Ints, Ints, Floats]] = []
    left = np.ones(len(u), dtype=bool)
    while left.any():
        links = np.bincount(np.concatenate([u[left], v[left]]), minlength=size)
        leaf_u, leaf_v = left & (links[u] == 1), left & (links[v] == 1)
        leaf_v &= ~leaf_u  # of two leaves joined by one link the second is the parent
        child = np.concatenate([u[leaf_u], v[leaf_v]])
        parent = np.concatenate([v[leaf_u], u[leaf_v]])
        steps.append((child, parent, np.concatenate([w[leaf_u], w[leaf_v]])))
        left &= ~(leaf_u | leaf_v)
    return steps
