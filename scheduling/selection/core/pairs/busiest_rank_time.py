"""Of groups that are as good as the best by their slowest pair, the one whose messages take the least time.

The lowest rate alone says nothing of all the other pairs, and between two groups that differ by less than measurements
scatter it decides by chance. A program with a profile tells more: how much each pair of ranks sends. The ranks of a
synchronous program wait for the one that is busiest with its messages (Pattern 2003, 2.4 has the lowest bandwidth alone
decide; the time is ours).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import permutations

import numpy as np

from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.pairs.local_search import LocalSearch, Score
from scheduling.selection.core.threshold import Group, OutOfTime, Ranked
from scheduling.selection.core.trees.usable_network import Floats, Ints

#: Of larger networks no matrix of all pairs is made for this: so many nodes are looked at beside those of the groups.
MOST_NODES = 1024
#: Up to so many placements all are tried.
MOST_TRIED = 5040
_NEVER = 1e30


class BusiestRankSearch(LocalSearch):
    """Local search by (lowest rate up to `level`, least time of the busiest rank, least time of all messages, lowest
    rate, lowest cpu).

    It remembers the best placement on every node set that it looked at. `rates` as for LocalSearch; `cpu` of each node.
    """

    def __init__(
        self, rates: Floats, pattern: Pattern, level: float, tick: Callable[[], None], cpu: Sequence[float] | Floats
    ) -> None:
        super().__init__(rates, pattern.ranks, pattern.edges, tick)
        self.level = level
        self._cpu = np.asarray(cpu, dtype=np.float64)
        self.seen: dict[frozenset[int], tuple[Score, Group]] = {}
        edges = np.arange(len(self.a))
        self._ends = np.zeros((len(self.a), pattern.ranks))
        self._ends[edges, self.a] = self._ends[edges, self.b] = 1.0
        self._unit = self.weight.sum() / rates.max()

    def best(self, count: int) -> list[Group]:
        """The best `count` node sets among those seen, each in its best rank order; those at the level come first."""
        joined = [(score, group) for score, group in self.seen.values() if score[0] > 0]
        return [group for _, group in sorted(joined, reverse=True)[:count]]

    def look_at(self, groups: Sequence[Group]) -> None:
        """Remember these placements too."""
        self._scores(np.array(groups, dtype=np.int64))

    def _scores(self, options: Ints) -> list[Score]:
        rates = self.rates[options[:, self.a], options[:, self.b]]
        times = np.divide(self.weight, rates, out=np.full(rates.shape, _NEVER), where=rates > 0)
        busiest = np.round((times @ self._ends).max(axis=1) / self._unit, 9)
        total = np.round(times.sum(axis=1) / self._unit, 9)
        lowest, cpu = rates.min(axis=1), self._cpu[options].min(axis=1)
        reached = np.minimum(lowest, self.level)
        columns = (reached, -busiest, -total, lowest, cpu)
        scores: list[Score] = [*zip(*(column.tolist() for column in columns), strict=True)]
        for group, score in zip(options.tolist(), scores, strict=True):
            key = frozenset(group)
            if len(key) == self.ranks and (key not in self.seen or self.seen[key][0] < score):
                self.seen[key] = (score, tuple(group))
        return scores


def slack_level(best: float, slack: float, floor: float) -> float:
    """What the lowest rate of a group has to be so that it counts as an equal of the best: bit/s.

    >>> slack_level(100.0, 0.1, 0.0), slack_level(100.0, 0.1, 95.0), slack_level(100.0, 0.1, 200.0)
    (90.0, 95.0, 100.0)
    """
    return max(best * (1.0 - slack), min(floor, best))


def least_busiest_rank_time(
    rates: Floats,
    pattern: Pattern,
    ranked: Sequence[Ranked],
    *,
    slack: float,
    floor: float,
    count: int,
    cpu: Sequence[float] | Floats,
    tick: Callable[[], None],
) -> list[Ranked]:
    """`ranked`, made quicker within `slack` (a fraction) of the first one's lowest rate; then the others. What reaches
    `floor` bit/s comes first, wherever the first one does.

    Finds: `count` node sets at most, in the order of `BusiestRankSearch`; where there are at most 5,040 placements, the
    best by it. Then no group is taken where another one within the slack is at least as good in all of that and better
    in something. Does not promise the least time on more (local search). `tick` may raise OutOfTime: what was found
    until then counts.
    """
    level = slack_level(ranked[0].value, slack, floor)
    search = BusiestRankSearch(rates, pattern, level, tick, cpu)
    with suppress(OutOfTime):
        for group in [*(each.group for each in ranked), *search.starts()]:
            search.improve(group)
    if math.perm(len(rates), pattern.ranks) <= MOST_TRIED:
        search.look_at(list(permutations(range(len(rates)), pattern.ranks)))
    proved = ranked[0].proved
    quicker = [Ranked(search.lowest(group), group, proved, level=level) for group in search.best(count)]
    return quicker or list(ranked)
