"""Placements whose pairs all talk at once: the highest least rate when flows share links.

Source: Selection 1999, 3.4, names simultaneous streams as the limit of selection by pairs; here they are the objective.
On a tree the objective by pairs makes every connected pattern worth the same; this one tells a ring from all-to-all.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import islice

from scheduling.selection.core.flows.flow_bound import EQUAL, NEAR, FlowBound
from scheduling.selection.core.flows.flow_branches import FlowBranches
from scheduling.selection.core.flows.flow_question import FlowQuestion
from scheduling.selection.core.flows.flow_search import FlowSearch
from scheduling.selection.core.flows.flow_starts import FlowStarts
from scheduling.selection.core.flows.level_search import LevelSearch
from scheduling.selection.core.flows.way_table import WayTable
from scheduling.selection.core.threshold import Group, OutOfTime, Ranked

#: Patterns with no more are searched so quickly that the next best groups are proved too.
QUICK_RANKS = 16
#: Placements are tried at these parts of the bound, until one is worth as much as the next level.
LEVELS = (1.0, 0.98, 0.95, 0.9, 0.8, 0.65, 0.5)
#: So near to the bound it is worth while to know it exactly.
FAR = 0.02
#: Part of the time after which no more steps are taken: the pairs have to be told too.
STEPS_SHARE = 0.9
#: Part of the time that is left for choosing among groups of equal value.
EQUALS_SHARE = 0.25
#: The groups after the first have as much time as the first took, and this at least.
LEAST_SECONDS = 0.5
#: The mean rate is not looked at where edges, times the units of each flow, are more: every step needs all their ways.
MOST_EVENED = 512
#: So many steps at most raise the mean rate of a group that is chosen.
STEPS = 2000


def best_concurrent(question: FlowQuestion, start_groups: Sequence[Group]) -> list[Ranked]:
    """The `k` best node sets, each with its best order of ranks, by the least max-min rate over the pattern's edges.

    Finds: placements in tree order whose parts take as many ranks as the bound's level allows them (flow_starts),
    improved by steps (flow_search); where they reach the bound (flow_bound) that proves them. Else small patterns are
    searched exactly, in half of the time; what is left goes to steps. Marked as not proved is what neither ended nor
    reached the bound. Of equal value the one with the most cpu comes first, then with the highest mean rate, as far as
    the same searches lead there. The others differ from all before in `differ` nodes at least, and have as much time
    together as the first took. `start_groups`: placements to start from. Raises OutOfTime when time ended before there
    was one. Cost: a bound is O(parts * ranks) for each of some 40 levels, a placement O(edges * depth).
    """
    return _Solver(question, question.room).solved(start_groups)


class _Solver:
    """The best placements so far on the nodes that have `room`, the bound, and the steps between them."""

    def __init__(self, question: FlowQuestion, room: Sequence[int]) -> None:
        self.question, self.room = question, room
        self.started = question.clock()
        self.bound = FlowBound(question.tree, question.crossings, question.pattern, room)
        self.starts = FlowStarts(self.bound)
        self.kept: dict[frozenset[int], tuple[float, Group]] = {}
        accesses = (question.crossings.access(node, 1) for node, free in enumerate(room) if free)
        self.high = max(accesses, default=0.0)

    @cached_property
    def ways(self) -> WayTable | None:
        """By which large patterns are placed at a level; None where they are not."""
        question = self.question
        if question.is_small or not question.beside or not self.bound.alone:
            return None
        return question.model.ways

    @property
    def best(self) -> tuple[float, Group]:
        """The best placement so far."""
        return max(self.kept.values(), key=lambda each: each[0], default=(-math.inf, ()))

    def keep(self, group: Group) -> None:
        """Remember a placement if it is the best on its nodes."""
        value, names = self.question.value(group), frozenset(group)
        if value > self.kept.get(names, (-math.inf, ()))[0]:
            self.kept[names] = value, group

    def solved(self, start_groups: Sequence[Group]) -> list[Ranked]:
        """The best groups, the first of them proved where it is."""
        question = self.question
        half = self.started + (question.deadline - self.started) / 2
        for group in start_groups:
            self.keep(group)
        with suppress(OutOfTime):
            self.start(question.until(half))
        exact = question.is_small and self._exactly(question.until(half))
        if not exact:
            last = self.started + STEPS_SHARE * (question.deadline - self.started)
            self._step(half if question.k > 1 else last)
            if self.ways:
                with suppress(OutOfTime):
                    self.refine(question.until(last))
        if not self.kept and exact:
            return []
        if not self.kept:
            raise OutOfTime
        first, *others = self._in_order([self._ranked(*self.best, exact=exact), *self._others(exact=exact)])
        settled = replace(first, group=self._settled(first.value, first.group))
        return [settled, *self._apart(settled, [first, *others])][: question.k]

    def _apart(self, settled: Ranked, groups: Sequence[Ranked]) -> list[Ranked]:
        """Those that still differ from the first one, whose nodes may have become those of another."""
        nodes = frozenset(settled.group)
        return [each for each in groups if self._differ(nodes, frozenset(each.group))]

    def _ranked(self, value: float, group: Group, *, exact: bool) -> Ranked:
        proved = exact or value >= self.high * (1 - EQUAL)
        bound = value if proved else self.high
        return Ranked(value, group, proved, bound if math.isfinite(bound) else None)

    def _in_order(self, groups: Sequence[Ranked]) -> list[Ranked]:
        """The best first; among equals as they were found."""
        return sorted(groups, key=lambda each: -each.value)

    def start(self, tick: Callable[[], None]) -> None:
        """Keep placements made for the bound's level and below, and those in tree order."""
        for group in islice(self.starts.in_tree_order(), 2):
            self.keep(group)
        low, self.high = self.bound.highest(max(self.best[0], 0.0), self.high, tick)
        for level, following in zip(LEVELS, (*LEVELS[1:], 0.0), strict=True):
            self._made(low * level, tick)
            if self.best[0] >= low * following or (self.ways and self.best[0] > 0):
                break
        if self.high * (1 - FAR) <= self.best[0] < self.high:
            low, self.high = self.bound.highest(self.best[0], self.high, tick, near=EQUAL)
            self._made(low, tick)
        if not self.ways:
            self.refine(tick)

    def refine(self, tick: Callable[[], None]) -> None:
        """Keep placements made for levels between the best so far and the bound, and others in tree order."""
        self._between(self.best[0], self.high, tick)
        for group in self.starts.in_tree_order():
            if self.best[0] >= self.high * (1 - NEAR):
                break
            self.keep(group)
            tick()

    def _between(self, low: float, high: float, tick: Callable[[], None]) -> None:
        """Levels between what is reached and what is not, by halves."""
        while 0 < low < high * (1 - NEAR):
            middle = (low + high) / 2
            self._made(middle, tick)
            low, high = (self.best[0], high) if self.best[0] > low else (low, middle)

    def _made(self, level: float, tick: Callable[[], None]) -> None:
        for group in self.starts.at(level):
            self.keep(group)
            tick()

    def _exactly(self, tick: Callable[[], None]) -> bool:
        """Search everything that could be better than what is known; whether that ended in time."""
        question, now = self.question, self.question.clock()
        several = question.differ == 1 and question.k > 1
        quick = question.pattern.ranks <= QUICK_RANKS
        if self.best[0] >= self.high * (1 - (EQUAL if quick else NEAR)):
            if not several:
                return False
            if not quick:
                tick = question.until(now + max(LEAST_SECONDS, now - self.started))
        branches = self._branches(question.k if several else 1, tick)
        for value, group in self.kept.values():
            branches.keep(group, value)
        if self.best[0] < self.high:
            for group in branches.greedy():
                branches.keep(group, question.value(group))
        done = branches.run()
        self.kept = {frozenset(group): (value, group) for value, group in branches.ranking()}
        return done

    def _branches(self, k: int, tick: Callable[[], None]) -> FlowBranches:
        return FlowBranches(self.question.crossings, self.question.pattern, k, tick, self.room)

    def _step(self, deadline: float) -> None:
        """Steps from the best placement to better ones, until the bound or the end of the time; of large patterns on
        networks of switches many at a time."""
        question, (value, group) = self.question, self.best
        enough = self.high * (1 - NEAR)
        if not group or not question.beside or value >= enough:
            return
        if self.ways:
            tick = question.until(deadline + question.loading(), every=1)
            levels = LevelSearch(self.bound, question.model, self.ways, question.beside, rng=question.rng, tick=tick)
            with suppress(OutOfTime):
                for better in levels.raised(group, value, self.high):
                    self.keep(better)
        else:
            tick = question.until(deadline)
            search = FlowSearch(question.model, question.beside, self.room, rng=question.rng, tick=tick)
            self.keep(search.improved(group, enough))

    def _others(self, *, exact: bool) -> list[Ranked]:
        """The next best groups, each in `differ` nodes at least unlike those before."""
        question, (_, first) = self.question, self.best
        own = frozenset(first)
        if exact and question.differ == 1:
            rest = [self._ranked(*each, exact=True) for nodes, each in self.kept.items() if nodes != own]
            return self._in_order(rest)[: question.k - 1]
        now = question.clock()
        deadline = now + max(LEAST_SECONDS, now - self.started)
        chosen, found = [own], list[Ranked]()
        while len(chosen) < question.k:
            value, group = self._unlike(chosen, first, deadline)
            if not group:
                break
            found.append(self._ranked(value, group, exact=False))
            chosen.append(frozenset(group))
        return found

    def _unlike(self, chosen: Sequence[frozenset[int]], group: Group, deadline: float) -> tuple[float, Group]:
        """The best placement that is known, or found without the weakest nodes of the groups that are chosen."""
        degree = int(self.bound.degrees.max())
        left = set[int]()
        for nodes in chosen:
            weakest = sorted(nodes - left, key=lambda node: (self.question.crossings.access(node, degree), node))
            left.update(weakest[: max(0, self.question.differ - len(nodes & left))])
        solver = _Solver(self.question, [0 if node in left else room for node, room in enumerate(self.room)])
        replaced = self._without(group, left)
        if replaced:
            solver.keep(replaced)
        with suppress(OutOfTime):
            solver.start(self.question.until(deadline))
        solver._step(deadline)
        known = {**self.kept, **solver.kept}
        unlike = [each for nodes, each in known.items() if all(self._differ(nodes, other) for other in chosen)]
        return max(unlike, key=lambda each: each[0], default=(-math.inf, ()))

    def _differ(self, one: frozenset[int], other: frozenset[int]) -> bool:
        return max(len(one - other), len(other - one)) >= self.question.differ

    def _without(self, group: Group, left: set[int]) -> Group:
        """The same placement with the nearest free node in the place of each that may not be used; empty where there
        are too few."""
        home, degree = self.question.tree.home, int(self.bound.degrees.max())
        count, taken = Counter(group), set(group) | left
        moved: dict[int, int] = {}
        for node in sorted(left & count.keys()):
            free = [each for each, room in enumerate(self.room) if room >= count[node] and each not in taken]
            if not free:
                return ()
            moved[node] = max(
                free,
                key=lambda each: (home[each] == home[node], self.question.crossings.access(each, degree), -each),
            )
            taken.add(moved[node])
        return tuple(moved.get(node, node) for node in group)

    def _settled(self, value: float, group: Group) -> Group:
        """A placement of the same value with the most cpu, and of those with the highest mean rate, as far as the same
        searches lead there in a part of the time that is left."""
        question, now = self.question, self.question.clock()
        tick = question.until(now + EQUALS_SHARE * max(0.0, question.deadline - now))
        with suppress(OutOfTime):
            group = self._with_most_cpu(value, group, tick)
        parts = len(question.edges) * question.crossings.units
        return self._evened(value, group, tick) if parts <= MOST_EVENED else group

    def _with_most_cpu(self, value: float, group: Group, tick: Callable[[], None]) -> Group:
        cpu = self.question.cpu
        lowest = min(cpu(node) for node in group)
        levels = sorted({cpu(node) for node, room in enumerate(self.room) if room} - {lowest})
        low, high = bisect(levels, lowest), len(levels)
        while low < high:
            tick()
            middle = (low + high) // 2
            better = self._reaching(value, levels[middle], tick)
            if better:
                group, low = better, bisect(levels, min(cpu(node) for node in better))
            else:
                high = middle
        return group

    def _reaching(self, value: float, cpu: float, tick: Callable[[], None]) -> Group:
        """A placement worth `value` on nodes with so much cpu; empty where none was found."""
        question = self.question
        solver = _Solver(question, [room if question.cpu(node) >= cpu else 0 for node, room in enumerate(self.room)])
        if solver.bound.takes(value * (1 - EQUAL)) is None:
            return ()
        for group in solver.starts.at(value * (1 - EQUAL)):
            if question.value(group) >= value:
                return group
        if not question.is_small:
            return ()
        branches = solver._branches(1, tick)
        branches.floor = math.nextafter(value, -math.inf)
        branches.run()
        return max(branches.kept.values(), default=(0.0, ()))[1]

    def _evened(self, value: float, group: Group, tick: Callable[[], None]) -> Group:
        """The placement with the highest mean rate that single steps lead to, without less of anything else."""
        best, better = self._mean(group), True
        lowest = min(self.question.cpu(node) for node in group)
        with suppress(OutOfTime):
            while better:
                better = False
                for other in self._steps(group):
                    tick()
                    if self.question.value(other) < value or min(map(self.question.cpu, other)) < lowest:
                        continue
                    if (mean := self._mean(other)) > best:
                        group, best, better = other, mean, True
                        break
        return group

    def _steps(self, group: Group) -> Iterator[Group]:
        """Moves of a rank to a free node, exchanges with another rank; STEPS of them by chance."""
        free = [node for node, room in enumerate(self.room) if room and node not in group]
        ways = len(free) + len(group)
        for step in self.question.rng.sample(range(len(group) * ways), min(STEPS, len(group) * ways)):
            rank, way = divmod(step, ways)
            if way < len(free):
                yield (*group[:rank], free[way], *group[rank + 1 :])
            elif way - len(free) != rank:
                swapped = list(group)
                other = way - len(free)
                swapped[rank], swapped[other] = group[other], group[rank]
                yield tuple(swapped)

    def _mean(self, group: Group) -> tuple[float, float]:
        """Over the pairs: what the narrowest link of each is worth to its flow, and the rate that the flow gets."""
        crossings = self.question.crossings
        ways = [crossings.loads(group[a], group[b]) or () for a, b in self.question.edges]
        load: dict[int, int] = {}
        for loads in ways:
            for arc, units in loads:
                load[arc] = load.get(arc, 0) + units
        worths = [min((crossings.rate(arc, load[arc]) for arc, _ in loads), default=0.0) for loads in ways]
        shares = [min((crossings.share(arc, load[arc]) for arc, _ in loads), default=0.0) for loads in ways]
        return round(sum(worths) / len(ways), 12), round(sum(shares) / len(ways), 12)
