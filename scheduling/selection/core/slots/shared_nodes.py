"""A request for several ranks on a node, or for ranks on nodes of their own, as a problem of slots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gridportal.network.narrowest import bandwidth
from scheduling.jobs.core.methods import Method
from scheduling.jobs.core.patterns import named
from scheduling.selection.core.aims import Aim
from scheduling.selection.core.pairs.pair_groups import best_on_pairs
from scheduling.selection.core.question import Question
from scheduling.selection.core.single_nodes import ranked_on_single_nodes
from scheduling.selection.core.slots import slot_starts
from scheduling.selection.core.slots.rank_blocks import quotient, rank_blocks
from scheduling.selection.core.slots.slot_bound import Bound, highest_on_network, highest_worth
from scheduling.selection.core.slots.slot_groups import SlotProblem, best_on_slots
from scheduling.selection.core.slots.slot_room import Room
from scheduling.selection.core.slots.slot_scores import FlowScores, PairScores, SlotScores
from scheduling.selection.core.threshold import Group, OutOfTime, Ranked
from scheduling.selection.core.trees.usable_network import Floats, Ints

#: Larger networks are cut down to the nodes of the groups that are best with one rank on each.
MOST_NODES = 1024
#: In larger networks nodes are looked for by so many sizes only, the largest.
FEW_SIZES = 1
#: Part of the time for each search of nodes to start from, and how many groups each is asked for.
CHOICE_SHARE, CHOICES = 0.05, 2
#: Part of the time for what is best by pairs, from which the search with flows starts.
PAIRS_SHARE = 0.3
#: Blocks of so many sizes are placed by their own pattern.
SIZES = 3


def ranked_on_slots(question: Question) -> list[Ranked]:
    """The best `request.candidates` placements as places in `usable`, rank by rank; see `best_on_slots`."""
    return _SharedNodes(question).ranked()


@dataclass(frozen=True)
class _SharedNodes:
    question: Question

    def ranked(self) -> list[Ranked]:
        question = self.question
        if len(question.usable) <= MOST_NODES:
            return self._solved(self.groups(), self._bound.value)
        groups = list(self.groups())
        kept = np.unique(np.concatenate([*groups, self._pinned()]))
        place = {int(node): number for number, node in enumerate(kept)}
        inside = [np.array([place[int(node)] for node in group]) for group in groups]
        small = replace(question, pairs=question.pairs.among(kept.tolist()))
        small.__dict__["room"] = question.room.among(kept.tolist())
        found = _SharedNodes(small)._solved(inside, self._bound.value)
        return [replace(each, group=tuple(int(kept[node]) for node in each.group)) for each in found]

    def _solved(self, groups: Iterable[Ints], bound: float) -> list[Ranked]:
        question = self.question
        scores, starts = self._scores(), []
        if question.request.flows:
            starts = self._by_pairs()
        elif len(self._matrices) and question.pairs.tree(bandwidth) is None:
            starts = self._by_blocks()
        problem = SlotProblem(scores, question.room, self._matrices[0], bound)
        k, deadline = question.request.candidates, question.deadline
        return best_on_slots(
            problem, groups, k, starts=starts, rng=question.rng, clock=question.clock, deadline=deadline
        )

    def _scores(self) -> SlotScores:
        question = self.question
        if not question.request.flows or not question.pattern.edges:
            return PairScores(question.pattern, self._matrices, self._time)
        return FlowScores(question.pattern, question.link_crossings(), question.cpu, self._time, question.slow_pairs)

    @cached_property
    def _matrices(self) -> list[Floats]:
        return [self._matrix(aim) for aim in self.question.aims]

    def _matrix(self, aim: Aim) -> Floats:
        """What each pair of nodes is worth by an aim, and on the diagonal what each node is to a rank."""
        question, request = self.question, self.question.request
        caps = np.full(len(question.usable), np.inf) if aim.caps is None else np.asarray(aim.caps, dtype=np.float64)
        floor = request.min_bandwidth if request.method in ("compute", "balanced") else 0.0
        is_unjoined = aim.caps is not None and request.method == "compute" and floor <= 0
        matrix = np.minimum.outer(caps, caps) if is_unjoined else question.rates_by(aim, floor).copy()
        if question.slow_pairs is not None:
            matrix[question.slow_pairs] = -np.inf
        np.fill_diagonal(matrix, caps)
        return matrix

    @cached_property
    def _time(self) -> Floats:
        """Seconds for each bit between two nodes; 0 inside one."""
        rates = self.question.pairs.rates(bandwidth)
        time: Floats = np.divide(1.0, rates, out=np.full(rates.shape, np.inf), where=rates > 0)
        np.fill_diagonal(time, 0.0)
        return time

    @cached_property
    def _bound(self) -> Bound:
        """By pairs; what flows leave each other is no more. The balanced method counts flows by another unit."""
        question = self.question
        if question.request.flows and question.request.method == "balanced":
            return Bound(np.inf)
        aim = question.aims[0]
        if len(question.usable) <= MOST_NODES:
            return highest_worth(self._matrices[0], question.pattern, question.room)
        network = question.pairs.tree(aim.value)
        if network is None:
            return Bound(np.inf)
        return highest_on_network(network, aim.caps, question.pattern, question.room)

    def _pinned(self) -> Ints:
        """Nodes that some ranks alone may be on, of which a few for each rank."""
        domains = self.question.room.domains
        if domains is None:
            return np.array([], dtype=np.int64)
        few = [np.flatnonzero(row)[: domains.shape[0]] for row in np.unique(domains, axis=0) if not row.all()]
        return np.concatenate([np.array([], dtype=np.int64), *few])

    def groups(self) -> Iterator[Ints]:
        """Nodes to start from."""
        if self._bound.nodes is not None:
            yield self._bound.nodes
        sizes = None if len(self.question.usable) <= MOST_NODES else FEW_SIZES
        ranks = self.question.request.rank_count
        yield from slot_starts.node_groups(self.question.room, ranks, self._chosen, sizes)

    def _chosen(self, places: Ints, count: int) -> list[Group]:
        """The best groups of so many of these nodes with one rank on each, where every pair talks."""
        question = self.question
        method: Method = "communication" if question.request.method == "pattern" else question.request.method
        request = replace(
            question.request,
            nodes=count,
            method=method,
            candidates=CHOICES,
            differ=1,
            flows=False,
            slack=0.0,
            require={},
            ranks=None,
            ranks_per_node=None,
            slots=None,
            pattern=None,
            specification=None,
        )
        now = question.clock()
        limit = now + CHOICE_SHARE * max(0.0, question.deadline - now)
        pairs = question.pairs.among(places.tolist())
        simple = replace(question, pairs=pairs, request=request, pattern=named("all-to-all", count), deadline=limit)
        simple.__dict__.pop("room", None)
        with suppress(OutOfTime):
            return [tuple(int(places[node]) for node in each.group) for each in ranked_on_single_nodes(simple)]
        return []

    def _by_pairs(self) -> list[Group]:
        """What is best by pairs, to start from."""
        question = self.question
        now = question.clock()
        request = replace(question.request, flows=False)
        simple = replace(question, request=request, deadline=now + PAIRS_SHARE * (question.deadline - now))
        with suppress(OutOfTime):
            return [each.group for each in _SharedNodes(simple).ranked()]
        return []

    def _by_blocks(self) -> list[Group]:
        """Blocks of ranks, each as one on a node of its own with room for it, best by the pattern between blocks."""
        question, starts = self.question, []
        ranks = question.request.rank_count
        sizes = np.unique(np.minimum(question.room.capacity, ranks))[::-1]
        for size in sizes[sizes > 0][:SIZES].tolist():
            count = question.room.nodes or -(-ranks // size)
            least, more = divmod(ranks, count)
            blocks = rank_blocks(question.pattern, [least + (number < more) for number in range(count)])
            starts += self._placed(blocks)
        return starts

    def _placed(self, blocks: Sequence[Sequence[int]]) -> list[Group]:
        question = self.question
        between = quotient(question.pattern, blocks)
        if not between.edges or len(blocks) > len(question.usable):
            return []
        domains = np.array([self._allowed(block, question.room) for block in blocks])
        now = question.clock()
        limit = now + CHOICE_SHARE * max(0.0, question.deadline - now)
        rates = self._matrices[0].copy()
        np.fill_diagonal(rates, -np.inf)
        try:
            found = best_on_pairs(
                rates, between, CHOICES, rng=question.rng, clock=question.clock, deadline=limit, domains=domains
            )
        except OutOfTime:
            return []
        block_of = {rank: number for number, block in enumerate(blocks) for rank in block}
        return [tuple(each.group[block_of[rank]] for rank in range(len(block_of))) for each in found]

    @staticmethod
    def _allowed(block: Sequence[int], room: Room) -> np.ndarray:
        """The nodes that have room for a block and on which all of its ranks may be."""
        fits = room.capacity >= len(block)
        return fits if room.domains is None else fits & room.domains[list(block)].all(axis=0)
