"""Each method as one question: which node sets maximise the lowest value? The best few, with the fitting search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gridportal.base.errors import ImpossibleError
from gridportal.network.link_columns import link_columns
from gridportal.network.narrowest import bandwidth
from scheduling.jobs.core.methods import Method
from scheduling.selection.core.flows.concurrent import LEAST_SECONDS, best_concurrent
from scheduling.selection.core.flows.flow_question import FlowQuestion
from scheduling.selection.core.question import Question
from scheduling.selection.core.single_nodes import ranked_on_single_nodes
from scheduling.selection.core.slots.shared_nodes import ranked_on_slots
from scheduling.selection.core.threshold import OutOfTime, Ranked
from scheduling.selection.core.unlike_groups import unlike_groups

#: Part of the time budget of a search with concurrent flows for what is best by pairs.
PAIRS_SHARE = 0.1
#: Of networks with more nodes whose pairs have to be looked at one by one that takes too long.
MOST_SEARCHED = 256


def ranked(question: Question) -> list[Ranked]:
    """The best `request.candidates` groups as places in `usable`, by the request's method."""
    request = question.request
    by_flows = request.flows and not question.is_by_slots and request.rank_count > 1
    if request.differ > 1 and request.candidates > 1 and not by_flows:
        return _unlike(question)
    if question.is_by_slots:
        return ranked_on_slots(question)
    if by_flows and question.pattern.edges and request.method != "compute":
        return _concurrent(question)
    return ranked_on_single_nodes(question)


def _unlike(question: Question) -> list[Ranked]:
    """The same, groups that differ in several nodes alone; those after the first have as much time as it took."""
    started, last = question.clock(), question.deadline
    strength = _strength(question)

    def ask(nodes: Sequence[int], count: int) -> list[Ranked]:
        now = question.clock()
        first = len(nodes) == len(question.usable)
        part = replace(
            question,
            pairs=question.pairs if first else question.pairs.among(nodes),
            request=replace(question.request, candidates=count, differ=1),
            deadline=last if first else now + max(LEAST_SECONDS, now - started),
        )
        if len(nodes) < (part.request.nodes or 1):
            return []
        try:
            found = ranked(part)
        except ImpossibleError:  # without a node that a rank is pinned to there is no further group
            if first:
                raise
            return []
        return [replace(each, group=tuple(nodes[at] for at in each.group)) for each in found]

    request = question.request
    return unlike_groups(ask, range(len(question.usable)), request.candidates, request.differ, strength.__getitem__)


def _strength(question: Question) -> list[tuple[float, ...]]:
    """Of each node the bandwidth of its fastest link, then its cpu."""
    columns = link_columns(question.pairs.topology)
    fastest = np.zeros(len(columns.place))
    for ends in (columns.source, columns.target):
        np.maximum.at(fastest, ends, columns.bandwidth)
    places = [columns.place[node.id] for node in question.usable]
    return [(*each, float(at)) for at, each in enumerate(zip(fastest[places].tolist(), question.cpu, strict=True))]


def _concurrent(question: Question) -> list[Ranked]:
    """The highest least rate when all pairs talk at once, from what is best by pairs on."""
    started = question.clock()
    methods: list[Method] = [question.request.method]
    if question.request.method == "balanced" and question.request.min_bandwidth > 0:
        methods.append("communication")  # what is balanced by pairs may not have it when all talk
    start_groups = [r.group for method in methods for r in _by_pairs(question, method, started)]
    flows = FlowQuestion(
        question.link_crossings(),
        question.pairs.switches,
        question.pattern,
        question.request.candidates,
        rng=question.rng,
        clock=question.clock,
        deadline=question.deadline,
        differ=min(question.request.differ, question.request.rank_count),
    )
    return best_concurrent(flows, start_groups)


def _by_pairs(question: Question, method: Method, started: float) -> list[Ranked]:
    """What is best by pairs, found in a small part of the time; it only serves to start from."""
    if question.pairs.tree(bandwidth) is None and len(question.usable) > MOST_SEARCHED:
        return []
    request = replace(question.request, method=method, flows=False, candidates=1)
    try:
        limit = question.clock() + PAIRS_SHARE * (question.deadline - started)
        return ranked(replace(question, request=request, deadline=limit))
    except OutOfTime:
        return []
