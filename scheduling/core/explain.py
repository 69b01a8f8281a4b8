"""Why a group won and by what the others lost: rates of every pair, the slowest pair, the link that binds, a sentence.

Source: Pattern 2003, 2.4 (the lowest bandwidth path determines a collective step); the sentences are ours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from monitoring.core.topology import Node, Topology
from scheduling.core import network as networks
from scheduling.core.crossing import concurrent_rates
from scheduling.core.pair_rates import PairRates, pair_rates
from scheduling.core.patterns import Pattern
from scheduling.core.placement import Candidate, EdgeRate, Objective, Request
from scheduling.core.ranking import effective_cpu
from scheduling.core.threshold import Ranked
from scheduling.core.units import rate_text, share_text

MAX_LISTED = 2016
_FELT = 0.005  # a smaller part of the time is nothing to tell
SCATTER = 0.01  # two measurements of the same quiet path differ by about so much


def candidates(
    topology: Topology, usable: Sequence[Node], pattern: Pattern, request: Request, ranked: Sequence[Ranked]
) -> tuple[Candidate, ...]:
    """Every ranked group with its rates and its sentence, the chosen one first."""
    measured = _concurrent if request.flows else _measured
    bare = [measured(topology, [usable[i] for i in r.group], pattern, r) for r in ranked]
    chosen = bare[0]
    told = [replace(chosen, reason=_won(chosen, request))]
    told += [replace(other, reason=_lost(other, chosen, request)) for other in bare[1:]]
    return tuple(told)


def _measured(topology: Topology, nodes: list[Node], pattern: Pattern, ranked: Ranked) -> Candidate:
    names = tuple(node.id for node in nodes)
    min_cpu = min(effective_cpu(node) for node in nodes)
    if not pattern.edges:
        objective = Objective(None, min_cpu)
        return Candidate(names, objective, None, None, (), ranked.value, ranked.proved, "")
    found = pair_rates(networks.build(topology, nodes, lambda link: link.bandwidth))
    edges = _edge_rates(topology, names, pattern, found)
    slowest = edges[0]
    place = int(found.links[slowest.ranks])
    link = (topology.links[place].source, topology.links[place].target) if place >= 0 else None
    listed = tuple(edges[:MAX_LISTED])
    if len(edges) <= MAX_LISTED:
        listed = tuple(sorted(edges, key=lambda edge: edge.ranks))
    objective = Objective(slowest.bandwidth, min_cpu)
    return Candidate(names, objective, slowest, link, listed, ranked.value, ranked.proved, "")


def _concurrent(topology: Topology, nodes: list[Node], pattern: Pattern, ranked: Ranked) -> Candidate:
    """The same when all pairs talk at once: a pair has the rate of its slower direction."""
    names = tuple(node.id for node in nodes)
    if not pattern.edges:
        return _measured(topology, nodes, pattern, ranked)
    slower = [
        min(both, key=lambda rate: rate.bandwidth)
        for both in concurrent_rates(topology, names, [(a, b) for a, b, _ in pattern.edges])
    ]
    edges = [
        EdgeRate((a, b), names[a], names[b], rate.bandwidth, weight, rate.measured_at, ", ".join(rate.origins))
        for (a, b, weight), rate in zip(pattern.edges, slower, strict=True)
    ]
    order = sorted(range(len(edges)), key=lambda i: (edges[i].bandwidth, -edges[i].weight, edges[i].ranks))
    first = order[0]
    listed = sorted(order[:MAX_LISTED], key=lambda i: edges[i].ranks)
    objective = Objective(edges[first].bandwidth, min(effective_cpu(node) for node in nodes))
    link = slower[first].binding
    return Candidate(
        names, objective, edges[first], link, tuple(edges[i] for i in listed), ranked.value, ranked.proved, ""
    )


def _edge_rates(topology: Topology, names: Sequence[str], pattern: Pattern, found: PairRates) -> list[EdgeRate]:
    """The pattern's pairs, slowest first; only as many as are listed, the slowest always among them."""
    a = np.array([edge[0] for edge in pattern.edges])
    b = np.array([edge[1] for edge in pattern.edges])
    weight = np.array([edge[2] for edge in pattern.edges])
    rates = np.maximum(found.rates[a, b], 0.0)
    order = np.lexsort((b, a, -weight, rates))[: MAX_LISTED + 1].tolist()
    return [_edge(topology, names, (int(a[i]), int(b[i])), float(rates[i]), float(weight[i]), found) for i in order]


def _edge(
    topology: Topology, names: Sequence[str], ranks: tuple[int, int], rate: float, weight: float, found: PairRates
) -> EdgeRate:
    place = int(found.links[ranks])
    at, origin = (None, "") if place < 0 else (topology.links[place].measured_at, topology.links[place].origin)
    return EdgeRate(ranks, names[ranks[0]], names[ranks[1]], rate, weight, at, origin)


def _won(chosen: Candidate, request: Request) -> str:
    if request.method == "random":
        return f"drawn at random with seed {request.seed}; {_facts(chosen)}"
    if not chosen.proved:
        return f"the best found in {request.time_budget:g} s, not proved to be the best: {_facts(chosen)}"
    size = "node" if request.nodes == 1 else f"group of {request.nodes} nodes"
    if _judged_by_cpu(chosen, request):
        return f"lowest cpu {share_text(chosen.objective.min_cpu)}; no other {size} has more"
    at_once = ", all pairs talking at once" if request.flows else ""
    if request.method == "balanced":
        return f"{_both(chosen, request)}; no other {size} has more{at_once}"
    if _judged_by_time(request):
        reach = f"{_facts(chosen)}, at most {share_text(request.slack)} below the best there is"
        return f"{reach}; of all such groups seen, its busiest rank's messages take the least time"
    return f"{_facts(chosen)}; no other {size} has a faster slowest pair{at_once}"


def _lost(other: Candidate, chosen: Candidate, request: Request) -> str:
    if request.method == "random":
        return f"drawn later; {_facts(other)}"
    if _judged_by_time(request):
        more = _talking(other) / _talking(chosen) - 1.0
        if more >= _FELT:
            return f"{_facts(other)}, but its busiest rank's messages take {share_text(more)} longer"
        return f"as good as the chosen group ({_facts(other)}); equals are taken in a fixed order"
    if other.score < chosen.score:
        return _lower_score(other, chosen, request)
    return _equal_score(other, chosen, request)


def _lower_score(other: Candidate, chosen: Candidate, request: Request) -> str:
    if request.method == "balanced" and not _judged_by_cpu(other, request):
        less = share_text(chosen.score - other.score).replace(" %", " points")
        return f"{_both(other, request)}, {less} less than the chosen group"
    if _judged_by_cpu(other, request):
        less = share_text(chosen.objective.min_cpu - other.objective.min_cpu).replace(" %", " points")
        return f"lowest cpu {share_text(other.objective.min_cpu)}, {less} less than the chosen group"
    best = chosen.objective.min_bandwidth or 0.0
    slower = best - (other.objective.min_bandwidth or 0.0)
    hardly = ", hardly more than measurements scatter" if slower < SCATTER * best else ""
    return f"{_facts(other)}, {rate_text(slower)} less than the chosen group{hardly}"


def _both(candidate: Candidate, request: Request) -> str:
    """What the balanced method maximised, and for flows which of its two parts binds: they are parts of other wholes
    than the figures beside it."""
    worth, facts = share_text(candidate.score), _facts(candidate)
    if not request.flows:
        return f"{worth} of bandwidth and weighted cpu at once ({facts})"
    processors = candidate.objective.min_cpu / request.compute_priority
    if processors <= candidate.score * (1 + 1e-9):
        return f"{worth} of its processors, while its network has more ({facts})"
    return f"{worth} of what idle links would give, while its processors have {share_text(processors)} ({facts})"


def _equal_score(other: Candidate, chosen: Candidate, request: Request) -> str:
    """Equal in what the method maximises: name the next thing that it is worse in, if there is one."""
    if _judged_by_cpu(other, request):
        lowest = share_text(other.objective.min_cpu)
        return f"as good as the chosen group (lowest cpu {lowest}); equals are taken in a fixed order"
    lowest_rate, level = other.objective.min_bandwidth or 0.0, chosen.objective.min_bandwidth or 0.0
    if lowest_rate < level * (1 - 1e-9):
        return f"as high a lowest share as the chosen group, but {_facts(other)}, {rate_text(level - lowest_rate)} less"
    faster = lowest_rate > level * (1 + 1e-9)
    mean, best = _mean_rate(other), _mean_rate(chosen)
    if mean is not None and best is not None and mean < best * (1 - 1e-9) and not faster:
        less = rate_text(best - mean)
        return f"{_facts(other)} as in the chosen group, but a mean rate of {rate_text(mean)}, {less} less"
    cpu, best_cpu = share_text(other.objective.min_cpu), share_text(chosen.objective.min_cpu)
    if other.objective.min_cpu < chosen.objective.min_cpu and cpu != best_cpu:
        alike = "" if faster else " as good as in the chosen group"
        return f"{_facts(other)}{alike}, but lowest cpu {cpu} against {best_cpu}"
    return f"as good as the chosen group ({_facts(other)}); equals are taken in a fixed order"


def _judged_by_time(request: Request) -> bool:
    return request.method == "pattern" and request.slack > 0 and not request.flows


def _talking(candidate: Candidate) -> float:
    """Weight over rate, summed over the pairs of the rank where that is most."""
    busy: dict[int, float] = defaultdict(float)
    for edge in candidate.edges:
        for rank in edge.ranks:
            busy[rank] += edge.weight / edge.bandwidth
    return max(busy.values())


def _judged_by_cpu(candidate: Candidate, request: Request) -> bool:
    return request.method == "compute" or candidate.bottleneck is None


def _facts(candidate: Candidate) -> str:
    edge = candidate.bottleneck
    cpu = f"lowest cpu {share_text(candidate.objective.min_cpu)}"
    if edge is None:
        return cpu
    if candidate.link is None:
        return f"{edge.source} and {edge.target} have no path between them"
    pair = f"{edge.source} to {edge.target}" if "-" in edge.source + edge.target else f"{edge.source}-{edge.target}"
    return f"bottleneck {pair} gives {rate_text(edge.bandwidth)}"


def _mean_rate(candidate: Candidate) -> float | None:
    weight = sum(edge.weight for edge in candidate.edges)
    return sum(edge.bandwidth * edge.weight for edge in candidate.edges) / weight if weight else None
