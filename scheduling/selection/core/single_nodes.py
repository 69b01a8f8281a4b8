"""A request for one rank on each of some nodes, all alike: which groups are best, with the fitting algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gridportal.network.narrowest import bandwidth
from scheduling.selection.core.aims import Aim, Mask, PairStages, Stages, TreeStages, best_by_aims
from scheduling.selection.core.pairs.busiest_rank_time import MOST_NODES, least_busiest_rank_time, slack_level
from scheduling.selection.core.pairs.pair_groups import Ticker, best_on_pairs, reordered
from scheduling.selection.core.pairs.promising_nodes import promising_nodes
from scheduling.selection.core.question import Question
from scheduling.selection.core.threshold import Group, OutOfTime, Ranked, ThresholdSearch
from scheduling.selection.core.trees import usable_network as networks
from scheduling.selection.core.trees.merge_tree import MergeTree
from scheduling.selection.core.trees.packing import Packing
from scheduling.selection.core.trees.part_sizes import part_sizes, within
from scheduling.selection.core.trees.tree_groups import TreeGroups
from scheduling.selection.core.trees.usable_network import Floats, Network

REORDERED_RANKS = 128
#: Part of the time that is left for each step of choosing among equals.
EQUALS_SHARE = 0.25
BUSIEST_RANK_SECONDS = 0.5


def ranked_on_single_nodes(question: Question) -> list[Ranked]:
    """The best `request.candidates` groups as places in `usable`, each pair by itself (`request.flows` is not read)."""
    groups, method = _SingleNodes(question), question.request.method
    if question.request.rank_count == 1 or not question.pattern.edges:
        return groups.by_cpu(question.request.candidates)
    if method == "compute":
        return groups.compute()
    return groups.balanced() if method == "balanced" else groups.communication()


@dataclass(frozen=True)
class _SingleNodes:
    question: Question

    def by_cpu(self, k: int) -> list[Ranked]:
        """The m nodes with the highest cpu (Selection 1999, 3.2), and the sets with the next lower minima."""
        return ranked_by_cpu(self.question.cpu, self.question.request.rank_count, k)

    def compute(self) -> list[Ranked]:
        """The most cpu, and among equals the highest lowest bandwidth.

        With min_bandwidth of groups whose pairs all have it (Selection 1999, 3.3, fixed requirements)."""
        aims = self.question.aims
        floor, k = self.question.request.min_bandwidth, self.question.request.candidates
        if floor > 0:
            return self._solve(aims, floor)
        found = self.by_cpu(k + 1)
        if len({each.value for each in found}) == len(found):
            return found[:k]
        return self._solve(aims, by_cpu=found)

    def communication(self) -> list[Ranked]:
        """The highest lowest bandwidth (Selection 1999, figure 2; Pattern 2003, figure 1), then cpu."""
        request = self.question.request
        found = self._solve(self.question.aims)
        if request.method != "pattern" or request.slack <= 0:
            return found
        if not found or found[0].value <= 0:  # nothing takes any time, or all of it
            return found
        return self._with_least_time(found)

    def _with_least_time(self, found: Sequence[Ranked]) -> list[Ranked]:
        """Of the groups within the slack those whose messages take the least time; on large networks of the nodes that
        promise most."""
        question, request = self.question, self.question.request
        tick = Ticker(question.clock, question.clock() + BUSIEST_RANK_SECONDS, every=1)
        places, rates = np.arange(len(question.usable)), None
        if len(places) > MOST_NODES:
            level = slack_level(found[0].value, request.slack, request.min_bandwidth)
            places, rates = promising_nodes(question.pairs, [each.group for each in found], level, MOST_NODES)
        quicker = least_busiest_rank_time(
            question.pairs.rates(bandwidth) if rates is None else rates,
            question.pattern,
            [replace(each, group=tuple(np.searchsorted(places, each.group).tolist())) for each in found],
            slack=request.slack,
            floor=request.min_bandwidth,
            count=request.candidates,
            cpu=np.asarray(question.cpu)[places],
            tick=tick,
        )
        return [replace(each, group=tuple(places[list(each.group)].tolist())) for each in quicker]

    def balanced(self) -> list[Ranked]:
        """The highest fraction of cpu and bandwidth at once (Selection 1999, figure 3)."""
        return self._solve(self.question.aims, self.question.request.min_bandwidth)

    def _solve(self, aims: Sequence[Aim], floor: float = 0.0, *, by_cpu: Sequence[Ranked] = ()) -> list[Ranked]:
        """Exact in every case: by sweeps on networks without cycles, else by search on the pairs' routes.

        `by_cpu`: the answer by the first aim, where that is cpu and nodes need not be joined."""
        first = self.question.pairs.tree(aims[0].value, floor)
        together = len(self.question.pattern.components()) == 1
        star_like = first is not None and networks.is_star_like(first)
        if first is not None and (star_like or (together and self.question.pattern.is_all_to_all())):
            best = self._swept if together else self._packed
            stages: Stages = TreeStages(first, aims, lambda aim: self._tree(aim, aims[0], first, floor), best)
        else:
            stages = PairStages(
                len(aims),
                lambda aim: self.question.rates_by(aims[aim], floor),
                self.question.pattern.edges,
                self._searched,
            )
        found = best_by_aims(_Apart(stages, by_cpu) if by_cpu else stages, self.question.request.candidates)
        return self._reordered(found) if isinstance(stages, TreeStages) else found

    def _tree(self, aim: Aim, other: Aim, known: Network, floor: float) -> Network:
        """The network with the links' values for one aim, as `known` has it for another."""
        return known if aim.value is other.value else self.question.pairs.tree(aim.value, floor) or known

    def _swept(self, network: Network, places: Sequence[int], k: int) -> list[Ranked]:
        """In the parts that the fastest links join, which are few as a rule; in the whole where these have no `k`."""
        m = self.question.request.rank_count
        part, numbers = within(network, network.w, m, part_sizes(network, network.w).level(m, k))
        kept = numbers.tolist()
        found = self._grouped(part, [places[number] for number in kept], k)
        if len(found) < k and len(part.w) < len(network.w):
            return self._grouped(network, places, k)
        return [replace(each, group=tuple(kept[number] for number in each.group)) for each in found]

    def _grouped(self, network: Network, places: Sequence[int], k: int) -> list[Ranked]:
        cpu = [self.question.usable[place].effective_cpu for place in places]
        groups = TreeGroups(MergeTree(network), self.question.request.rank_count, cpu)
        return [Ranked(value, group, True) for value, group in groups.ranked(k)]

    def _packed(self, network: Network, _: Sequence[int], k: int) -> list[Ranked]:
        packing = Packing(
            MergeTree(network), self.question.pattern, Ticker(self.question.clock, self.question.deadline, every=1)
        )
        return ThresholdSearch(packing).ranked(k)

    def _searched(self, rates: Floats, k: int, aim: int) -> list[Ranked]:
        """By exact search; what decides among equals only has a part of the time that is left."""
        now = self.question.clock()
        deadline = self.question.deadline if aim == 0 else now + EQUALS_SHARE * (self.question.deadline - now)
        if deadline < now and aim > 0:
            return []
        if deadline < now:
            raise OutOfTime
        return best_on_pairs(
            rates, self.question.pattern, k, rng=self.question.rng, clock=self.question.clock, deadline=deadline
        )

    def _reordered(self, found: list[Ranked]) -> list[Ranked]:
        """Ranks that talk side by side where it costs nothing; all-to-all has no better order than the file's."""
        if self.question.pattern.is_all_to_all():
            return [Ranked(r.value, tuple(sorted(r.group)), r.proved) for r in found]
        if self.question.pattern.ranks > REORDERED_RANKS:
            return found
        return [self._reorder_one(r) for r in found]

    def _reorder_one(self, found: Ranked) -> Ranked:
        nodes = sorted(found.group)
        place = {node: i for i, node in enumerate(nodes)}
        rates = self.question.pairs.among(nodes).rates(bandwidth)
        group = reordered(rates, self.question.pattern, tuple(place[node] for node in found.group))
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
