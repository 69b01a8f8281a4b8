"""An independent brute force: every path, every node set, every rank order. Only for tiny networks."""

from __future__ import annotations

from itertools import combinations, permutations

from gridportal.network.topology import Link, Topology
from scheduling.jobs.core.patterns import Pattern

NONE = float("-inf")


def worth(topology: Topology, source: str, target: str, value, keep=lambda link: True) -> float:
    """The widest of all simple paths from source to target that pass network nodes only."""
    network = {n.id for n in topology.nodes if n.kind == "network"}
    hops: dict[str, list[tuple[str, Link]]] = {}
    for link in filter(keep, topology.links):
        hops.setdefault(link.source, []).append((link.target, link))
        if not topology.directed:
            hops.setdefault(link.target, []).append((link.source, link))

    def widest(here: str, seen: frozenset[str]) -> float:
        best = NONE
        for there, link in hops.get(here, []):
            if there == target:
                best = max(best, value(link))
            elif there in network and there not in seen:
                best = max(best, min(value(link), widest(there, seen | {there})))
        return best

    return widest(source, frozenset())


def both_ways(topology: Topology, value, keep=lambda link: True) -> dict[tuple[str, str], float]:
    """The value of every pair: the lower of both directions."""
    names = [n.id for n in topology.compute_nodes()]
    found = {}
    for a, b in combinations(names, 2):
        found[a, b] = found[b, a] = min(worth(topology, a, b, value, keep), worth(topology, b, a, value, keep))
    return found


def set_values(names: list[str], pattern: Pattern, pairs: dict[tuple[str, str], float]) -> dict[frozenset[str], float]:
    """For every node set the best lowest pair value over all rank orders; sets without any order are left out."""
    found = {}
    orders = (lambda c: [c]) if pattern.is_all_to_all() else permutations
    for chosen in combinations(names, pattern.ranks):
        best = max(min(pairs[o[a], o[b]] for a, b, _ in pattern.edges) for o in orders(chosen))
        if best > NONE:
            found[frozenset(chosen)] = best
    return found


def top(values: dict[frozenset[str], float], k: int) -> list[float]:
    return sorted(values.values(), reverse=True)[:k]
