"""Placements at a level: steps by chance until no link has more flows than it lets through at that level.

Where several parts of a pattern exchange much, links between them bind that no split into compact parts relieves: in a
dragonfly two groups have one link between them, so that each group has to talk to many others a little. Not in the
papers (Selection 1999, 3.4 leaves flows open).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from scheduling.selection.core.flows.flow_bound import NEAR, FlowBound
from scheduling.selection.core.flows.flow_loads import FlowModel
from scheduling.selection.core.flows.way_table import WayTable
from scheduling.selection.core.threshold import Group
from scheduling.selection.core.trees.usable_network import Ints

if TYPE_CHECKING:
    from scheduling.selection.core.flows.level_steps import LevelState

#: Steps that are looked at between two looks at the clock, some milliseconds.
STEPS = 2_000
#: A level is given up after so many steps for each rank without fewer flows too many.
PATIENCE = 400
#: A step that makes one flow more too many is taken with the chance of e to the minus one over this.
HEAT = 0.25
#: The first levels after the bound's, each as part of the one before.
DOWN = 0.97


@lru_cache(maxsize=1)
def load() -> None:
    """Load the loops into this process; compiles what is not on disk, which takes some five seconds."""
    from scheduling.selection.core.flows.level_steps import LevelState, relieve

    arrays = [np.zeros(4, dtype=np.int64) for _ in LevelState._fields]
    arrays[LevelState._fields.index("edges")] = np.zeros((2, 1), dtype=np.int64)
    relieve(LevelState(*arrays), 0, HEAT)


class LevelSearch:
    """For patterns on networks with a table of ways, one rank on each node. `beside`: the partners of each rank.

    Promises nothing. Cost: a step that is looked at costs the links on the ways of two ranks to their partners, about a
    microsecond as machine code.
    """

    def __init__(
        self,
        bound: FlowBound,
        model: FlowModel,
        ways: WayTable,
        beside: Sequence[Sequence[int]],
        *,
        rng: random.Random,
        tick: Callable[[], None],
    ) -> None:
        self.bound, self.model, self.ways, self.tick = bound, model, ways, tick
        self.ranks = len(beside)
        self.edges = np.array([edge[:2] for edge in bound.pattern.edges], dtype=np.int64).T.copy()
        self.start = np.concatenate([[0], np.cumsum([len(others) for others in beside])]).astype(np.int64)
        self.partners = np.array([other for others in beside for other in others], dtype=np.int64)
        self.random = np.array([rng.getrandbits(62) | 1], dtype=np.int64)

    def raised(self, group: Group, low: float, high: float) -> Iterator[Group]:
        """Placements worth `low` and more, none less than the one before, up to about `high`. `tick` may raise."""
        self.at: Ints = np.array(group, dtype=np.int64)
        level, is_first = high, True
        while low < high * (1 - NEAR):
            if self._reaches(level):
                low, is_first = level, False
                yield tuple(self.at.tolist())
            else:
                high = level
            level = max(high * DOWN, (low + high) / 2) if is_first else (low + high) / 2

    def _reaches(self, level: float) -> bool:
        """Whether steps from the placement of before lead to one at this level."""
        from scheduling.selection.core.flows.level_steps import relieve

        state = self._state(level)
        if len(state.nodes) < self.ranks:  # some rank is where not even its own flows are let through
            return False
        fewest, left = int(state.counts[2]), PATIENCE * self.ranks
        while state.counts[1] and left > 0:
            self.tick()
            many = relieve(state, STEPS, HEAT)
            left = PATIENCE * self.ranks if many < fewest else left - STEPS
            fewest = min(fewest, many)
        return not state.counts[1]

    def _state(self, level: float) -> LevelState:
        """What the loops go on with: the placement, what everything lets through at a level, and what is too much."""
        from scheduling.selection.core.flows.level_steps import LevelState

        ways, nodes, ranks = self.ways, len(self.ways.home), np.arange(self.ranks)
        of_nodes = self.bound.node_flows(level)
        degree = np.diff(self.start)
        on = np.full(nodes, -1, dtype=np.int64)
        on[self.at] = ranks
        flows = np.zeros(nodes, dtype=np.int64)
        flows[self.at] = degree
        load = np.concatenate([ways.crossings(*self.at[self.edges]), flows])
        most = np.concatenate([self.model.lets_through(level), np.maximum(of_nodes, 0)])  # -1: it may not be used
        free = np.flatnonzero(of_nodes >= degree.min())
        by_home = free[np.argsort(ways.home[free], kind="stable")]
        first = np.concatenate([[0], np.cumsum(np.bincount(ways.home[free], minlength=ways.count))]).astype(np.int64)
        too_many = np.flatnonzero(load > most)
        bad, place = np.zeros(len(most), dtype=np.int64), np.full(len(most), -1, dtype=np.int64)
        bad[: len(too_many)], place[too_many] = too_many, np.arange(len(too_many))
        counts = np.array([ways.count, len(too_many), int(np.maximum(load - most, 0).sum()), 0], dtype=np.int64)
        change, stamp, touched = (np.zeros(len(most), dtype=np.int64) for _ in range(3))
        return LevelState(
            self.at,
            on,
            free,
            by_home,
            first,
            self.edges,
            self.partners,
            self.start,
            ways.home,
            ways.start,
            ways.crossed,
            most,
            load,
            bad,
            place,
            change,
            stamp,
            touched,
            counts,
            self.random,
        )


if __name__ == "__main__":
    load()
