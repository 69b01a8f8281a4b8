"""How much of a link new flows get together, from what one more flow would get: the traffic that yields, and that which
does not.

A probe tells what ONE more flow gets, b. Two flows do not simply get half of it each. If the others on a link of
capacity C are k TCP flows that take all they can, the probe got C/(k+1) and each of two new flows gets C/(k+2): the
others yield again. If they send what they must whatever happens, or the link is merely slower than its peak, b is all
that is left and two flows get b/2.

A probe alone cannot tell these apart; what the others use without it, u (from byte counters), can. Traffic that does
not yield left C - b to itself, so u = C - b. Traffic that yields filled the link before the probe came, so u = C. The
rule takes the nearer of the two: the others yield when u > C - b/2. Then

    k = C/b - 1 flows of weight one, together at most u, compete with the new flows for C;

else nobody competes, and the new flows share b. Either way one new flow gets exactly b. Where u is not known the others
are taken not to yield, the lower of the two answers (b/n <= C/(k+n) for every n >= 1), and so is a link whose state
comes from its topology file alone.

What the rule cannot see: others that yield but are held elsewhere, at u = C - b exactly, look as if they did not;
others of which some yield and some do not count as all yielding. For two flows the first answer is at least half of the
truth, the second at most one and a half of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gridportal.network.link_table import LinkTable
from gridportal.network.topology import Link

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sharing:
    """What new flows share on a link: `room` bit/s, with others of weight `others` who take `others_cap` at most."""

    room: float
    others: float = 0.0
    others_cap: float = 0.0

    @property
    def yields(self) -> bool:
        """Whether there are others who give way."""
        return self.others > 0

    def rate(self, flows: float) -> float:
        """Bit/s for each of `flows` equal flows on this link alone; half a flow is one that sends half of it here."""
        taken = min(self.others_cap, self.room * self.others / (self.others + flows))
        return (self.room - taken) / flows


def sharing(link: Link) -> Sharing:
    """The rule above for one link (one direction of it).

    >>> idle = Link("a", "b", 100e6, 100e6)
    >>> slow = Link("a", "b", 100e6, 50e6, used=50e6)
    >>> busy = Link("a", "b", 100e6, 50e6, used=98e6)
    >>> [[round(sharing(link).rate(n) / 1e6, 1) for n in (1, 2)] for link in (idle, slow, busy)]
    [[100.0, 50.0], [50.0, 25.0], [50.0, 33.3]]
    """
    capacity, available = link.capacity, link.bandwidth
    if link.used is None or available <= 0 or available >= capacity or link.used <= capacity - available / 2:
        return Sharing(available)
    return Sharing(capacity, capacity / available - 1, max(link.used, capacity - available))


def sharing_columns(links: Sequence[Link]) -> tuple[Floats, Floats, Floats]:
    """The rule above for many links at once: `room`, `others` and `others_cap` of each. O(links).

    >>> busy = Link("a", "b", 100e6, 50e6, used=98e6)
    >>> [column.tolist() for column in sharing_columns([busy])]
    [[100000000.0], [1.0], [98000000.0]]
    """
    if isinstance(links, LinkTable):
        capacity, available, used = links.capacity, links.bandwidth, links.used
    else:
        rows = [(link.capacity, link.bandwidth, np.nan if link.used is None else link.used) for link in links]
        capacity, available, used = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    yields = (available > 0) & (available < capacity) & (used > capacity - available / 2)  # not where `used` is NaN
    others = np.divide(capacity, available, out=np.ones(len(capacity)), where=yields) - 1
    return np.where(yields, capacity, available), others, np.where(yields, np.maximum(used, capacity - available), 0.0)
