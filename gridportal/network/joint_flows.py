"""Links that one transfer at a time cannot tell the bandwidth of, and the transfers at once that can.

The estimate of gridportal.network.estimate is exact for a link that is the slowest of some path; of a link behind
slower ones it is only what was seen to pass. That is enough for one flow and too little for several that share the link
(Selection 1999, 2.2: flow queries). Transfers at once over such a link, that share nothing else, load it more: what
they get together has really passed it, and where they get less than each alone it is all that the link has left.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gridportal.network.estimate import NEAR
from gridportal.network.rounds import Direction, Pair, Ways, ways_of
from gridportal.network.sweep_result import Together
from gridportal.network.topology import Topology

#: Rates closer than this are equal: one short transfer tells no more.
ALIKE = 0.03
#: Transfers at once that get less than this part of what each got alone have filled the link.
_FILLED = 0.93
#: A transfer has this part of a probe at least.
_SHORTEST = 4


@dataclass(frozen=True, slots=True)
class Joint:
    """Transfers that run at once over `link`, which can carry `capacity`, and what each got alone, bit/s, the fastest
    first."""

    link: Direction
    capacity: float
    single_rates: Mapping[Pair, float]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """From where to where."""
        return tuple(self.single_rates)

    def measured(self, got: Mapping[Pair, float]) -> Together:
        """What the link was seen to carry when each pair got so much, and whether that is all that it has left."""
        together = min(self.capacity, sum(got[pair] for pair in self.pairs))
        enough = min(sum(self.single_rates.values()), self.capacity)
        filled = together < _FILLED * enough or together >= self.capacity * (1 - ALIKE)
        return Together(*self.link, together, filled)


def planned(topology: Topology, rates: Mapping[Pair, float]) -> list[Joint]:
    """`plan` for a topology, from what single transfers got, bit/s; none where every pair has a link of its own."""
    return [] if topology.kind == "pairs" else plan(ways_of(topology), rates, capacities(topology))


def capacities(topology: Topology) -> dict[Direction, float]:
    """The peak of every direction of every link, bit/s."""
    found = {(link.source, link.target): link.capacity for link in topology.links}
    if topology.directed:
        return found
    return found | {(target, source): capacity for (source, target), capacity in found.items()}


def seen(ways: Ways, rates: Mapping[Pair, float], capacities: Mapping[Direction, float]) -> dict[Direction, float]:
    """By direction of a link the most that a transfer alone got over it, bit/s, at most its capacity."""
    best: dict[Direction, float] = {}
    for pair, rate in rates.items():
        for link in ways(*pair):
            best[link] = max(best.get(link, 0.0), min(rate, capacities[link]))
    return best


def unknown(ways: Ways, rates: Mapping[Pair, float], capacities: Mapping[Direction, float]) -> list[Direction]:
    """The directions of links that may have more left than a transfer alone was seen to get.

    Known is a link that carries its capacity, and one that is alone the slowest on the path of a transfer.
    """
    best = seen(ways, rates, capacities)
    measured = {link for link, rate in best.items() if rate >= capacities[link] * (1 - ALIKE)}
    for pair, rate in rates.items():
        slow = [link for link in ways(*pair) if best[link] <= rate * (1 + ALIKE)]
        if len(slow) == 1:
            measured.add(slow[0])
    return [link for link in best if link not in measured]


def plan(ways: Ways, rates: Mapping[Pair, float], capacities: Mapping[Direction, float]) -> list[Joint]:
    """For each unknown link the transfers at once that load it most: no two share a node or another link.

    Links that no two such transfers cross are left out: nothing could be learnt, and no two flows need it.
    O(pairs * length of a path), and for each unknown link the pairs that cross it.

    >>> ways = lambda a, b: [(a, "s"), ("s", "t"), ("t", b)]
    >>> rates = {("a", "c"): 50.0, ("a", "d"): 50.0, ("b", "c"): 50.0, ("b", "d"): 50.0}
    >>> capacities = {link: 100.0 for pair in rates for link in ways(*pair)} | {("s", "t"): 155.0}
    >>> [joint.pairs for joint in plan(ways, rates, capacities) if joint.link == ("s", "t")]
    [(('a', 'c'), ('b', 'd'))]
    """
    crossing: dict[Direction, list[Pair]] = {}
    for pair in sorted(rates, key=lambda pair: -rates[pair]):
        for link in ways(*pair):
            crossing.setdefault(link, []).append(pair)
    joints = []
    for link in unknown(ways, rates, capacities):
        chosen = _disjoint(link, crossing[link], ways)
        if len(chosen) > 1:
            joints.append(Joint(link, capacities[link], {pair: rates[pair] for pair in chosen}))
    return joints


def within(joint: Joint, ways: Ways, room: Mapping[Direction, int], size: int) -> tuple[Joint, dict[Pair, int]]:
    """The transfers of it for which links have `room` (probes of `size` bytes), and the bytes of each: in proportion to
    what it got alone, so that all end at once. None where it would be less than two, or too short to tell anything."""
    fits = [pair for pair in joint.pairs if all(room.get(step, 0) > 0 for step in ways(*pair) if step != joint.link)][
        : _SHORTEST * room.get(joint.link, 0)
    ]
    if len(fits) < 2:
        return replace(joint, single_rates={}), {}
    single_rates = {pair: joint.single_rates[pair] for pair in fits}
    most = min(size / max(single_rates.values()), size * room[joint.link] / sum(single_rates.values()))
    return replace(joint, single_rates=single_rates), {pair: int(most * rate) for pair, rate in single_rates.items()}


def speaks(measured: Together, joint: Joint, ways: Ways, capacities: Mapping[Direction, float]) -> bool:
    """Whether it is a figure of the link: filled, or more than its slower neighbours let single transfers show. Where
    these were held by the full peak of another link it counts as idle (gridportal.network.estimate), which is more."""
    return measured.filled or not any(
        rate >= NEAR * min(capacities[step] for step in ways(*pair)) for pair, rate in joint.single_rates.items()
    )


def spent(joint: Joint, sizes: Mapping[Pair, int], ways: Ways, size: int) -> dict[Direction, int]:
    """How many probes of `size` bytes the transfers take of the room of each link."""
    taken = {step: 1 for pair in joint.pairs for step in ways(*pair)}
    return taken | {joint.link: math.ceil(sum(sizes.values()) / size)}


def _disjoint(link: Direction, pairs: Sequence[Pair], ways: Ways) -> list[Pair]:
    """Pairs in the order given, each if it shares no node and no other link than `link` with those before it."""
    chosen: list[Pair] = []
    taken: set[object] = set()
    for pair in pairs:
        needed: set[object] = {*pair, *(frozenset(step) for step in ways(*pair) if step != link)}
        if taken.isdisjoint(needed):
            chosen.append(pair)
            taken |= needed
    return chosen
