"""Local search for flows: ranks leave the links that bind, by moves and exchanges of which only the changes count."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence

from scheduling.selection.core.flows.flow_loads import FlowModel
from scheduling.selection.core.threshold import Group, OutOfTime

#: So many steps are looked at around one placement before it is kicked, for each rank at the link that binds.
TRIES = 64
#: Ranks that change places in a kick.
KICK = 3


class FlowSearch:
    """Steps from a placement to better ones: a higher least rate, or fewer flows that have it.

    A step counts as better when no link that it loads more falls to what the slowest flows have, and one that binds
    gets less to carry: so it costs its own edges only, not a new solution. Promises nothing but to be no worse.
    `beside`: the partners of each rank; `room`: ranks that each node has room for, 0 where it may not be used.
    """

    def __init__(
        self,
        model: FlowModel,
        beside: Sequence[Sequence[int]],
        room: Sequence[int],
        *,
        rng: random.Random,
        tick: Callable[[], None],
    ) -> None:
        self.model, self.beside, self.room, self.rng, self.tick = model, beside, room, rng, tick
        self.degree = [len(partners) for partners in beside]
        order = sorted((n for n, r in enumerate(room) if r > 0), key=lambda n: -model.caps[n])
        self.nodes = order

    def improved(self, group: Group, enough: float) -> Group:
        """The best placement that was found from this one until `tick` raises, or a placement was worth `enough`."""
        best = group
        try:
            self._start(group)
            self._climb(enough)
            best, score = tuple(self.at), self._score()
            while score[0] < enough:
                self._kick()
                self._climb(enough)
                if self._score() >= score:
                    best, score = tuple(self.at), self._score()
                else:
                    self._start(best)
        except OutOfTime:
            if self._score() >= self._score_of(best):
                best = tuple(self.at)
        return best

    def _score_of(self, group: Group) -> tuple[float, int]:
        now = list(self.at)
        self._start(group)
        score = self._score()
        self._start(tuple(now))
        return score

    def _start(self, group: Group) -> None:
        self.at = list(group)
        self.on: dict[int, list[int]] = {}
        for rank, node in enumerate(group):
            self.on.setdefault(node, []).append(rank)
        self.load: dict[int, int] = {}
        self.apart = 0
        for rank, partners in enumerate(self.beside):
            for other in partners:
                if rank < other:
                    self._add(self.model.pair(group[rank], group[other]), 1)
        self.rates = {crossed: self.model.rate(crossed, flows) for crossed, flows in self.load.items() if flows}

    def _add(self, crossed: tuple[int, ...] | None, sign: int) -> None:
        if crossed is None:
            self.apart += sign
            return
        for each in crossed:
            self.load[each] = self.load.get(each, 0) + sign

    def _lowest(self) -> float:
        if self.apart:
            return -math.inf
        return min(min(self.rates.values(), default=math.inf), min(self.model.caps[node] for node in self.on))

    def _score(self) -> tuple[float, int]:
        """(least rate, fewest flows that have it)."""
        lowest = self._lowest()
        held = sum(self.model.caps[node] <= lowest for node in self.on)
        return lowest, -self.apart - held - sum(self.load[each] for each, rate in self.rates.items() if rate <= lowest)

    def _climb(self, enough: float) -> None:
        while True:
            lowest = self._lowest()
            if lowest >= enough or not self._step(lowest):
                return

    def _step(self, lowest: float) -> bool:
        """One step forward; False when none was found."""
        binding = {each for each, rate in self.rates.items() if rate <= lowest}
        ranks = self._slow(binding, lowest)
        self.rng.shuffle(ranks)
        for rank in ranks:
            for step in self._options(rank):
                self.tick()
                if self._accepted(step, binding, lowest):
                    return True
        return False

    def _slow(self, binding: set[int], lowest: float) -> list[int]:
        """The ranks with flows over what binds, or on nodes whose cap does."""
        found = []
        for rank, partners in enumerate(self.beside):
            here = self.at[rank]
            ways = (self.model.pair(here, self.at[other]) for other in partners)
            if self.model.caps[here] <= lowest or any(way is None or not binding.isdisjoint(way) for way in ways):
                found.append(rank)
        return found

    def _options(self, rank: int) -> Iterator[dict[int, int]]:
        """Where ranks may go instead, as their new nodes: next to partners first, then anywhere by chance."""
        here = self.at[rank]
        for partner in self.beside[rank][:8]:
            for other in self.beside[partner][:8]:
                if self.at[other] != here:
                    yield {rank: self.at[other], other: here}
        for _ in range(TRIES):
            node = self.nodes[self.rng.randrange(len(self.nodes))]
            if len(self.on.get(node, ())) < self.room[node]:
                yield {rank: node}
            other = self.rng.randrange(len(self.at))
            if self.at[other] != here:
                yield {rank: self.at[other], other: here}

    def _accepted(self, step: dict[int, int], binding: set[int], lowest: float) -> bool:
        """Take the step if it is one forward."""
        if any(self.model.caps[node] <= lowest and self.model.caps[self.at[r]] > lowest for r, node in step.items()):
            return False
        change = self._change(step)
        if change is None:
            return False
        gain = sum(self.model.caps[self.at[r]] <= lowest < self.model.caps[node] for r, node in step.items())
        for each, more in change.items():
            if more > 0 and self.model.rate(each, self.load.get(each, 0) + more) <= lowest:
                return False
            gain += more < 0 and each in binding
        if not gain:
            return False
        self._take(step, change)
        return True

    def _change(self, step: dict[int, int]) -> dict[int, int] | None:
        """How many flows more every link gets by a step; None where two partners would have no way."""
        change: dict[int, int] = {}
        for rank, node in step.items():
            here = self.at[rank]
            for other in self.beside[rank]:
                if other in step and other < rank:
                    continue
                after = self.model.pair(node, step.get(other, self.at[other]))
                if after is None:
                    return None
                for each in after:
                    change[each] = change.get(each, 0) + 1
                for each in self.model.pair(here, self.at[other]) or ():
                    change[each] = change.get(each, 0) - 1
        return change

    def _take(self, step: dict[int, int], change: dict[int, int]) -> None:
        if self.apart:
            moved = list(self.at)
            for rank, node in step.items():
                moved[rank] = node
            self._start(tuple(moved))
            return
        for rank in step:
            self.on[self.at[rank]].remove(rank)
        for rank, node in step.items():
            if not self.on[self.at[rank]]:
                del self.on[self.at[rank]]
            self.at[rank] = node
            self.on.setdefault(node, []).append(rank)
        for each, more in change.items():
            if more:
                self.load[each] = self.load.get(each, 0) + more
                if self.load[each]:
                    self.rates[each] = self.model.rate(each, self.load[each])
                else:
                    self.rates.pop(each, None)

    def _kick(self) -> None:
        """Some ranks elsewhere, or exchanged, whatever it costs."""
        for _ in range(KICK):
            self.tick()
            step = next(iter(self._options(self.rng.randrange(len(self.at)))), None)
            change = self._change(step) if step else None
            if step and change is not None:
                self._take(step, change)
