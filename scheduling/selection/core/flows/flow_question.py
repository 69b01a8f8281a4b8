"""The question for the placement whose slowest flow is fastest, and what every search of it reads."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.flows import level_search
from scheduling.selection.core.flows.link_crossings import LinkCrossings
from scheduling.selection.core.flows.switch_flows import flow_model
from scheduling.selection.core.pairs import symmetry
from scheduling.selection.core.pairs.pair_groups import Ticker
from scheduling.selection.core.threshold import Clock, Group
from scheduling.selection.core.trees.switch_tree import SwitchTree

#: For patterns with more edges no rank is moved alone: one step costs too much, and counts in each part tell all.
MOST_EDGES = 40_000
#: Patterns with more ranks are not searched exactly.
EXACT_RANKS = 64


@dataclass
class FlowQuestion:
    """The placements that are asked for: of the `pattern`'s edges both directions are flows.

    slots: ranks that each usable node has room for, one each where it is None; two ranks of one node have no flow.
    differ: nodes in which each of the `k` groups differs from every other at least. deadline: by the clock.
    """

    crossings: LinkCrossings
    tree: SwitchTree
    pattern: Pattern
    k: int
    rng: random.Random
    clock: Clock
    deadline: float
    differ: int = 1
    slots: Sequence[int] | None = None

    def __post_init__(self) -> None:
        self.edges = [(a, b) for a, b, _ in self.pattern.edges]
        self.rows = np.array(self.edges, dtype=np.int64).reshape(-1, 2)
        self.room = [1] * len(self.crossings.usable) if self.slots is None else list(self.slots)
        self.is_small = self.pattern.ranks <= EXACT_RANKS
        few_flows = self.is_small and not self.tree.is_exact  # each path is looked up sooner than a table is summed
        self.model = self.crossings if few_flows else flow_model(self.tree, self.crossings)
        few = len(self.edges) <= MOST_EDGES
        partners = symmetry.neighbours(self.pattern.ranks, self.edges) if few else []
        self.beside = [sorted(others) for others in partners]

    def value(self, group: Group) -> float:
        """The least max-min rate of a placement, or its least cap; -inf where a pair has no way."""
        return self.model.lowest(group, self.edges if self.model is self.crossings else self.rows)

    def cpu(self, node: int) -> float:
        """What a usable node offers to compute."""
        return self.crossings.usable[node].effective_cpu

    def until(self, deadline: float, *, every: int = 16) -> Callable[[], None]:
        """Raises OutOfTime after that, as seen by every so many calls."""
        return Ticker(self.clock, min(deadline, self.deadline), every=every)

    def loading(self) -> float:
        """What loading the compiled loops takes, and compiling them where it is the first time: no part of a search."""
        started = self.clock()
        level_search.load()
        taken = self.clock() - started
        self.deadline += taken
        return taken
