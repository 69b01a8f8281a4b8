"""How much room there is for ranks: slots of nodes, the number of nodes, and where each rank may stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scheduling.selection.core.threshold import Group
from scheduling.selection.core.trees.usable_network import Bools, Ints


@dataclass(frozen=True)
class Room:
    """capacity: how many ranks each node has room for. nodes: on how many nodes the ranks must be, None: any number.
    domains: ranks x nodes, where each rank may stand; None: everywhere."""

    capacity: Ints
    nodes: int | None = None
    domains: Bools | None = None

    def allows(self, rank: int) -> Ints:
        """The nodes on which a rank may stand."""
        nodes: Ints = np.arange(len(self.capacity))
        return nodes if self.domains is None else nodes[self.domains[rank]]

    def among(self, places: Sequence[int]) -> Room:
        """The same for some of the nodes."""
        kept = list(places)
        domains = None if self.domains is None else self.domains[:, kept]
        return Room(self.capacity[kept], self.nodes, domains)

    def holds(self, group: Group) -> bool:
        """Whether a placement keeps to all of it."""
        nodes, counts = np.unique(np.array(group), return_counts=True)
        if (counts > self.capacity[nodes]).any() or self.nodes not in (None, len(nodes)):
            return False
        return self.domains is None or bool(self.domains[np.arange(len(group)), list(group)].all())

    def can_hold(self, ranks: int, used: Sequence[int], left: Ints) -> bool:
        """Whether so many more ranks fit, where `used` nodes have some already and `left` is the room on each node."""
        if self.nodes is None:
            return int(left.sum()) >= ranks
        more = self.nodes - len(used)
        if more < 0 or more > ranks:
            return False
        on_used = list(used)
        fresh = np.delete(left, on_used)
        most = np.sort(fresh)[len(fresh) - more :] if more else fresh[:0]
        return len(most) == more and (not more or int(most[0]) > 0) and int(left[on_used].sum() + most.sum()) >= ranks
