"""Why a group won and by what the others lost: rates of every pair, the slowest pair, the link that binds, a reason.

Source: Pattern 2003, 2.4 (the lowest bandwidth path determines a collective step); the reasons are ours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from gridportal.base.reasons import Code, Reason
from gridportal.network.narrowest import bandwidth
from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.explanations.slowest_rank_pairs import slowest_rank_pairs
from scheduling.selection.core.flows.slower_directions import slower_directions
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.placement import Candidate, EdgeRate, Objective, Request
from scheduling.selection.core.threshold import Group, Ranked
from scheduling.selection.core.trees.usable_network import Ints

MAX_LISTED = 2016
_FELT = 0.005  # a smaller part of the time is nothing to tell
#: Behind what decided among equals where some were equal in that, too.
FIRST_TAKEN = "+first"
SCATTER = 0.01  # two measurements of the same quiet path differ by about so much


def candidates(pairs: Pairs, pattern: Pattern, request: Request, ranked: Sequence[Ranked]) -> tuple[Candidate, ...]:
    """Every ranked group with its rates and its reason, the chosen one first."""
    measured = _concurrent if request.flows else _measured
    bare = [measured(Members.of(pairs, r.group), pattern, r) for r in ranked]
    if request.method != "random" and not request.flows and not _judged_by_time(bare[0]) and not _shares(bare):
        bare = _in_order(bare)
    chosen = bare[0]
    explained = [replace(chosen, reason=_decided(_won(chosen, request), bare, request))]
    explained += [replace(other, reason=_lost(other, chosen, request)) for other in bare[1:]]
    return tuple(map(_unjoined, explained)) if request.method == "compute" else tuple(explained)


@dataclass(frozen=True)
class Members:
    """The nodes of a group, each once, and which of them each rank is on; `whole`: all that may be used."""

    pairs: Pairs
    at: Ints
    whole: Pairs

    @classmethod
    def of(cls, pairs: Pairs, group: Group) -> Members:
        """From the places of ranks among the usable nodes."""
        place = {node: number for number, node in enumerate(dict.fromkeys(group))}
        return cls(pairs.among(list(place)), np.array([place[node] for node in group], dtype=np.int64), pairs)

    @property
    def names(self) -> tuple[str, ...]:
        """Rank by rank."""
        return tuple(self.pairs.usable[node].id for node in self.at.tolist())

    @property
    def cpu(self) -> list[float]:
        """Of each rank."""
        return [self.pairs.usable[node].effective_cpu for node in self.at.tolist()]


def _shares(groups: Sequence[Candidate]) -> bool:
    """Whether ranks share nodes: then the search has put the groups in order."""
    return any(len(set(group.nodes)) < len(group.nodes) for group in groups)


def _between(pattern: Pattern, group: Group) -> Pattern:
    """The pattern without the pairs inside a node, which take no link."""
    if len(set(group)) == len(group):
        return pattern
    edges = tuple(edge for edge in pattern.edges if group[edge[0]] != group[edge[1]])
    return Pattern(pattern.name, pattern.ranks, edges)


def _unjoined(candidate: Candidate) -> Candidate:
    """With the pair that has no path, of which a choice by processors takes no notice."""
    slowest = candidate.bottleneck
    if slowest is None or slowest.link is not None or "group" in candidate.reason.facts:
        return candidate
    pair = [slowest.source, slowest.target]
    return replace(candidate, reason=Reason.of(Code.UNJOINED, why=candidate.reason, pair=pair))


def _measured(group: Members, pattern: Pattern, ranked: Ranked) -> Candidate:
    names, cpu = group.names, group.cpu
    min_cpu, mean_cpu = min(cpu), sum(cpu) / len(cpu)
    edges = _edge_rates(group, names, pattern)
    if not edges:
        objective = Objective(None, min_cpu)
        return Candidate(names, objective, None, None, (), ranked.value, ranked.proved, mean_cpu=mean_cpu)
    slowest = edges[0]
    listed = tuple(edges[:MAX_LISTED])
    if len(edges) <= MAX_LISTED:
        listed = tuple(sorted(edges, key=lambda edge: edge.ranks))
    objective = Objective(slowest.bandwidth, min_cpu)
    group_and_worth = (names, objective, slowest, slowest.link, listed, ranked.value, ranked.proved)
    return Candidate(*group_and_worth, mean_cpu=mean_cpu, level=ranked.level)


def _concurrent(group: Members, pattern: Pattern, ranked: Ranked) -> Candidate:
    """The same when all pairs talk at once: a pair has the rate of its slower direction."""
    names, pattern = group.names, _between(pattern, ranked.group)
    if not pattern.edges:
        return _measured(group, pattern, ranked)
    edges = slower_directions(group.whole, pattern, ranked.group, MAX_LISTED)
    order = sorted(range(len(edges)), key=lambda i: (edges[i].bandwidth, -edges[i].weight, edges[i].ranks))
    first = order[0]
    listed = sorted(order[:MAX_LISTED], key=lambda i: edges[i].ranks)
    objective = Objective(edges[first].bandwidth, min(group.cpu))
    link = edges[first].link
    return Candidate(
        names,
        objective,
        edges[first],
        link,
        tuple(edges[i] for i in listed),
        ranked.value,
        ranked.proved,
        bound=ranked.bound,
    )


def _edge_rates(group: Members, names: Sequence[str], pattern: Pattern) -> list[EdgeRate]:
    """The pattern's pairs between nodes, slowest first; only as many as are listed, the slowest always among them."""
    if len(group.pairs.usable) < 2:
        return []
    rates = np.maximum(group.pairs.rates(bandwidth), 0.0)
    slowest = slowest_rank_pairs(pattern, group.at, rates, MAX_LISTED + 1)
    ranks = list(zip(slowest.low.tolist(), slowest.high.tolist(), strict=True))
    ends = [(int(group.at[first]), int(group.at[second])) for first, second in ranks]
    links = [group.pairs.topology.links[place] if place >= 0 else None for place in group.pairs.bindings(ends)]
    return [
        EdgeRate(
            pair,
            names[pair[0]],
            names[pair[1]],
            rate,
            weight,
            link.measured_at if link else None,
            link.origin if link else "",
            (link.source, link.target) if link else None,
        )
        for pair, rate, weight, link in zip(ranks, slowest.rate.tolist(), slowest.weight.tolist(), links, strict=True)
    ]


def _won(chosen: Candidate, request: Request) -> Reason:
    group = _group(chosen)
    if request.method == "random":
        return Reason.of(Code.DRAWN, seed=request.seed, group=group)
    if not chosen.proved and chosen.gap is not None:
        return Reason.of(Code.NEAR_BOUND, gap=chosen.gap, group=group)
    if not chosen.proved:
        return Reason.of(Code.NOT_PROVED, budget=request.time_budget, group=group)
    nodes = len(set(chosen.nodes))
    if chosen.bottleneck is None and request.method != "compute" and _shares([chosen]):
        return Reason.of(Code.INSIDE_NODES, nodes=nodes, cpu=chosen.objective.min_cpu)
    if _judged_by_cpu(chosen, request):
        return Reason.of(Code.MOST_CPU, nodes=nodes, cpu=chosen.objective.min_cpu)
    if request.method == "balanced":
        balance = _balance(chosen, request)
        return Reason.of(Code.MOST_BALANCED, nodes=nodes, flows=request.flows, balance=balance, group=group)
    if _judged_by_time(chosen):
        return Reason.of(Code.LEAST_MESSAGE_TIME, slack=request.slack, group=group)
    return Reason.of(Code.FASTEST, nodes=nodes, flows=request.flows, group=group)


def _lost(other: Candidate, chosen: Candidate, request: Request) -> Reason:
    if request.method == "random":
        return Reason.of(Code.DRAWN_LATER, group=_group(other))
    if _judged_by_time(chosen):
        more = _talking(other) / _talking(chosen) - 1.0
        if more >= _FELT:
            return Reason.of(Code.MORE_MESSAGE_TIME, more=more, group=_group(other))
        return Reason.of(Code.AS_GOOD, group=_group(other))
    if other.score < chosen.score:
        return _lower_score(other, chosen, request)
    return _equal_score(other, chosen, request)


def _lower_score(other: Candidate, chosen: Candidate, request: Request) -> Reason:
    if request.method == "balanced" and not _judged_by_cpu(other, request):
        balance, less = _balance(other, request), chosen.score - other.score
        return Reason.of(Code.LESS_BALANCED, less=less, balance=balance, group=_group(other))
    if _judged_by_cpu(other, request):
        cpu = other.objective.min_cpu
        return Reason.of(Code.LESS_CPU, cpu=cpu, less=chosen.objective.min_cpu - cpu)
    if chosen.bottleneck is None:
        return Reason.of(Code.TAKES_LINKS, group=_group(other))
    best = chosen.objective.min_bandwidth or 0.0
    slower = best - (other.objective.min_bandwidth or 0.0)
    return Reason.of(Code.SLOWER_PAIR, less=slower, is_scatter=slower < SCATTER * best, group=_group(other))


def _balance(candidate: Candidate, request: Request) -> dict[str, object]:
    """What the balanced method maximised, and which of its two parts binds: for flows only one of them does."""
    processors = candidate.objective.min_cpu / request.compute_priority
    by_cpu = processors <= candidate.score * (1 + 1e-9)
    binds = ("cpu" if by_cpu else "network") if request.flows else "both"
    return {"score": candidate.score, "binds": binds, "cpu": processors}


def _equal_score(other: Candidate, chosen: Candidate, request: Request) -> Reason:
    """Equal in what the method maximises: name what decided, if anything did."""
    group = _group(other)
    less = _less(other, chosen)
    decided = _first(less, request)
    if _shares([other, chosen]) and decided in ("", "mean", "mean_cpu"):
        more = _between_nodes(other) / (_between_nodes(chosen) or 1.0) - 1.0
        if more >= _FELT:
            return Reason.of(Code.MORE_BETWEEN_NODES, more=more, group=group)
        return Reason.of(Code.AS_GOOD, group=group)
    if decided == "cpu":
        faster = less["bandwidth"] < 0
        cpu, best = other.objective.min_cpu, chosen.objective.min_cpu
        return Reason.of(Code.LOWER_CPU, cpu=cpu, best=best, is_faster=faster, group=group)
    if decided == "bandwidth":
        code = Code.SLOWER_AT_EQUAL_CPU if _judged_by_cpu(chosen, request) else Code.SLOWER_AT_EQUAL_SHARE
        return Reason.of(code, less=less["bandwidth"], group=group)
    if decided == "mean":
        return Reason.of(Code.LOWER_MEAN, mean=_mean_rate(other), less=less["mean"], group=group)
    if decided == "mean_cpu":
        return Reason.of(Code.LOWER_MEAN_CPU, cpu=other.mean_cpu, best=chosen.mean_cpu, group=group)
    if request.method == "compute":
        group = {**group, "pair": None}
    return Reason.of(Code.AS_GOOD, group=group)


def _in_order(groups: Sequence[Candidate]) -> list[Candidate]:
    """Those that are equal in all that the search goes by in the order of their mean rate, then of their mean cpu."""

    def searched(group: Candidate) -> tuple[float, float, float]:
        return group.score, group.objective.min_cpu, group.objective.min_bandwidth or 0.0

    found: list[Candidate] = []
    for _, equal in groupby(groups, key=searched):
        found += sorted(equal, key=lambda group: (-float(f"{_mean_rate(group) or 0.0:.9g}"), -group.mean_cpu))
    return found


def _decided(won: Reason, groups: Sequence[Candidate], request: Request) -> Reason:
    """Why the first group won, with what decided among those that are equal in what the method maximises."""
    chosen, *others = groups
    if request.method == "random" or request.flows or _judged_by_time(groups[0]) or _shares(groups):
        return won
    deciding = [_first(_less(other, chosen), request) for other in others if other.score >= chosen.score]
    by = next(filter(None, deciding), "")
    if by and "" in deciding:
        by += FIRST_TAKEN
    return Reason.of(Code.EQUALS_DECIDED, why=won, by=by) if by else won


def _first(less: Mapping[str, float], request: Request) -> str:
    """The first in the order of choosing in which a group has less than the chosen one; empty when there is none."""
    order = (
        ("bandwidth", "mean", "cpu") if request.flows or request.method == "compute" else ("cpu", "bandwidth", "mean")
    )
    return next((name for name in (*order, "mean_cpu") if less[name] > 0), "")


def _less(other: Candidate, chosen: Candidate) -> dict[str, float]:
    """By how much a group has less than the chosen one, 0 where people would see no difference; below 0 it has more."""
    cpu, best = other.objective.min_cpu, chosen.objective.min_cpu
    rates = (other.objective.min_bandwidth or 0.0, chosen.objective.min_bandwidth or 0.0)
    means = (_mean_rate(other) or 0.0, _mean_rate(chosen) or 0.0)
    return {
        "cpu": best - cpu if _as_shown(cpu) != _as_shown(best) else 0.0,
        "bandwidth": rates[1] - rates[0] if abs(rates[1] - rates[0]) > 1e-9 * max(rates) else 0.0,
        "mean": means[1] - means[0] if abs(means[1] - means[0]) > 1e-9 * max(means) else 0.0,
        "mean_cpu": chosen.mean_cpu - other.mean_cpu
        if _as_shown(other.mean_cpu) != _as_shown(chosen.mean_cpu)
        else 0.0,
    }


def _as_shown(share: float) -> float:
    """To the three digits that people are shown: what looks the same to them is no difference."""
    return round(share, 2 if share >= 1 else 3)


def _judged_by_time(chosen: Candidate) -> bool:
    return chosen.level is not None


def _talking(candidate: Candidate) -> float:
    """Weight over rate, summed over the pairs of the rank where that is most."""
    busy: dict[int, float] = defaultdict(float)
    for edge in candidate.edges:
        for rank in edge.ranks:
            busy[rank] += edge.weight / edge.bandwidth
    return max(busy.values())


def _between_nodes(candidate: Candidate) -> float:
    """Weight over rate, summed over the pairs that take a link."""
    return sum(edge.weight / edge.bandwidth for edge in candidate.edges if edge.bandwidth > 0)


def _judged_by_cpu(candidate: Candidate, request: Request) -> bool:
    return request.method == "compute" or candidate.bottleneck is None


def _group(candidate: Candidate) -> dict[str, object]:
    """What it offers, as the facts of a reason."""
    edge = candidate.bottleneck
    return {
        "pair": None if edge is None else [edge.source, edge.target],
        "bandwidth": None if edge is None else edge.bandwidth,
        "cpu": candidate.objective.min_cpu,
        "is_linked": candidate.link is not None,
    }


def _mean_rate(candidate: Candidate) -> float | None:
    weight = sum(edge.weight for edge in candidate.edges)
    return sum(edge.bandwidth * edge.weight for edge in candidate.edges) / weight if weight else None
