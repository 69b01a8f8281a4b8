"""What the slower direction of each pair of ranks gets when all pairs talk at once."""

from __future__ import annotations

from collections.abc import Sequence

from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.flows.link_crossings import LinkCrossings, concurrent_rates
from scheduling.selection.core.flows.slowest_pairs import SlowPair, slowest_pairs
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.placement import EdgeRate
from scheduling.selection.core.threshold import Group

#: Where paths share flows, of more edges not each path is walked.
FEW = 64


def slower_directions(pairs: Pairs, pattern: Pattern, group: Group, most: int) -> list[EdgeRate]:
    """Of every edge of the pattern, with the ranks on these places in the usable nodes; of more than `most` edges the
    slowest alone, where the tree of switches tells all."""
    names = [pairs.usable[place].id for place in group]
    ends = [(a, b) for a, b, _ in pattern.edges]
    is_shared = pairs.topology.routing.rule == "ecmp" and len(ends) > FEW
    if (len(ends) > most or is_shared) and pairs.switches.is_exact:
        slowest = slowest_pairs(pairs.switches, pairs.derived(LinkCrossings), group, ends, most)
        return [_slow(pairs, pattern, names, each) for each in slowest]
    both_ways = concurrent_rates(pairs.routes, names, ends)
    return [
        EdgeRate(
            (a, b), names[a], names[b], rate.bandwidth, weight, rate.measured_at, ", ".join(rate.origins), rate.binding
        )
        for (a, b, weight), both in zip(pattern.edges, both_ways, strict=True)
        for rate in [min(both, key=lambda rate: rate.bandwidth)]
    ]


def _slow(pairs: Pairs, pattern: Pattern, names: Sequence[str], slow: SlowPair) -> EdgeRate:
    a, b, weight = pattern.edges[slow.edge]
    path = pairs.routes.path(names[b], names[a]) if slow.backwards else pairs.routes.path(names[a], names[b])
    links = [pairs.topology.links[arc >> 1] for arc, _ in path.loads] if path else []
    measured = [link.measured_at for link in links]
    held = pairs.topology.links[slow.arc >> 1]
    return EdgeRate(
        (a, b),
        names[a],
        names[b],
        slow.rate,
        weight,
        None if None in measured else min(at for at in measured if at is not None),
        ", ".join(sorted({link.origin for link in links} - {""})),
        (held.target, held.source) if slow.arc & 1 else (held.source, held.target),
    )
