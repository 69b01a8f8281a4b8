"""Local search for placements with several ranks on a node: ranks move or change places, whole nodes are exchanged."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np

from scheduling.selection.core.slots.slot_room import Room
from scheduling.selection.core.slots.slot_scores import Score, SlotScores
from scheduling.selection.core.slots.slot_search import BestSets
from scheduling.selection.core.threshold import Group, OutOfTime
from scheduling.selection.core.trees.usable_network import Ints

#: Of so many options at least one is drawn.
FEWEST = 8


class SlotMoves:
    """Steps that raise the score of a placement, in the order of its components; `sets` keeps what is seen on the way.

    Promises nothing but that a result is no worse than where it started. Cost: a step looks at ranks + nodes
    placements, each of O(edges). `tick` may raise OutOfTime: the best so far stays.
    """

    def __init__(
        self, scores: SlotScores, room: Room, sets: BestSets, *, rng: random.Random, tick: Callable[[], None]
    ) -> None:
        self.scores, self.room, self.sets, self.rng, self.tick = scores, room, sets, rng, tick
        pattern = scores.pattern
        self.ranks = pattern.ranks
        self.most = max(FEWEST, scores.looked_at // max(len(pattern.edges), pattern.ranks))
        self.are_alike = pattern.is_uniform and room.domains is None

    def score(self, group: Group) -> Score:
        """Of one placement."""
        return self.scores.of(np.array([group]))[0]

    def improved(self, group: Group) -> Group:
        """Steps until none helps."""
        best = self.score(group)
        self.sets.keep(group, best)
        try:
            while True:
                step = self._step(group, best)
                if step is None:
                    return group
                best, group = step
                self.sets.keep(group, best)
        except OutOfTime:
            return group

    def vary(self, group: Group) -> None:
        """Look at placements that differ from one by a node, so that there are others to choose from."""
        try:
            for options in self._exchanges_of_nodes(group):
                self._keep_best(options)
        except OutOfTime:
            return

    def _keep_best(self, options: Ints) -> None:
        self.tick()
        if len(options):
            scores = self.scores.of(options)
            for number in sorted(range(len(scores)), key=scores.__getitem__)[-self.sets.k :]:
                self.sets.keep(tuple(options[number].tolist()), scores[number])

    def _step(self, group: Group, best: Score) -> tuple[Score, Group] | None:
        for options in self._options(group):
            self.tick()
            if not len(options):
                continue
            scores = self.scores.of(options)
            number = max(range(len(scores)), key=scores.__getitem__)
            if scores[number] > best:
                return scores[number], tuple(options[number].tolist())
        return None

    def _options(self, group: Group) -> Iterator[Ints]:
        yield from self._exchanges_of_nodes(group)
        if self.are_alike and self.room.nodes is not None:
            yield from (self._moves(group, group.index(node)) for node in sorted(set(group)))
            return
        ranks = list(range(self.ranks))
        self.rng.shuffle(ranks)
        for rank in ranks:
            yield self._moves(group, rank)
            if not self.are_alike:
                yield self._swaps(group, rank)

    def _moves(self, group: Group, rank: int) -> Ints:
        """A rank on another node with room for it."""
        counts = np.bincount(group, minlength=len(self.room.capacity))
        free = counts < self.room.capacity
        free[group[rank]] = False
        if self.room.nodes is not None:
            free &= counts > 0 if counts[group[rank]] > 1 else counts == 0
        if self.room.domains is not None:
            free &= self.room.domains[rank]
        targets = self._drawn(np.flatnonzero(free))
        options = np.tile(np.array(group), (len(targets), 1))
        options[:, rank] = targets
        return options

    def _swaps(self, group: Group, rank: int) -> Ints:
        """A rank in the place of another one."""
        at = np.array(group)
        fits = at != at[rank]
        if self.room.domains is not None:
            fits &= self.room.domains[rank, at] & self.room.domains[:, at[rank]]
        others = self._drawn(np.flatnonzero(fits))
        options = np.tile(at, (len(others), 1))
        options[np.arange(len(others)), others] = at[rank]
        options[:, rank] = at[others]
        return options

    def _exchanges_of_nodes(self, group: Group) -> Iterator[Ints]:
        """All ranks of a node on another one, whose ranks come to it where it has some."""
        at, capacity = np.array(group), self.room.capacity
        counts = np.bincount(at, minlength=len(capacity))
        for node in np.unique(at).tolist():
            fits = (capacity >= counts[node]) & (counts <= capacity[node])
            fits[node] = False
            targets = self._drawn(np.flatnonzero(fits))
            options = np.tile(at, (len(targets), 1))
            options[options == targets[:, None]] = -1
            options = np.where(at == node, targets[:, None], options)
            yield self._allowed(np.where(options == -1, node, options))

    def _allowed(self, options: Ints) -> Ints:
        if self.room.domains is None:
            return options
        kept: Ints = options[self.room.domains[np.arange(self.ranks), options].all(axis=1)]
        return kept

    def _drawn(self, places: Ints) -> Ints:
        """All of them, or as many as there is time for."""
        if len(places) <= self.most:
            return places
        return np.array(sorted(self.rng.sample(places.tolist(), self.most)), dtype=np.int64)
