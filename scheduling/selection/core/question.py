"""What the selection is asked: the network's pairs and the request, and what every search reads of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gridportal.network.link_columns import link_columns
from gridportal.network.topology import Node
from scheduling.jobs.core import label_conditions
from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.aims import Aim
from scheduling.selection.core.flows.link_crossings import LinkCrossings
from scheduling.selection.core.method_aims import aims_of, caps_of
from scheduling.selection.core.pairs.pair_latency import slow_pairs
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.pattern_columns import degrees
from scheduling.selection.core.placement import Request
from scheduling.selection.core.slots.node_slots import room_of
from scheduling.selection.core.slots.slot_room import Room
from scheduling.selection.core.threshold import Clock
from scheduling.selection.core.trees.usable_network import Bools, Floats


@dataclass(frozen=True)
class Question:
    """What to maximise: the lowest of the links' values and of the nodes' caps over the pattern's pairs."""

    pairs: Pairs
    request: Request
    pattern: Pattern
    rng: random.Random
    clock: Clock
    deadline: float

    @property
    def usable(self) -> Sequence[Node]:
        """The nodes that may be used."""
        return self.pairs.usable

    @cached_property
    def room(self) -> Room:
        """Slots of nodes, and where each rank may stand."""
        return room_of(self.request, self.usable)

    @cached_property
    def slow_pairs(self) -> Bools | None:
        """Which pairs of nodes do not meet the condition on latency; None where there is none."""
        condition = self.request.require.get(label_conditions.LATENCY)
        return None if condition is None else slow_pairs(self.pairs, condition)

    @property
    def is_by_slots(self) -> bool:
        """Whether it is no matter of one rank on each of some nodes, all alike."""
        shares = not self.request.is_one_a_node and bool((self.room.capacity > 1).any())
        if shares or self.room.domains is not None or label_conditions.LATENCY in self.request.require:
            return True
        lonely = len(self.pattern.components()[-1]) == 1 and len(self.pattern.edges) > 0
        return lonely and self.request.method == "balanced" and not self.request.flows

    @cached_property
    def aims(self) -> list[Aim]:
        """What the method maximises, then what decides among equals."""
        talks = self.request.rank_count > 1 and len(self.pattern.edges) > 0
        return [aim for _, aim in aims_of(self.request, self.cpu, talks=talks)]

    @cached_property
    def cpu(self) -> list[float]:
        """Effective cpu of each usable node."""
        topology = self.pairs.topology
        if self.usable is topology.compute_nodes():
            cpu: list[float] = link_columns(topology).effective_cpu.tolist()
            return cpu
        return [node.effective_cpu for node in self.usable]

    def link_crossings(self) -> LinkCrossings:
        """What flows get; for the balanced method as a fraction of what idle links of nodes give, beside their cpu."""
        if self.request.method != "balanced":
            return self.pairs.derived(LinkCrossings)
        unit = self.request.reference_bandwidth or self._peak() / self._partners()
        caps = caps_of(self.request, self.cpu)
        return LinkCrossings(self.pairs, unit=unit, least=self.request.min_bandwidth, caps=caps)

    def _partners(self) -> int:
        """Of the rank with the most."""
        return int(degrees(self.pattern).max())

    def _peak(self) -> float:
        """Bit/s of its fastest link, for the node with the least of the `nodes` nodes with the fastest links."""
        columns = link_columns(self.pairs.topology)
        fastest = np.zeros(len(columns.place))
        for ends in (columns.source, columns.target):
            np.maximum.at(fastest, ends, columns.capacity)
        of_usable = np.sort(fastest[[columns.place[node.id] for node in self.usable]])[::-1]
        many = min(self.request.node_count or self.request.rank_count, len(of_usable))
        return float(of_usable[many - 1]) or 1.0

    def rates_by(self, aim: Aim, floor: float) -> Floats:
        """n x n: what each pair is worth by an aim, -inf with less than `floor` bit/s."""
        return capped(self.pairs.rates(aim.value, floor), aim.caps)


def capped(rates: Floats, caps: Sequence[float] | None) -> Floats:
    """Pair rates limited by what their two nodes offer; pairs without a path stay without."""
    if caps is None:
        return rates
    limit = np.asarray(caps, dtype=np.float64)
    return np.minimum(rates, np.minimum(limit[:, None], limit[None, :]))
