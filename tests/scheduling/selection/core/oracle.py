"""An independent brute force: every path, every node set, every rank order. Only for tiny networks."""

from __future__ import annotations

from itertools import combinations, permutations

from gridportal.network.topology import Link, Topology
from scheduling.jobs.core.patterns import Pattern

NONE = float("-inf")


def route(topology: Topology, source: str, target: str) -> list[Link]:
    """Of all simple paths through network nodes the one with the fewest links, of equals the one whose nodes stand
    first in the file, of parallel links the first; empty without one."""
    place = {n.id: i for i, n in enumerate(topology.nodes)}
    network = {n.id for n in topology.nodes if n.kind == "network"}
    hops: dict[str, list[tuple[str, int]]] = {}
    for number, link in enumerate(topology.links):
        hops.setdefault(link.source, []).append((link.target, number))
        if not topology.directed:
            hops.setdefault(link.target, []).append((link.source, number))
    found: list[tuple[int, list[tuple[int, int]]]] = []

    def walk(here: str, seen: frozenset[str], way: list[tuple[int, int]]) -> None:
        for there, number in hops.get(here, []):
            longer = [*way, (place[there], number)]
            if there == target:
                found.append((len(longer), longer))
            elif there in network and there not in seen:
                walk(there, seen | {there}, longer)

    walk(source, frozenset(), [])
    return [topology.links[number] for _, number in min(found)[1]] if found else []


def worth(topology: Topology, source: str, target: str, value, keep=lambda link: True) -> float:
    """The narrowest link of the route from source to target."""
    links = route(topology, source, target)
    return min(map(value, links)) if links and all(map(keep, links)) else NONE


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
