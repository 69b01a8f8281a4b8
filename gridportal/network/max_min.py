"""Max-min fair rates by progressive filling, exactly: who shares which constraints gets how much.

Source: Selection 1999, 2.2 (flow queries account for sharing of links by multiple flows); max-min fairness is the
definition of Bertsekas and Gallager, Data Networks, 6.5.2.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

#: Rates that differ by less than this fraction are equal: what is left over by rounding is no bandwidth.
TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Claim:
    """Somebody who sends: over the constraints with these numbers, at most `cap` bit/s, with a share of `weight`.

    parts: what part of the rate crosses each of them; empty where all of it does."""

    over: tuple[int, ...]
    weight: float = 1.0
    cap: float = math.inf
    parts: tuple[float, ...] = ()

    def crossed(self) -> Iterator[tuple[int, float]]:
        """The constraints, each with the part of the rate that crosses it."""
        return zip(self.over, self.parts or repeat(1.0), strict=False)


@dataclass(frozen=True, slots=True)
class Filled:
    """rates: bit/s of each claim. binding: the number of the constraint that holds each one, -1: its own cap."""

    rates: tuple[float, ...]
    binding: tuple[int, ...]


def fill(room: Sequence[float], claims: Sequence[Claim]) -> Filled:
    """The one max-min fair allocation: nobody can be given more without taking from one who has no more per weight.

    `room`: bit/s of each constraint. All rates rise together, in proportion to their weights, until a constraint is
    full or a claim has its cap; who is held there stays, the others go on. Each claim is thus held by the first
    constraint to fill on its way (of equals the lowest number) or by its cap. A claim over no constraint gets its cap.
    Cost: O((P + C + F) log C) for F claims over P constraints in all, C constraints.

    >>> fill([10.0, 4.0], [Claim((0,)), Claim((0, 1)), Claim((1,))])
    Filled(rates=(8.0, 2.0, 2.0), binding=(0, 1, 1))
    """
    return _Filling(room, claims).run()


class _Filling:
    """The state while the level (bit/s per weight) rises: what is left of each constraint, and who still rises."""

    def __init__(self, room: Sequence[float], claims: Sequence[Claim]) -> None:
        self.claims = claims
        self.left = list(room)
        self.weight = [0.0] * len(room)
        self.users: list[list[int]] = [[] for _ in room]
        self.rising = [0] * len(room)
        self.rates = [-1.0] * len(claims)
        self.binding = [-1] * len(claims)
        for number, claim in enumerate(claims):
            for constraint, part in claim.crossed():
                self.weight[constraint] += claim.weight * part
                self.users[constraint].append(number)
                self.rising[constraint] += 1
        self.whole = list(self.weight)

    def run(self) -> Filled:
        caps = sorted((claim.cap / claim.weight, number) for number, claim in enumerate(self.claims))
        queue = [(self._full_at(c), c) for c, users in enumerate(self.users) if users]
        heapq.heapify(queue)
        at = 0
        while queue:
            level, constraint = queue[0]
            while at < len(caps) and caps[at][0] < level:
                self._hold(caps[at][1], caps[at][0], -1)
                at += 1
            now = self._full_at(constraint)
            if now > level:  # others were held meanwhile, so it fills later
                heapq.heapreplace(queue, (now, constraint))
                continue
            heapq.heappop(queue)
            for number in self.users[constraint]:
                self._hold(number, level, constraint)
        for level, number in caps[at:]:
            self._hold(number, level, -1)
        return Filled(tuple(self.rates), tuple(self.binding))

    def _full_at(self, constraint: int) -> float:
        """The level at which a constraint is full if nobody else is held before; never, when nobody rises there."""
        if not self.rising[constraint]:
            return math.inf
        if self.weight[constraint] <= TINY * self.whole[constraint]:  # what the subtractions left is their rounding
            self.weight[constraint] = math.fsum(
                self.claims[number].weight * part
                for number in set(self.users[constraint])
                if self.rates[number] < 0
                for crossed, part in self.claims[number].crossed()
                if crossed == constraint
            )
        return max(0.0, self.left[constraint]) / self.weight[constraint]

    def _hold(self, number: int, level: float, constraint: int) -> None:
        if self.rates[number] >= 0:
            return
        claim = self.claims[number]
        self.rates[number] = rate = claim.cap if constraint < 0 else min(level * claim.weight, claim.cap)
        self.binding[number] = constraint
        for other, part in claim.crossed():
            self.left[other] -= rate * part
            self.weight[other] -= claim.weight * part
            self.rising[other] -= 1
