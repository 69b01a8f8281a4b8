"""What decides among groups that are equal in what a method maximises: one aim after the other, each exactly.

Not in the papers, which take any of several equals (Selection 1999, figure 2: "any m compute nodes in L"). Every aim is
the lowest of something over the pairs that count: of the links' values on the way, and of the nodes' caps. So the
groups that reach a level of one aim are the groups of a smaller network, in which the next aim is maximised in the same
way, and no group that is chosen is worse in one aim without being better in another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gridportal.network.narrowest import Worth
from scheduling.selection.core.threshold import Group, OutOfTime, Ranked
from scheduling.selection.core.trees.usable_network import Floats, Network, capped_links, of_links

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Aim:
    """The lowest of the links' `value` and of the `caps` of the nodes, None where nodes do not count."""

    value: Worth
    caps: Sequence[float] | None = None


class Stages(Protocol):
    """A network in which each of several aims can be maximised alone."""

    @property
    def count(self) -> int:
        """How many aims there are."""
        ...

    @property
    def more(self) -> int:
        """How many more groups to ask for, to see whether there are others as good as the last: where that is cheap."""
        ...

    def best(self, aim: int, allowed: Mask | None, k: int) -> list[Ranked]:
        """The `k` best node sets by one aim in the allowed part of the network (None: all of it), best first."""
        ...

    def at_least(self, aim: int, allowed: Mask | None, level: float) -> Mask:
        """The part of the allowed one in which every group is worth `level` by an aim."""
        ...

    def value(self, aim: int, group: Group, level: float) -> float:
        """What a group is worth by an aim, of which `level` is known."""
        ...


def best_by_aims(stages: Stages, k: int, aim: int = 0, allowed: Mask | None = None) -> list[Ranked]:
    """The `k` node sets that are best by the first aim, among equals by the second, and so on; with the first's value.

    Finds: exactly that order, where every stage ends in time; else what stages before it found. Cost: the first stage,
    and for each distinct value among its answers the later ones on a network with less and less in it.
    """
    if aim + 1 == stages.count:
        return stages.best(aim, allowed, k)
    asked = k + stages.more
    found = stages.best(aim, allowed, asked)
    kept: dict[frozenset[int], Ranked] = {}
    for level in dict.fromkeys(each.value for each in found[:k]):
        same = [each for each in found if each.value == level]
        wanted = min(k, sum(each.value >= level for each in found))
        alone = len(same) == 1 and same[0].proved and (len(found) < asked or found[-1].value < level)
        better: list[Ranked] = []
        with suppress(OutOfTime):
            better = [] if alone else best_by_aims(stages, wanted, aim + 1, stages.at_least(aim, allowed, level))
        proved = all(each.proved for each in same)
        for each in [*better, *same]:
            if len(kept) < wanted:
                value = stages.value(aim, each.group, level)
                kept.setdefault(frozenset(each.group), Ranked(value, each.group, proved))
    return sorted(kept.values(), key=lambda each: -each.value)


class TreeStages:
    """Aims on a network without cycles, whose links are the same for all of them and have other values for each."""

    more = 1

    def __init__(
        self,
        first: Network,
        aims: Sequence[Aim],
        tree: Callable[[Aim], Network],
        best: Callable[[Network, Sequence[int], int], list[Ranked]],
    ) -> None:
        """`first`: the network with the values of the first aim; `tree`: with those of another, where it is needed.
        `best`: the best groups of a network, whose compute nodes have these places among the usable nodes."""
        self.tree, self.aims, self._tree, self._best = first, aims, tree, best
        self.known = {0: capped_links(first, aims[0].caps)}

    @property
    def count(self) -> int:
        return len(self.aims)

    def worth(self, aim: int) -> Floats:
        """What the links are worth by an aim."""
        if aim not in self.known:
            self.known[aim] = capped_links(self._tree(self.aims[aim]), self.aims[aim].caps)
        return self.known[aim]

    def best(self, aim: int, allowed: Mask | None, k: int) -> list[Ranked]:
        if allowed is None:
            return self._best(replace(self.tree, w=self.worth(aim)), range(self.tree.count), k)
        network, numbers = of_links(replace(self.tree, w=self.worth(aim)), np.flatnonzero(allowed))
        places = numbers.tolist()
        found = self._best(network, places, k)
        return [Ranked(each.value, tuple(places[i] for i in each.group), each.proved) for each in found]

    def at_least(self, aim: int, allowed: Mask | None, level: float) -> Mask:
        reaching: Mask = self.worth(aim) >= level
        return reaching if allowed is None else reaching & allowed

    def value(self, aim: int, group: Group, level: float) -> float:
        return level


class PairStages:
    """Aims on the rates of pairs, n x n for each aim, -inf where a pair does not count."""

    more = 0

    def __init__(
        self,
        count: int,
        rates: Callable[[int], Floats],
        edges: Sequence[tuple[int, int, float]],
        best: Callable[[Floats, int, int], list[Ranked]],
    ) -> None:
        """`best`: the best groups by such a matrix, their number, and the number of the aim."""
        self.count, self._rates, self.edges, self._best = count, rates, edges, best
        self.known: dict[int, Floats] = {}

    def rates(self, aim: int) -> Floats:
        """Of every pair, by an aim."""
        if aim not in self.known:
            self.known[aim] = self._rates(aim)
        return self.known[aim]

    def best(self, aim: int, allowed: Mask | None, k: int) -> list[Ranked]:
        rates = self.rates(aim)
        return self._best(rates if allowed is None else np.where(allowed, rates, -np.inf), k, aim)

    def at_least(self, aim: int, allowed: Mask | None, level: float) -> Mask:
        reaching: Mask = self.rates(aim) >= level
        return reaching if allowed is None else reaching & allowed

    def value(self, aim: int, group: Group, level: float) -> float:
        rates = self.rates(aim)
        lowest = min((float(rates[group[a], group[b]]) for a, b, _ in self.edges), default=level)
        return max(level, lowest)
