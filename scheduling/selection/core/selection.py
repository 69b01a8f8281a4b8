"""Node selection: from a network's state and a request to the best group of nodes, the next best, and why.

Source: Selection 1999 (compute, communication, balanced) and Pattern 2003 (pattern). Where a paper's greedy can stop
short of the optimum (Selection 1999, figure 3 ends at the first link whose removal does not help), this does not.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gridportal.base.errors import ImpossibleError
from gridportal.network.narrowest import bandwidth
from gridportal.network.topology import Topology
from scheduling.jobs.core import label_conditions
from scheduling.jobs.core.methods import METHODS, Method
from scheduling.jobs.core.patterns import Pattern, named
from scheduling.jobs.core.units import rate_text
from scheduling.selection.core import drawing, eligible
from scheduling.selection.core.explanations import explain
from scheduling.selection.core.pairs.connected import largest_connected
from scheduling.selection.core.pairs.pair_groups import Ticker
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.placement import Candidate, EdgeRate, Objective, Request, Selection, document
from scheduling.selection.core.question import Question
from scheduling.selection.core.ranking import ranked
from scheduling.selection.core.slots.crowded_nodes import crowding
from scheduling.selection.core.slots.slot_drawing import draw_on_slots
from scheduling.selection.core.threshold import Group, OutOfTime, Ranked

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
    """Choose the compute nodes for a request's ranks, a node for each or several on one, and the next best groups.

    Finds: the group that maximises the lowest cpu (compute), the lowest bandwidth over all pairs (communication) or
    over the pattern's pairs (pattern), or the lowest of both as fractions (balanced); random draws. The value is the
    optimum whenever `optimal` is true: always, except for random, and for searches on pairs that ran out of
    `time_budget`. Candidates are the distinct node sets with the next best values, each in its own best rank order;
    among sets of equal value those that share few nodes with earlier ones come first.
    With `flows` the pairs talk all at once: a group is worth the least max-min rate over its pairs' flows, both ways.
    Where ranks share nodes, pairs inside a node take no link; a candidate is a node set with its best placement, and
    among equals the one comes first whose messages between nodes take the least time. `nodes` are rank by rank.
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
    pairs = Pairs.of(topology, usable)
    question = Question(pairs, request, pattern, rng, clock, started + request.time_budget)
    try:
        kept = _satisfying(question, _drawn(question) if request.method == "random" else ranked(question))
    except OutOfTime as error:
        budget = f"{request.time_budget:g} s"
        raise ImpossibleError(
            f"No group of {_size(question)} was found in {budget}; a larger time_budget may find one."
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
        pattern=request.talking if request.by_pattern else None,
        flows=request.flows,
    )


def _pattern(request: Request) -> Pattern:
    """The pairs that count: the pattern's where the request goes by it, else every pair."""
    if request.by_pattern and request.talking is not None:
        return request.talking
    return named("all-to-all", request.rank_count)


def _drawn(question: Question) -> list[Ranked]:
    """Where a set is to be avoided, one more is drawn in case it is among them."""
    request = question.request
    wanted = request.candidates + bool(request.avoid)
    found = _drawn_on_slots(question, wanted) if question.is_by_slots else _drawn_one_a_node(question, wanted)
    nodes = question.pairs.usable
    found.sort(key=lambda each: {nodes[place].id for place in each.group} == request.avoid)
    return found[: request.candidates]


def _drawn_one_a_node(question: Question, count: int) -> list[Ranked]:
    request = question.request
    groups = drawing.draw(
        question.pairs,
        request.rank_count,
        count,
        request.min_bandwidth,
        rng=question.rng,
        clock=question.clock,
        deadline=question.deadline,
    )
    return [Ranked(0.0, group, False) for group in groups]


def _drawn_on_slots(question: Question, count: int) -> list[Ranked]:
    request = question.request
    rates = question.pairs.rates(bandwidth) if request.min_bandwidth > 0 else None
    slow = question.slow_pairs

    def keeps(group: Group) -> bool:
        nodes = list(dict.fromkeys(group))
        if slow is not None and slow[np.ix_(nodes, nodes)].any():
            return False
        if rates is None:
            return True
        among = rates[np.ix_(nodes, nodes)][np.triu_indices(len(nodes), 1)]
        return bool((among >= request.min_bandwidth).all())

    groups = draw_on_slots(
        question.room,
        request.rank_count,
        count,
        keeps,
        rng=question.rng,
        clock=question.clock,
        deadline=question.deadline,
    )
    if not groups:  # rarely hit by chance: the best there is
        groups = [each.group for each in _best_bandwidth(question) if keeps(each.group)]
    return [Ranked(0.0, group, False) for group in groups]


def _satisfying(question: Question, found: list[Ranked]) -> list[Ranked]:
    """The groups with min_bandwidth; ImpossibleError that names the best that could be had when there is none."""
    request = question.request
    if found and not question.pattern.edges:
        return found
    by_bandwidth = request.method in ("communication", "pattern")
    kept = [r for r in found if not by_bandwidth or r.value >= request.min_bandwidth]
    if kept:
        return kept
    if not found and not by_bandwidth and request.min_bandwidth > 0:
        found = _best_bandwidth(question)
    raise ImpossibleError(_why_impossible(question, found))


def _why_impossible(question: Question, found: list[Ranked]) -> str:
    request = question.request
    group = _size(question) + (f" for {question.pattern.name}" if request.by_pattern else "")
    too_many = None if found else crowding(question.request, question.room, question.usable)
    if too_many is not None:
        return f"No {group} can be placed as pins and groups ask: {too_many}."
    latency = request.require.get(label_conditions.LATENCY)
    if not found and latency is not None:
        return f"No {group} have {label_conditions.written(label_conditions.LATENCY, latency)} s between all that talk."
    if not found:
        return (
            f"No {group} are joined by paths among the {len(question.usable)} nodes that may be used{_reach(question)}."
        )
    best = found[0]
    names = " ".join(question.usable[i].id for i in best.group)
    wanted = rate_text(request.min_bandwidth)
    reach = "reach" if best.proved else "found in time reach"
    return f"No {group} with {wanted} or more: {_best_size(question)} {reach} {rate_text(best.value)} ({names})."


def _size(question: Question) -> str:
    request = question.request
    if not question.is_by_slots:
        return f"{request.rank_count} nodes"
    on = "" if request.node_count in (None, request.rank_count) else f" on {request.node_count} nodes"
    return f"{request.rank_count} ranks{on}"


def _best_size(question: Question) -> str:
    return "the best" if question.is_by_slots else f"the best {question.request.rank_count}"


def _reach(question: Question) -> str:
    if len(question.pattern.components()) > 1 or question.is_by_slots:
        return ""
    tick = Ticker(question.clock, question.clock() + CONNECTED_SECONDS, every=1)
    every_pair = question.pattern.is_all_to_all()
    largest = largest_connected(question.pairs, question.request.rank_count, tick, every_pair=every_pair)
    return "" if largest is None else f"; the largest connected set is {largest}"


def _best_bandwidth(question: Question) -> list[Ranked]:
    """What the communication method would reach, for the sentence only."""
    request = question.request
    wish = replace(request, method="communication", candidates=1, min_bandwidth=0.0)
    return ranked(replace(question, request=wish, deadline=question.clock() + request.time_budget))
