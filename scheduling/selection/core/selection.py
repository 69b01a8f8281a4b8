"""Node selection: from a network's state and a request to the best group of nodes, the next best, and why.

Source: Selection 1999 (compute, communication, balanced) and Pattern 2003 (pattern). Where a paper's greedy can stop
short of the optimum (Selection 1999, figure 3 ends at the first link whose removal does not help), this does not.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from gridportal.base.errors import ImpossibleError
from gridportal.network.topology import Topology
from scheduling.jobs.core.methods import METHODS, Method
from scheduling.jobs.core.patterns import Pattern, named
from scheduling.jobs.core.units import rate_text
from scheduling.selection.core import drawing, eligible, explain
from scheduling.selection.core.connected import largest_connected
from scheduling.selection.core.pair_groups import Ticker
from scheduling.selection.core.pair_rates import Pairs
from scheduling.selection.core.placement import Candidate, EdgeRate, Objective, Request, Selection, document
from scheduling.selection.core.ranking import Question
from scheduling.selection.core.threshold import OutOfTime, Ranked

__all__ = [
    "METHODS",
    "Candidate",
    "EdgeRate",
    "Method",
    "Objective",
    "Request",
    "Selection",
    "document",
    "select",
]


#: For how long the largest connected set is looked for, to name it in a sentence.
CONNECTED_SECONDS = 0.5


def select(topology: Topology, request: Request, *, rng: random.Random, clock: Callable[[], float]) -> Selection:
    """Choose `request.nodes` compute nodes, one rank each, and the next best groups.

    Finds: the group that maximises the lowest cpu (compute), the lowest bandwidth over all pairs (communication) or
    over the pattern's pairs (pattern), or the lowest of both as fractions (balanced); random draws. The value is the
    optimum whenever `optimal` is true: always, except for random, and for searches on pairs that ran out of
    `time_budget`. Candidates are the distinct node sets with the next best values, each in its own best rank order;
    among sets of equal value those that share few nodes with earlier ones come first.
    With `flows` the pairs talk all at once: a group is worth the least max-min rate over its pairs' flows, both ways.
    Does not promise: that, without `flows`, simultaneous streams over one link keep their rates (Selection 1999, 3.4),
    that latency counts, or which of several equally good groups is chosen beyond: higher mean rate, then cpu, then file
    order, as far as quick searches see. Of several paths the one counts that gridportal.network.routes names.
    Cost: O(n log n) on trees; exponential at worst on measured pairs and networks with cycles, bounded by
    `time_budget` seconds.
    Raises InputError for a bad value and ImpossibleError, one sentence, when no group satisfies the request.

    >>> from gridportal.network.topology import parse
    >>> links = [("a", "s", 90e6), ("b", "s", 40e6), ("c", "s", 80e6)]
    >>> net = parse({"nodes": [*({"id": x} for x in "abc"), {"id": "s", "kind": "network"}],
    ...              "links": [{"source": u, "target": v, "capacity": w} for u, v, w in links]})
    >>> chosen = select(net, Request(2, "communication"), rng=random.Random(0), clock=lambda: 0.0)
    >>> chosen.nodes, chosen.objective.min_bandwidth, chosen.candidates[0].link
    (('a', 'c'), 80000000.0, ('c', 's'))
    """
    started = clock()
    eligible.check(request)
    usable = eligible.usable_nodes(topology, request)
    pattern = _pattern(request)
    pairs = Pairs(topology, usable)
    question = Question(pairs, request, pattern, rng, clock, started + request.time_budget)
    try:
        kept = _satisfying(question, _drawn(question) if request.method == "random" else question.ranked())
    except OutOfTime as error:
        budget = f"{request.time_budget:g} s"
        raise ImpossibleError(
            f"No group of {request.rank_count} nodes was found in {budget}; a larger time_budget may find one."
        ) from error
    found = explain.candidates(pairs, pattern, request, kept)
    first = found[0]
    return Selection(
        nodes=first.nodes,
        method=request.method,
        objective=first.objective,
        bottleneck=first.bottleneck,
        optimal=first.proved,
        candidates=found,
        seconds=clock() - started,
        pattern=request.pattern if request.by_pattern else None,
        flows=request.flows,
    )


def _pattern(request: Request) -> Pattern:
    """The pairs that count: the pattern's where the request goes by it, else every pair."""
    if request.by_pattern and request.pattern is not None:
        return request.pattern
    return named("all-to-all", request.rank_count)


def _drawn(question: Question) -> list[Ranked]:
    request = question.request
    groups = drawing.draw(
        question.pairs,
        request.rank_count,
        request.candidates,
        request.min_bandwidth,
        rng=question.rng,
        clock=question.clock,
        deadline=question.deadline,
    )
    return [Ranked(0.0, group, False) for group in groups]


def _satisfying(question: Question, ranked: list[Ranked]) -> list[Ranked]:
    """The groups with min_bandwidth; ImpossibleError that names the best that could be had when there is none."""
    request = question.request
    if not question.pattern.edges:
        return ranked
    by_bandwidth = request.method in ("communication", "pattern")
    kept = [r for r in ranked if not by_bandwidth or r.value >= request.min_bandwidth]
    if kept:
        return kept
    if not ranked and not by_bandwidth and request.min_bandwidth > 0:
        ranked = _best_bandwidth(question)
    raise ImpossibleError(_why_impossible(question, ranked))


def _why_impossible(question: Question, ranked: list[Ranked]) -> str:
    request = question.request
    group = f"{request.rank_count} nodes" + (f" for {question.pattern.name}" if request.by_pattern else "")
    if not ranked:
        return (
            f"No {group} are joined by paths among the {len(question.usable)} nodes that may be used{_reach(question)}."
        )
    best = ranked[0]
    names = " ".join(question.usable[i].id for i in best.group)
    wanted = rate_text(request.min_bandwidth)
    reach = "reach" if best.proved else "found in time reach"
    return f"No {group} with {wanted} or more: the best {request.rank_count} {reach} {rate_text(best.value)} ({names})."


def _reach(question: Question) -> str:
    if len(question.pattern.components()) > 1:
        return ""
    tick = Ticker(question.clock, question.clock() + CONNECTED_SECONDS, every=1)
    every_pair = question.pattern.is_all_to_all()
    largest = largest_connected(question.pairs, question.request.rank_count, tick, every_pair=every_pair)
    return "" if largest is None else f"; the largest connected set is {largest}"


def _best_bandwidth(question: Question) -> list[Ranked]:
    """What the communication method would reach, for the sentence only."""
    request = question.request
    wish = replace(request, method="communication", candidates=1, min_bandwidth=0.0)
    return replace(question, request=wish, deadline=question.clock() + request.time_budget).ranked()
