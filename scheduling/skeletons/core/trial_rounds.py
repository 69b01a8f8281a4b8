"""Trying candidate groups with a skeleton: which may run at once, which need not run any more, and which has won.

Source: Pattern 2003, 2.5 (the skeleton is run on each candidate group, and the one that it is fastest on is taken).
There, too: no skeletons at once on intersecting groups. That they share no link that binds either, and the early stop,
are ours, as is the time budget (`trial_budget`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridportal.base.entries import Entries, number, whole, whole_pair
from gridportal.base.reasons import Code, Reason
from gridportal.network.routes import Routes
from gridportal.network.topology import Topology
from scheduling.selection.core.flows.link_crossings import concurrent_rates
from scheduling.skeletons.core.trial_budget import STARTING

Pair = tuple[int, int]
#: A skeleton that runs for so many times as long as the fastest one, and STARTING seconds more, has lost.
SLOWER = 1.25
_SLACK = 1e-6


@dataclass(frozen=True)
class Plan:
    """A trial before it begins. groups: places of the candidates that are tried, the selection's choice first.

    apart: pairs of them that must not run at once. bounds: seconds that the application takes there at least;
    estimates: seconds from its work and the measured bandwidths. expected: seconds of one skeleton run; application:
    seconds of the application where it was traced; budget: seconds that the whole trial may take.
    """

    skeleton: int
    groups: tuple[int, ...]
    apart: tuple[Pair, ...]
    bounds: tuple[float, ...]
    estimates: tuple[float, ...]
    expected: float
    application: float
    budget: float

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `Plan.read`."""
        return asdict(self)

    @classmethod
    def read(cls, document: object) -> Plan | None:
        """A plan from its document, None where an entry is missing; others are left alone. Raises InputError that names
        an entry of another kind."""
        entries = Entries(document, "trial")
        if not entries.has(*cls.__dataclass_fields__):
            return None
        return cls(
            skeleton=entries.required("skeleton", whole),
            groups=entries.list_of("groups", whole),
            apart=entries.list_of("apart", whole_pair),
            bounds=entries.list_of("bounds", number),
            estimates=entries.list_of("estimates", number),
            expected=entries.required("expected", number),
            application=entries.required("application", number),
            budget=entries.required("budget", number),
        )


def apart(topology: Topology, groups: Sequence[Sequence[str]], edges: Sequence[Pair]) -> tuple[Pair, ...]:
    """The pairs of groups (places in `groups`, the lower first) that must not run at once.

    They share a node, or a link that could not carry what both would send over it: each alone gets the max-min rates
    of its `edges` (pairs of ranks, both ways), so every link that binds a group is one it shares with nobody. On a
    topology of pairs every path is private, so only nodes count. Cost: one flow query for each group.

    Source: Pattern 2003, 2.5 (skeletons are not run concurrently on intersecting groups of nodes); the links are ours.

    >>> from gridportal.network.topology import parse
    >>> links = [{"source": x, "target": "s", "capacity": 1e8} for x in "abcd"]
    >>> net = parse({"nodes": [*({"id": x} for x in "abcd"), {"id": "s", "kind": "network"}], "links": links})
    >>> apart(net, [("a", "b"), ("c", "d"), ("b", "c")], [(0, 1)])
    ((0, 2), (1, 2))
    """
    routes = None if topology.kind == "pairs" else topology.derived(Routes)
    sent = [_sent(routes, group, edges) if routes else {} for group in groups]
    return tuple(
        (one, other)
        for other in range(len(groups))
        for one in range(other)
        if set(groups[one]) & set(groups[other]) or _too_much(topology, sent[one], sent[other])
    )


def rounds(count: int, not_at_once: Iterable[Pair]) -> list[list[int]]:
    """The groups 0..count-1 in rounds, each in the first round in which it disturbs nobody.

    >>> rounds(3, [(0, 1)])
    [[0, 2], [1]]
    """
    forbidden = {frozenset(pair) for pair in not_at_once}
    found: list[list[int]] = []
    for group in range(count):
        free = (row for row in found if all(frozenset((group, other)) not in forbidden for other in row))
        row = next(free, None)
        if row is None:
            found.append([group])
        else:
            row.append(group)
    return found


def startable(planned: Sequence[int], running: Iterable[int], not_at_once: Iterable[Pair]) -> list[int]:
    """Which of the planned groups may start now, beside those that run.

    >>> startable([1, 2], [0], [(0, 1)])
    [2]
    """
    forbidden = {frozenset(pair) for pair in not_at_once}
    busy, chosen = list(running), []
    for group in planned:
        if all(frozenset((group, other)) not in forbidden for other in busy):
            busy.append(group)
            chosen.append(group)
    return chosen


def least_seconds(work: Sequence[float], sizes: NDArray[np.float64], rates: Mapping[Pair, float]) -> float:
    """What the application takes at least: the work of its busiest rank, and the bytes of its slowest pair.

    `work` in seconds of each rank, `sizes[i, j]` bytes from rank i to j, `rates` bit/s of pairs of ranks in their
    slower direction, of which it is not known which one that is.
    """
    slowest = (8 * min(sizes[a, b], sizes[b, a]) / rate for (a, b), rate in rates.items() if rate > 0)
    return float(max(max(work, default=0.0), max(slowest, default=0.0)))


def estimate(work: Sequence[float], sizes: NDArray[np.float64], rates: Mapping[Pair, float]) -> float:
    """What it takes if the busiest rank works, and sends and receives everything one after the other."""
    talk = np.zeros(len(work))
    for (a, b), rate in rates.items():
        if rate > 0:
            seconds = 8 * (sizes[a, b] + sizes[b, a]) / rate
            talk[a] += seconds
            talk[b] += seconds
    return float(max(work, default=0.0) + talk.max(initial=0.0))


def hopeless(
    planned: Iterable[int],
    predicted: Mapping[int, float],
    bounds: Sequence[float],
    estimates: Sequence[float],
    kinds: Sequence[Hashable],
) -> dict[int, Reason]:
    """Planned groups that cannot win any more, each with the reason; none before two were tried, for one alone is no
    comparison.

    One whose lower bound is not below the best prediction so far; and one that loses even if its estimate is as much
    too high as the most exaggerated so far and the best gets worse by the whole spread between prediction and estimate
    that was seen. Seen: on groups of the same kind, of which there must be two. `kinds` says of each group what its
    prediction and its estimate come from: how far those of another program, of another player or of ranks that share
    nodes in another way are apart tells nothing about it.

    >>> hopeless([2], {0: 10.0, 1: 12.0}, [1.0, 1.0, 11.0], [9.0, 11.0, 12.0], "aaa")[2].facts
    {'seconds': 11.0}
    >>> hopeless([2], {0: 5.0, 1: 5.5}, [1.0, 1.0, 1.0], [1.0, 1.0, 4.0], "aab")
    {}
    """
    if len(predicted) < 2:
        return {}
    best = min(predicted.values())
    lost = {}
    for group in planned:
        alike = [each for each in predicted if kinds[each] == kinds[group]]
        least, spread = _ratios([predicted[each] / estimates[each] for each in alike if estimates[each] > 0])
        if bounds[group] >= best:
            lost[group] = Reason.of(Code.TAKES_AT_LEAST, seconds=bounds[group])
        elif estimates[group] * least > best * spread:
            lost[group] = Reason.of(Code.TO_BE_EXPECTED, seconds=estimates[group] * least)
    return lost


def too_slow(running: Mapping[int, float], finished: Iterable[float]) -> list[int]:
    """Which of the running skeletons have lost already: seconds each runs, and seconds that finished ones took in all.

    >>> too_slow({1: 3.0, 2: 9.0}, [4.0])
    [2]
    """
    best = min(finished, default=None)
    if best is None:
        return []
    return [group for group, seconds in running.items() if seconds > SLOWER * best + STARTING]


def winner(predicted: Mapping[int, float]) -> int | None:
    """The group with the least predicted seconds, of equals the first; None when no skeleton ran to its end.

    >>> winner({0: 4.0, 1: 3.0, 2: 3.0}), winner({})
    (1, None)
    """
    return min(sorted(predicted), key=predicted.__getitem__, default=None)


def _ratios(found: Sequence[float]) -> tuple[float, float]:
    """The least of the ratios, and how many times as much the greatest is; of less than two nothing is expected."""
    return (min(found), max(found) / min(found)) if len(found) > 1 and min(found) > 0 else (0.0, 1.0)


def _sent(routes: Routes, group: Sequence[str], edges: Sequence[Pair]) -> dict[int, float]:
    """Bit/s that a group sends over each direction of a link when all its pairs talk at once; ranks of one node use
    none."""
    sent = dict[int, float]()
    between = [(a, b) for a, b in edges if group[a] != group[b]]
    for (a, b), both in zip(between, concurrent_rates(routes, group, between), strict=True):
        for ends, rate in zip(((a, b), (b, a)), both, strict=True):
            path = routes.path(group[ends[0]], group[ends[1]])
            for arc, part in path.loads if path else ():
                sent[arc] = sent.get(arc, 0.0) + rate.bandwidth * part
    return sent


def _too_much(topology: Topology, one: Mapping[int, float], other: Mapping[int, float]) -> bool:
    return any(
        one[arc] + other[arc] > topology.links[arc >> 1].bandwidth * (1 + _SLACK) for arc in one.keys() & other.keys()
    )
