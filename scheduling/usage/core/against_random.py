"""How long jobs took on chosen nodes beside random ones. Only jobs under the same conditions are held against each
other: the same cluster, application, parameters and number of nodes. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import NamedTuple

_QUARTERS = 4


class Conditions(NamedTuple):
    """What must be the same; `parameters` as one text."""

    cluster: str
    application: int
    parameters: str
    nodes: int
    ranks: int


class TimedJob(NamedTuple):
    """A job that went well, from start to end in seconds."""

    conditions: Conditions
    seconds: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Jobs under the same conditions: how many there were each way, and the median of their seconds."""

    conditions: Conditions
    chosen: int
    chosen_seconds: float
    random: int
    random_seconds: float

    @property
    def saved(self) -> float:
        """The share of the time on random nodes that chosen ones saved; below 0 where they took longer."""
        return 1.0 - self.chosen_seconds / self.random_seconds


def against_random(on_random: Iterable[TimedJob], on_chosen: Iterable[TimedJob]) -> list[Pair]:
    """The conditions under which there were jobs of both sorts, those with most jobs first.

    >>> here, there = Conditions("grid", 1, "{}", 4, 4), Conditions("grid", 1, "{}", 8, 8)
    >>> found = against_random([TimedJob(here, 20.0)], [TimedJob(here, 10.0), TimedJob(there, 1.0)])
    >>> [(pair.conditions.nodes, pair.saved) for pair in found]
    [(4, 0.5)]
    """
    random, chosen = _by_conditions(on_random), _by_conditions(on_chosen)
    pairs = [
        Pair(each, len(chosen[each]), median(chosen[each]), len(random[each]), median(random[each]))
        for each in random.keys() & chosen.keys()
    ]
    return sorted(pairs, key=lambda pair: (-min(pair.chosen, pair.random), -pair.chosen, pair.conditions))


def spread(pairs: Sequence[Pair]) -> tuple[float, float, float]:
    """Of what was saved, each condition counting once: the lower quartile, the median and the upper quartile; of less
    than four conditions the least and the greatest in place of the quartiles. Raises ValueError for none.

    >>> here = Conditions("grid", 1, "{}", 4, 4)
    >>> spread([Pair(here, 1, seconds, 1, 100.0) for seconds in (50.0, 75.0)])
    (0.25, 0.375, 0.5)
    """
    saved = sorted(pair.saved for pair in pairs)
    if not saved:
        raise ValueError("pairs is empty: there must be one at least")
    if len(saved) < _QUARTERS:
        return saved[0], median(saved), saved[-1]
    lower, middle, upper = quantiles(saved, n=_QUARTERS, method="inclusive")
    return lower, middle, upper


def _by_conditions(jobs: Iterable[TimedJob]) -> dict[Conditions, list[float]]:
    found = defaultdict[Conditions, list[float]](list)
    for job in jobs:
        if job.seconds > 0:
            found[job.conditions].append(job.seconds)
    return found
