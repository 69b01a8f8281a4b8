"""Which nodes of a group talk with which: the pairs of ranks that talk, seen from their nodes."""

from __future__ import annotations

from collections.abc import Sequence

from gridportal.base.rank_places import distinct
from scheduling.jobs.core.patterns import Pattern, named


def talking_nodes(nodes: Sequence[str], pattern: Pattern | None) -> list[tuple[int, int]]:
    """The pairs of nodes, as places among the different ones of `nodes` (rank by rank), the lower place first; every
    pair without a pattern. Two ranks on one node need no network.

    >>> talking_nodes(("a", "a", "b", "c"), named("ring", 4))
    [(0, 1), (0, 2), (1, 2)]
    """
    place = {name: number for number, name in enumerate(distinct(nodes))}
    if pattern is None:
        return [(a, b) for a, b, _ in named("all-to-all", len(place)).edges]
    at = [place[name] for name in nodes]
    ends = {(min(at[a], at[b]), max(at[a], at[b])) for a, b, _ in pattern.edges}
    return sorted((a, b) for a, b in ends if a != b)
