"""Threshold search: the highest value at which a group exists, and the next best groups after it.

The papers remove the weakest edge until nothing fits (Pattern 2003, figure 1); this asks the same question at few
levels only: by bisection with few steps of search at each, then level by level from the best group that was found,
since the last "no" costs most, and the more the lower its level.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from scheduling.selection.core.trees.usable_network import Floats

Group = tuple[int, ...]
Clock = Callable[[], float]

#: Of search at each level while it closes in on the best one: some tenths of a millisecond.
FIRST_STEPS = 2_000


class OutOfTime(Exception):  # noqa: N818 - not an error: the search stops and says so
    """The time budget is used up."""


class OutOfSteps(Exception):  # noqa: N818 - not an error: whether there is a group stays open
    """A search was not done after as many steps as it was given."""


class Finder(Protocol):
    """Decides whether a group exists."""

    @property
    def levels(self) -> Sequence[float] | Floats:
        """The values that a group can have, rising."""
        ...

    def find(
        self, level: float, excluded: frozenset[int], taken: Sequence[frozenset[int]], limit: int | None = None
    ) -> Group | None:
        """A placement rank -> node worth at least `level` without the `excluded` nodes, None when there is none.

        Node sets in `taken` are passed over; one is returned only to say that passing over took too long.
        Raises OutOfTime, and OutOfSteps after about `limit` steps where that is given."""
        ...

    def alike(self, level: float, node: int) -> int:
        """A number that is equal for nodes whose exclusion leaves equal chances at this level."""
        ...

    def value(self, group: Group) -> float:
        """The value of a placement, one of `levels`."""
        ...


@dataclass(frozen=True)
class Ranked:
    """A group with its value; proved: no other node set that is not ranked before it is worth more. bound: what none is
    worth more than, where that is known. level: where groups up to a slack below the best were equals, what they had to
    be worth."""

    value: float
    group: Group
    proved: bool
    bound: float | None = None
    level: float | None = None


@dataclass
class ThresholdSearch:
    """Ranks distinct node sets by value. `start_groups` are placements found beforehand; they make the search start
    high.

    Finds: with time enough, exactly the K best node sets, each with a best placement of the ranks on it. The next set
    after some passes over those before; where that takes too long it is asked without a node of each of them, for
    every such exclusion. At equal value a set that shares no node with the earlier ones is tried first.
    Cost: per set O(log levels) decisions, and at worst a product of group sizes for the later sets.
    """

    finder: Finder
    start_groups: list[Group] = field(default_factory=list)

    def ranked(self, k: int, earlier: Sequence[Ranked] = ()) -> list[Ranked]:
        """At most `k` distinct node sets, best first, after the `earlier` ones.

        Raises OutOfTime when time ended before there was one.
        """
        sets = list(earlier)
        timely = all(r.proved for r in sets)
        while len(sets) < k:
            top = len(self.finder.levels) - 1
            if sets:
                top = bisect_left(self.finder.levels, sets[-1].value)
            taken = [frozenset(r.group) for r in sets]
            group, proved = self._best(taken, top) if timely else (self._best_of_start(taken), False)
            timely = proved
            if group is None and not sets and not proved:
                raise OutOfTime
            if group is None:
                break
            sets.append(Ranked(self.finder.value(group), group, proved))
        return sorted(sets, key=lambda r: -r.value)

    def rough(self) -> Group | None:
        """A placement that is good by the finder's levels, quickly; None where it has not found any.

        From the top in growing steps, since high levels have few edges, then by bisection."""
        high, step = len(self.finder.levels), 1
        with suppress(OutOfTime):
            while high > 0 and not self.start_groups:
                middle, step = max(high - step, 0), 2 * step
                with suppress(OutOfSteps):
                    group = self.finder.find(self.finder.levels[middle], frozenset(), (), FIRST_STEPS)
                    self.start_groups += [] if group is None else [group]
                if self.start_groups:
                    self._climbed([], self.start_groups[0], middle, high - 1, FIRST_STEPS)
                high = middle
        return self._best_of_start([])

    def _best_of_start(self, taken: list[frozenset[int]]) -> Group | None:
        free = [group for group in self.start_groups if frozenset(group) not in taken]
        if not free:
            return None
        used = frozenset().union(*taken)
        return max(free, key=lambda group: (self.finder.value(group), -len(used & frozenset(group))))

    def _best(self, taken: list[frozenset[int]], top: int) -> tuple[Group | None, bool]:
        """The best group besides `taken`, at level number `top` at most, and whether that is proved."""
        levels = self.finder.levels
        best = self._best_of_start(taken)
        low = bisect_left(levels, self.finder.value(best)) if best is not None else -1
        used = frozenset().union(*taken)
        try:
            if taken and (best is None or low < top or used & set(best)):
                best, low = self._apart(used, top, best, low)
            for limit in (FIRST_STEPS, None):
                best, low, top = self._climbed(taken, best, low, top, limit)
        except OutOfTime:
            return self._best_of_start(taken), False
        return best, True

    def _climbed(
        self, taken: list[frozenset[int]], best: Group | None, low: int, top: int, limit: int | None
    ) -> tuple[Group | None, int, int]:
        """A better group, its level number, and the highest one at which there may be another one.

        With a `limit` of steps by bisection; without one level by level. `best` is worth `low`, -1 where there is none.
        """
        levels, high = self.finder.levels, top + 1
        while high - low > 1:
            middle = low + 1 if limit is None and best is not None else (low + high) // 2
            group = None
            with suppress(OutOfSteps):
                group = self._find(levels[middle], taken, frozenset(), {}, limit)
                top = top if group else min(top, middle - 1)
            if group is None:
                high = middle
                continue
            self.start_groups.append(group)
            best, low = group, bisect_right(levels, self.finder.value(group)) - 1
        return best, low, top

    def _apart(self, used: frozenset[int], top: int, best: Group | None, low: int) -> tuple[Group | None, int]:
        """Try for a group that shares no node with those before and is worth as much as the last."""
        group = self.finder.find(self.finder.levels[top], used, ())
        if group is None:
            return best, low
        self.start_groups.append(group)
        return group, top

    def _find(
        self,
        level: float,
        taken: list[frozenset[int]],
        excluded: frozenset[int],
        memo: dict[frozenset[int], Group | None],
        limit: int | None,
    ) -> Group | None:
        if excluded in memo:
            return memo[excluded]
        group = self.finder.find(level, excluded, taken, limit)
        if group is not None and frozenset(group) in taken:
            kinds = {(self.finder.alike(level, n), *(n in other for other in taken)): n for n in reversed(group)}
            options = (self._find(level, taken, excluded | {node}, memo, limit) for node in kinds.values())
            group = next((option for option in options if option is not None), None)
        memo[excluded] = group
        return group
