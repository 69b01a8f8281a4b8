"""The random method: the reference that the papers compare against, kept within the requirements."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np

from gridportal.network.narrowest import bandwidth
from scheduling.selection.core.pairs.cliques import CliqueSearch
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.threshold import Clock, Group, OutOfTime
from scheduling.selection.core.trees.merge_tree import MergeTree
from scheduling.selection.core.trees.usable_network import Bools

TRIES = 100


def draw(
    pairs: Pairs,
    m: int,
    k: int,
    floor: float,
    *,
    rng: random.Random,
    clock: Clock,
    deadline: float,
) -> list[Group]:
    """At most `k` different groups of m places among the usable nodes, in drawn rank order.

    Every pair has `floor` bit/s or more. Uniform over all groups without a floor and on networks without cycles;
    elsewhere groups that are rarely hit by growing at random are found by search and are not uniform.
    """
    if floor <= 0 or m == 1:
        several = min(k, math.comb(len(pairs.usable), m))
        return distinct(lambda: tuple(rng.sample(range(len(pairs.usable)), m)), several, clock, deadline)
    tree = pairs.tree(bandwidth)
    if tree is not None:
        return _from_parts(MergeTree(tree), m, k, floor, rng, clock, deadline)
    return _from_pairs(pairs.rates(bandwidth) >= floor, m, k, rng, clock, deadline)


def distinct(one: Callable[[], Group | None], k: int, clock: Clock, deadline: float) -> list[Group]:
    """At most `k` groups on different nodes out of many tries; those that were found when time is over."""
    found: dict[frozenset[int], Group] = {}
    for _ in range(TRIES * k):
        if found and clock() > deadline:
            break
        group = one()
        if group is not None:
            found.setdefault(frozenset(group), group)
        if len(found) == k:
            break
    return list(found.values())


def _from_parts(
    tree: MergeTree, m: int, k: int, floor: float, rng: random.Random, clock: Clock, deadline: float
) -> list[Group]:
    parts = [part for part in tree.parts_at(floor) if tree.size[part] >= m]
    ways = [math.comb(tree.size[part], m) for part in parts]
    if not parts:
        return []

    def one() -> Group:
        number = rng.randrange(sum(ways))
        for part, count in zip(parts, ways, strict=True):
            if number < count:
                return tuple(tree.owner[leaf] for leaf in rng.sample(tree.below(part), m))
            number -= count
        raise AssertionError("the ways add up")

    return distinct(one, min(k, sum(ways)), clock, deadline)


def _from_pairs(joined: Bools, m: int, k: int, rng: random.Random, clock: Clock, deadline: float) -> list[Group]:
    def grow() -> Group | None:
        free = np.ones(len(joined), dtype=bool)
        group: list[int] = []
        while len(group) < m:
            options = np.flatnonzero(free)
            if not len(options):
                return None
            node = int(options[rng.randrange(len(options))])
            group.append(node)
            free &= joined[node]
        return tuple(group)

    def tick() -> None:
        if clock() > deadline:
            raise OutOfTime

    found = distinct(grow, k, clock, deadline)
    if not found:
        clique = CliqueSearch(m, tick).find(joined)
        found = [tuple(rng.sample(clique, m))] if clique else []
    return found
