"""Of a large network the nodes among which groups are looked for whose messages take the least time: no matrix of all
pairs is made of it, and every step of a local search looks at every node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from gridportal.network.narrowest import bandwidth
from scheduling.selection.core.pairs.member_rates import member_rates
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.threshold import Group
from scheduling.selection.core.trees.usable_network import Floats, Ints, Network

#: Closeness to so many nodes of a group counts.
MEMBERS = 64


def promising_nodes(pairs: Pairs, groups: Sequence[Group], level: float, count: int) -> tuple[Ints, Floats]:
    """The places of the nodes of all `groups` and of `count` others, rising, and the rates of their pairs, bit/s.

    The others, in turn: those that stand together on the best switches (or about the best nodes), those with the
    fastest links, those closest to the first group; only such as have some pair worth `level`. Cost: O(nodes + links)
    on networks without cycles, else that of all pairs.
    """
    network, ranks = pairs.tree(bandwidth), len(groups[0])
    close = list(dict.fromkeys(groups[0]))[:MEMBERS]
    if network is not None:
        speed, switch = _access(network)
        about = _blocks(speed, switch, ranks)
        near = _near(member_rates(pairs, close, bandwidth))
        chosen = _in_turn(groups, [about, _falling(speed), near], speed >= level, count)
        return chosen, pairs.among(chosen.tolist()).rates(bandwidth)
    rates = pairs.rates(bandwidth)
    fast = np.where(rates >= level, rates, 0.0)
    strength = fast.sum(axis=1)
    strongest = _falling(strength)
    about = (node for seed in strongest[:MEMBERS] for node in (seed, *_falling(fast[seed])[: ranks - 1]))
    chosen = _in_turn(groups, [about, strongest, _near(rates[:, close])], strength > 0, count)
    return chosen, rates[np.ix_(chosen, chosen)]


def _access(network: Network) -> tuple[Floats, Ints]:
    """Of each compute node what its fastest link to a switch is worth, and that switch; 0 and -1 without one."""
    speed, switch = np.zeros(network.count), np.full(network.count, -1, dtype=np.int64)
    links = np.flatnonzero((network.u < network.count) & (network.v >= network.count))
    rising = links[np.argsort(network.w[links], kind="stable")]
    speed[network.u[rising]], switch[network.u[rising]] = network.w[rising], network.v[rising]
    return speed, switch


def _blocks(speed: Floats, switch: Ints, ranks: int) -> Iterator[int]:
    """The fastest nodes of every switch, as many as there are ranks, the switch first whose are fastest in the mean."""
    falling = np.lexsort((-speed, switch))
    starts = np.flatnonzero(np.diff(switch[falling], prepend=-2))
    blocks = [block[:ranks] for block in np.split(falling, starts[1:])]
    full = max(map(len, blocks))
    for block in sorted(blocks, key=lambda block: -float(speed[block].sum()) / full):
        yield from block.tolist()


def _near(rates: Floats) -> list[int]:
    """The nodes whose rates to some are highest together."""
    return _falling(np.where(np.isfinite(rates), rates, 0.0).sum(axis=1))


def _falling(values: Floats) -> list[int]:
    order: list[int] = np.argsort(-values, kind="stable").tolist()
    return order


def _in_turn(groups: Sequence[Group], sources: Sequence[Iterable[int]], usable: np.ndarray, count: int) -> Ints:
    """All nodes of the groups, and so many others, one of each source at a time."""
    chosen = {node for group in groups for node in group}
    most, left = min(len(chosen) + count, len(usable)), [iter(source) for source in sources]
    while left and len(chosen) < most:
        for source in list(left):
            node = next((node for node in source if usable[node] and node not in chosen), None)
            if node is None:
                left.remove(source)
            elif len(chosen) < most:
                chosen.add(node)
    return np.array(sorted(chosen), dtype=np.int64)
