"""Each method as one question: which node sets maximise the lowest value? The best few, with the fitting algorithm."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gridportal.base.errors import ImpossibleError
from gridportal.network.narrowest import bandwidth
from gridportal.network.topology import Node
from scheduling.jobs.core import label_conditions
from scheduling.jobs.core.methods import Method
from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.aims import Aim, Mask, PairStages, Stages, TreeStages, best_by_aims
from scheduling.selection.core.flows.concurrent import LEAST_SECONDS, FlowQuestion, best_concurrent
from scheduling.selection.core.flows.link_crossings import LinkCrossings
from scheduling.selection.core.method_aims import aims_of, caps_of
from scheduling.selection.core.pairs.busiest_rank_time import MOST_NODES, least_busiest_rank_time
from scheduling.selection.core.pairs.pair_groups import Ticker, best_on_pairs, reordered
from scheduling.selection.core.pairs.pair_latency import slow_pairs
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.placement import Request
from scheduling.selection.core.slots.node_slots import room_of
from scheduling.selection.core.slots.shared_nodes import ranked_on_slots
from scheduling.selection.core.slots.slot_room import Room
from scheduling.selection.core.threshold import Clock, Group, OutOfTime, Ranked, ThresholdSearch
from scheduling.selection.core.trees import usable_network as networks
from scheduling.selection.core.trees.merge_tree import MergeTree
from scheduling.selection.core.trees.packing import Packing
from scheduling.selection.core.trees.part_sizes import part_sizes, within
from scheduling.selection.core.trees.tree_groups import TreeGroups
from scheduling.selection.core.trees.usable_network import Bools, Floats, Network
from scheduling.selection.core.unlike_groups import unlike_groups

REORDERED_RANKS = 128
#: Part of the time budget of a search with concurrent flows for what is best by pairs.
PAIRS_SHARE = 0.1
#: Of networks with more nodes whose pairs have to be looked at one by one that takes too long.
MOST_SEARCHED = 256
#: Part of the time that is left for each step of choosing among equals.
EQUALS_SHARE = 0.25
BUSIEST_RANK_SECONDS = 0.5


@dataclass(frozen=True)
class Question:
    """What to maximise: the lowest of the links' values and of the nodes' caps over the pattern's pairs."""

    pairs: Pairs
    request: Request
    pattern: Pattern
    rng: random.Random
    clock: Clock
    deadline: float

    @property
    def usable(self) -> Sequence[Node]:
        """The nodes that may be used."""
        return self.pairs.usable

    def ranked(self) -> list[Ranked]:
        """The best `request.candidates` groups as places in `usable`, by the request's method."""
        by_flows = self.request.flows and not self.is_by_slots and self.request.rank_count > 1
        if self.request.differ > 1 and self.request.candidates > 1 and not by_flows:
            return self._unlike()
        if self.is_by_slots:
            return ranked_on_slots(self)
        method = self.request.method
        if self.request.rank_count == 1 or not self.pattern.edges:
            return self._by_cpu(self.request.candidates)
        if method == "compute":
            return self._compute()
        if self.request.flows:
            return self._concurrent()
        return self._balanced() if method == "balanced" else self._communication()

    def _unlike(self) -> list[Ranked]:
        """The same, groups that differ in several nodes alone; those after the first have as much time as it took."""
        started, last = self.clock(), self.deadline
        strength = self._strength()

        def ask(nodes: Sequence[int], count: int) -> list[Ranked]:
            now = self.clock()
            first = len(nodes) == len(self.usable)
            question = replace(
                self,
                pairs=self.pairs if first else self.pairs.among(nodes),
                request=replace(self.request, candidates=count, differ=1),
                deadline=last if first else now + max(LEAST_SECONDS, now - started),
            )
            if len(nodes) < (self.request.nodes or 1):
                return []
            try:
                found = question.ranked()
            except ImpossibleError:  # without a node that a rank is pinned to there is no further group
                if first:
                    raise
                return []
            return [replace(each, group=tuple(nodes[at] for at in each.group)) for each in found]

        request = self.request
        return unlike_groups(ask, range(len(self.usable)), request.candidates, request.differ, strength.__getitem__)

    def _strength(self) -> list[tuple[float, ...]]:
        """Of each node the bandwidth of its fastest link, then its cpu."""
        columns = self.pairs.topology.link_columns
        fastest = np.zeros(len(columns.place))
        for ends in (columns.source, columns.target):
            np.maximum.at(fastest, ends, columns.bandwidth)
        places = [columns.place[node.id] for node in self.usable]
        return [(*each, float(at)) for at, each in enumerate(zip(fastest[places].tolist(), self.cpu, strict=True))]

    @cached_property
    def room(self) -> Room:
        """Slots of nodes, and where each rank may stand."""
        return room_of(self.request, self.usable)

    @cached_property
    def slow_pairs(self) -> Bools | None:
        """Which pairs of nodes do not meet the condition on latency; None where there is none."""
        condition = self.request.require.get(label_conditions.LATENCY)
        return None if condition is None else slow_pairs(self.pairs, condition)

    @property
    def is_by_slots(self) -> bool:
        """Whether it is no matter of one rank on each of some nodes, all alike."""
        shares = not self.request.is_one_a_node and bool((self.room.capacity > 1).any())
        if shares or self.room.domains is not None or label_conditions.LATENCY in self.request.require:
            return True
        lonely = len(self.pattern.components()[-1]) == 1 and len(self.pattern.edges) > 0
        return lonely and self.request.method == "balanced" and not self.request.flows

    @cached_property
    def aims(self) -> list[Aim]:
        """What the method maximises, then what decides among equals."""
        talks = self.request.rank_count > 1 and len(self.pattern.edges) > 0
        return [aim for _, aim in aims_of(self.request, self.cpu, talks=talks)]

    @cached_property
    def cpu(self) -> list[float]:
        """Effective cpu of each usable node."""
        topology = self.pairs.topology
        if self.usable is topology.compute_nodes():
            cpu: list[float] = topology.link_columns.effective_cpu.tolist()
            return cpu
        return [node.effective_cpu for node in self.usable]

    def _by_cpu(self, k: int) -> list[Ranked]:
        """The m nodes with the highest cpu (Selection 1999, 3.2), and the sets with the next lower minima."""
        return ranked_by_cpu(self.cpu, self.request.rank_count, k)

    def _compute(self) -> list[Ranked]:
        """The most cpu, and among equals the highest lowest bandwidth.

        With min_bandwidth of groups whose pairs all have it (Selection 1999, 3.3, fixed requirements)."""
        aims = self.aims
        floor, k = self.request.min_bandwidth, self.request.candidates
        if floor > 0:
            return self._solve(aims, floor)
        found = self._by_cpu(k + 1)
        if len({each.value for each in found}) == len(found):
            return found[:k]
        return self._solve(aims, by_cpu=found)

    def _communication(self) -> list[Ranked]:
        """The highest lowest bandwidth (Selection 1999, figure 2; Pattern 2003, figure 1), then cpu."""
        found = self._solve(self.aims)
        request = self.request
        if not found or request.method != "pattern" or request.slack <= 0 or len(self.usable) > MOST_NODES:
            return found
        tick = Ticker(self.clock, self.clock() + BUSIEST_RANK_SECONDS, every=1)
        rates = self.pairs.rates(bandwidth)
        return least_busiest_rank_time(
            rates, self.pattern, found, slack=request.slack, count=request.candidates, cpu=self.cpu, tick=tick
        )

    def _concurrent(self) -> list[Ranked]:
        """The highest least rate when all pairs talk at once, from what is best by pairs on."""
        started = self.clock()
        methods: list[Method] = [self.request.method]
        if self.request.method == "balanced" and self.request.min_bandwidth > 0:
            methods.append("communication")  # what is balanced by pairs may not have it when all talk
        start_groups = [r.group for method in methods for r in self._by_pairs(method, started)]
        question = FlowQuestion(
            self.link_crossings(),
            self.pairs.switches,
            self.pattern,
            self.request.candidates,
            rng=self.rng,
            clock=self.clock,
            deadline=self.deadline,
            differ=min(self.request.differ, self.request.rank_count),
        )
        return best_concurrent(question, start_groups)

    def link_crossings(self) -> LinkCrossings:
        """What flows get; for the balanced method as a fraction of what idle links of nodes give, beside their cpu."""
        if self.request.method != "balanced":
            return LinkCrossings(self.pairs)
        unit = self.request.reference_bandwidth or self._peak() / self._partners()
        caps = caps_of(self.request, self.cpu)
        return LinkCrossings(self.pairs, unit=unit, least=self.request.min_bandwidth, caps=caps)

    def _partners(self) -> int:
        """Of the rank with the most."""
        return max(Counter(rank for edge in self.pattern.edges for rank in edge[:2]).values())

    def _peak(self) -> float:
        """Bit/s of its fastest link, for the node with the least of the `nodes` nodes with the fastest links."""
        fastest = {node.id: 0.0 for node in self.usable}
        for link in self.pairs.topology.links:
            for end in (link.source, link.target):
                if end in fastest:
                    fastest[end] = max(fastest[end], link.capacity)
        many = min(self.request.node_count or self.request.rank_count, len(fastest))
        return sorted(fastest.values(), reverse=True)[many - 1] or 1.0

    def _by_pairs(self, method: Method, started: float) -> list[Ranked]:
        """What is best by pairs, found in a small part of the time; it only serves to start from."""
        if self.pairs.tree(bandwidth) is None and len(self.usable) > MOST_SEARCHED:
            return []
        request = replace(self.request, method=method, flows=False, candidates=1)
        try:
            limit = self.clock() + PAIRS_SHARE * (self.deadline - started)
            return replace(self, request=request, deadline=limit).ranked()
        except OutOfTime:
            return []

    def _balanced(self) -> list[Ranked]:
        """The highest fraction of cpu and bandwidth at once (Selection 1999, figure 3)."""
        return self._solve(self.aims, self.request.min_bandwidth)

    def _solve(self, aims: Sequence[Aim], floor: float = 0.0, *, by_cpu: Sequence[Ranked] = ()) -> list[Ranked]:
        """Exact in every case: by sweeps on networks without cycles, else by search on the pairs' routes.

        `by_cpu`: the answer by the first aim, where that is cpu and nodes need not be joined."""
        first = self.pairs.tree(aims[0].value, floor)
        together = len(self.pattern.components()) == 1
        star_like = first is not None and networks.is_star_like(first)
        if first is not None and (star_like or (together and self.pattern.is_all_to_all())):
            best = self._swept if together else self._packed
            stages: Stages = TreeStages(first, aims, lambda aim: self._tree(aim, aims[0], first, floor), best)
        else:
            stages = PairStages(
                len(aims), lambda aim: self.rates_by(aims[aim], floor), self.pattern.edges, self._searched
            )
        found = best_by_aims(_Apart(stages, by_cpu) if by_cpu else stages, self.request.candidates)
        return self._reordered(found) if isinstance(stages, TreeStages) else found

    def _tree(self, aim: Aim, other: Aim, known: Network, floor: float) -> Network:
        """The network with the links' values for one aim, as `known` has it for another."""
        return known if aim.value is other.value else self.pairs.tree(aim.value, floor) or known

    def rates_by(self, aim: Aim, floor: float) -> Floats:
        """n x n: what each pair is worth by an aim, -inf with less than `floor` bit/s."""
        return capped(self.pairs.rates(aim.value, floor), aim.caps)

    def _swept(self, network: Network, places: Sequence[int], k: int) -> list[Ranked]:
        """In the parts that the fastest links join, which are few as a rule; in the whole where these have no `k`."""
        m = self.request.rank_count
        part, numbers = within(network, network.w, m, part_sizes(network, network.w).level(m, k))
        kept = numbers.tolist()
        found = self._grouped(part, [places[number] for number in kept], k)
        if len(found) < k and len(part.w) < len(network.w):
            return self._grouped(network, places, k)
        return [replace(each, group=tuple(kept[number] for number in each.group)) for each in found]

    def _grouped(self, network: Network, places: Sequence[int], k: int) -> list[Ranked]:
        cpu = [self.usable[place].effective_cpu for place in places]
        groups = TreeGroups(MergeTree(network), self.request.rank_count, cpu)
        return [Ranked(value, group, True) for value, group in groups.ranked(k)]

    def _packed(self, network: Network, _: Sequence[int], k: int) -> list[Ranked]:
        packing = Packing(MergeTree(network), self.pattern, Ticker(self.clock, self.deadline, every=1))
        return ThresholdSearch(packing).ranked(k)

    def _searched(self, rates: Floats, k: int, aim: int) -> list[Ranked]:
        """By exact search; what decides among equals only has a part of the time that is left."""
        now = self.clock()
        deadline = self.deadline if aim == 0 else now + EQUALS_SHARE * (self.deadline - now)
        if deadline < now and aim > 0:
            return []
        if deadline < now:
            raise OutOfTime
        return best_on_pairs(rates, self.pattern, k, rng=self.rng, clock=self.clock, deadline=deadline)

    def _reordered(self, found: list[Ranked]) -> list[Ranked]:
        """Ranks that talk side by side where it costs nothing; all-to-all has no better order than the file's."""
        if self.pattern.is_all_to_all():
            return [Ranked(r.value, tuple(sorted(r.group)), r.proved) for r in found]
        if self.pattern.ranks > REORDERED_RANKS:
            return found
        return [self._reorder_one(r) for r in found]

    def _reorder_one(self, found: Ranked) -> Ranked:
        nodes = sorted(found.group)
        place = {node: i for i, node in enumerate(nodes)}
        rates = self.pairs.among(nodes).rates(bandwidth)
        group = reordered(rates, self.pattern, tuple(place[node] for node in found.group))
        return Ranked(found.value, tuple(nodes[i] for i in group), found.proved)


@dataclass(frozen=True)
class _Apart:
    """Stages whose first aim is cpu alone: the nodes of a group need no paths between them."""

    stages: Stages
    by_cpu: Sequence[Ranked]
    more = 1

    @property
    def count(self) -> int:
        return self.stages.count

    def best(self, aim: int, allowed: Mask | None, k: int) -> list[Ranked]:
        return list(self.by_cpu[:k]) if aim == 0 else self.stages.best(aim, allowed, k)

    def at_least(self, aim: int, allowed: Mask | None, level: float) -> Mask:
        return self.stages.at_least(aim, allowed, level)

    def value(self, aim: int, group: Group, level: float) -> float:
        return level


def ranked_by_cpu(cpu: Sequence[float], m: int, k: int) -> list[Ranked]:
    """The `k` sets of m nodes with the highest lowest cpu, as if all hung on one switch."""
    if m == 1:
        best = sorted(range(len(cpu)), key=lambda i: (-cpu[i], i))[:k]
        return [Ranked(cpu[i], (i,), True) for i in best]
    n = len(cpu)
    places = np.arange(n, dtype=np.int64)
    switch = Network(n, n + 1, places, np.full(n, n, dtype=np.int64), np.full(n, np.inf), places)
    found = TreeGroups(MergeTree(switch, cpu), m, cpu).ranked(k)
    return [Ranked(value, tuple(sorted(group)), True) for value, group in found]


def capped(rates: Floats, caps: Sequence[float] | None) -> Floats:
    """Pair rates limited by what their two nodes offer; pairs without a path stay without."""
    if caps is None:
        return rates
    limit = np.asarray(caps, dtype=np.float64)
    return np.minimum(rates, np.minimum(limit[:, None], limit[None, :]))
