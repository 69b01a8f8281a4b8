"""What a placement of ranks is worth where several ranks may be on a node: one aim after the other.

A pair inside a node takes no link, so it is worth what its node is. Every aim is the lowest over ranks and pairs
(Selection 1999, 3.2; Pattern 2003, 2.4); what decides last is the time that all messages between nodes take, so that
heavy pairs go inside. A node's cpu is the fraction of a processor that each rank gets: slots are processors, and the
load is one of each processor, so it does not fall with the number of ranks (Selection 1999, 3.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.flows.link_crossings import LinkCrossings
from scheduling.selection.core.pattern_columns import pattern_columns
from scheduling.selection.core.slots.rank_blocks import weights_beside
from scheduling.selection.core.trees.usable_network import Bools, Floats, Ints

Score = tuple[float, ...]
#: Digits of the time of messages that count: what differs in later ones is the order of summation.
DIGITS = 9


@dataclass(frozen=True)
class Partial:
    """Some ranks placed: the score that they allow at most, and for flows how many cross each link."""

    score: Score
    load: dict[int, int] = field(default_factory=dict)


class SlotScores(Protocol):
    """What placements are worth."""

    @property
    def pattern(self) -> Pattern:
        """Who talks to whom."""
        ...

    @property
    def looked_at(self) -> int:
        """How many pairs of talking ranks are looked at in some tenths of a second."""
        ...

    def of(self, options: Ints) -> list[Score]:
        """The scores of placements, one in each row: the node of each rank."""
        ...

    def start(self) -> Partial:
        """Nothing is placed."""
        ...

    def extended(self, partial: Partial, rank: int, node: int, at: Sequence[int]) -> Partial:
        """With one rank more on a node; `at`: where the others are, -1 for those that are not placed. No component of
        the score rises."""
        ...

    def alike(self, a: int, b: int) -> bool:
        """Whether exchanging two nodes changes no score."""
        ...

    def kind(self, node: int) -> tuple[object, ...]:
        """Equal for nodes that are alike; quickly, and for some others too."""
        ...


class PairScores:
    """By pairs, each as if it talked alone. aims: n x n matrices, on the diagonal what a node is worth to a rank; time:
    n x n, the time that a unit of weight takes between two nodes, 0 inside a node."""

    looked_at = 2_000_000

    def __init__(self, pattern: Pattern, aims: Sequence[Floats], time: Floats) -> None:
        self.pattern, self.aims = pattern, [np.asarray(aim, dtype=np.float64) for aim in aims]
        self._is_uniform = pattern.is_uniform and len(pattern.edges) > 0
        total = pattern.edges[0][2] * len(pattern.edges) if self._is_uniform else float(self._columns[2].sum())
        finite = time[np.isfinite(time) & (time > 0)]
        self._time = time / ((total or 1.0) * (float(finite.min()) if finite.size else 1.0))

    @cached_property
    def _columns(self) -> tuple[Ints, Ints, Floats]:
        return pattern_columns(self.pattern)

    @cached_property
    def beside(self) -> list[dict[int, float]]:
        """The partners of each rank."""
        return weights_beside(self.pattern)

    @cached_property
    def _lists(self) -> list[list[list[float]]]:
        """The aims and the time as lists, which single entries are read from faster."""
        return [matrix.tolist() for matrix in (*self.aims, self._time)]

    def of(self, options: Ints) -> list[Score]:
        if self._is_uniform:
            return [self._of_counts(*np.unique(row, return_counts=True)) for row in options]
        a, b, weight = self._columns
        ends = options[:, a], options[:, b]
        columns = []
        for aim in self.aims:
            lowest = aim[options, options].min(axis=1)
            columns.append(np.minimum(lowest, aim[ends].min(axis=1)) if len(a) else lowest)
        times = self._time[ends]
        spent = np.where(times > 0, times * weight, 0.0).sum(axis=1)
        columns.append(-np.round(spent, DIGITS))
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def _of_counts(self, nodes: Ints, ranks: Ints) -> Score:
        """Where all pairs talk alike only the number of ranks on each node counts."""
        among = np.ix_(nodes, nodes)
        lowest = [float(aim[among].min()) for aim in self.aims]
        spent = float(ranks @ np.maximum(self._time[among], 0.0) @ ranks) / 2 * self.pattern.edges[0][2]
        return (*lowest, -round(spent, DIGITS) if math.isfinite(spent) else -math.inf)

    def start(self) -> Partial:
        return Partial((*(math.inf for _ in self.aims), 0.0))

    def extended(self, partial: Partial, rank: int, node: int, at: Sequence[int]) -> Partial:
        partners = [(at[other], weight) for other, weight in self.beside[rank].items() if at[other] >= 0]
        score = []
        *aims, times = (matrix[node] for matrix in self._lists)
        for row, value in zip(aims, partial.score, strict=False):
            score.append(min(value, row[node], *(row[other] for other, _ in partners)))
        spent = sum(times[other] * weight for other, weight in partners if times[other] > 0)
        return Partial((*score, partial.score[-1] - spent))

    def kind(self, node: int) -> tuple[object, ...]:
        return tuple(np.sort(matrix[node]).tobytes() for matrix in (*self.aims, self._time))

    def alike(self, a: int, b: int) -> bool:
        return all(_alike(matrix, a, b) for matrix in (*self.aims, self._time))


class FlowScores:
    """All pairs talk at once: the least max-min rate, or the least cap of a node, then the lowest cpu, then time."""

    looked_at = 50_000

    def __init__(
        self,
        pattern: Pattern,
        crossings: LinkCrossings,
        cpu: Sequence[float],
        time: Floats,
        slow: Bools | None = None,
    ) -> None:
        """time: n x n as for PairScores; where it is not positive and finite between two nodes they have no path. slow:
        n x n, which pairs of nodes must not talk."""
        self.pattern, self.crossings, self.cpu, self.slow = pattern, crossings, cpu, slow
        cpus = np.minimum.outer(np.array(cpu), np.array(cpu))
        self._pairs = PairScores(pattern, [cpus], time)

    def of(self, options: Ints) -> list[Score]:
        others = self._pairs.of(options)
        return [(self._lowest(row), *other) for row, other in zip(options, others, strict=True)]

    def _lowest(self, at: Ints) -> float:
        """As LinkCrossings.lowest has it, with the streams between the same two nodes counted first."""
        low, high, streams = self._streams(at)
        load: dict[int, int] = {}
        if self.slow is not None and self.slow[low, high].any():
            return -math.inf
        for a, b, many in zip(low.tolist(), high.tolist(), streams.tolist(), strict=True):
            arcs = self.crossings.pair(a, b)
            if arcs is None:
                return -math.inf
            for arc in arcs:
                load[arc] = load.get(arc, 0) + many
        least = min((self.crossings.rate(arc, flows) for arc, flows in load.items()), default=math.inf)
        return float(min([least, *(self.crossings.caps[node] for node in set(at.tolist()))]))

    def _streams(self, at: Ints) -> tuple[Ints, Ints, Ints]:
        """The pairs of nodes that talk, the lower one first, and how many streams each has."""
        if self.pattern.is_uniform:
            nodes, ranks = np.unique(at, return_counts=True)
            one, other = np.triu_indices(len(nodes), 1)
            return nodes[one], nodes[other], ranks[one] * ranks[other]
        a, b, _ = pattern_columns(self.pattern)
        low, high = np.minimum(at[a], at[b]), np.maximum(at[a], at[b])
        count = len(self.cpu)
        between, streams = np.unique((low * count + high)[low < high], return_counts=True)
        return between // count, between % count, streams

    def start(self) -> Partial:
        return Partial((math.inf, *self._pairs.start().score))

    def extended(self, partial: Partial, rank: int, node: int, at: Sequence[int]) -> Partial:
        rest = self._pairs.extended(Partial(partial.score[1:]), rank, node, at).score
        lowest = min(partial.score[0], self.crossings.caps[node])
        load = dict(partial.load)
        for other in self._pairs.beside[rank]:
            if at[other] < 0 or at[other] == node:
                continue
            arcs = self.crossings.pair(node, at[other])
            if arcs is None or (self.slow is not None and self.slow[node, at[other]]):
                return Partial((-math.inf, *rest), load)
            for arc in arcs:
                load[arc] = load.get(arc, 0) + 1
        rates = (self.crossings.rate(arc, n) for arc, n in load.items() if partial.load.get(arc) != n)
        return Partial((min([lowest, *rates]), *rest), load)

    def kind(self, node: int) -> tuple[object, ...]:
        slow = () if self.slow is None else (np.sort(self.slow[node]).tobytes(),)
        return (*self.crossings.equivalence_key(node), *self._pairs.kind(node), *slow)

    def alike(self, a: int, b: int) -> bool:
        keys = self.crossings.equivalence_key(a), self.crossings.equivalence_key(b)
        is_as_far = self.slow is None or _alike(self.slow, a, b)
        return keys[0] == keys[1] and is_as_far and self._pairs.alike(a, b)


def _alike(matrix: Floats | Bools, a: int, b: int) -> bool:
    """Whether exchanging two nodes leaves a symmetric matrix as it is."""
    rows = matrix[[a, b]].copy()
    rows[1, [a, b]] = rows[1, [b, a]]
    return bool(np.array_equal(rows[0], rows[1]))
