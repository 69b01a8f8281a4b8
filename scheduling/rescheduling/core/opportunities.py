"""Which running job gains by nodes that have just become free, and in which order they are asked.

Source: Migration 2003, 4.3: when an application ends the rescheduler looks for one that gains by its nodes. The paper
moves whichever it finds; ours takes the one that loses the least work first, since that work is done twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scheduling.rescheduling.core.weighing import Weighing

#: Shares of lost work that count as equal, so that a second of it does not outweigh an hour of gain.
_EQUAL = 0.05


@dataclass(frozen=True, slots=True)
class Opportunity:
    """A job, what moving it was weighed to, and seconds of work that it would have to do again."""

    job: int
    weighing: Weighing
    lost: float = 0.0

    @property
    def lost_share(self) -> float:
        """Lost work as a share of what remains for it where it runs."""
        return self.lost / self.weighing.figures.ret_current if self.weighing.figures.ret_current else 0.0


def in_order(opportunities: Iterable[Opportunity]) -> list[Opportunity]:
    """Those that pay: least work lost first, in steps of 5 %; then who ends the most seconds sooner; then the oldest.

    >>> in_order([])
    []
    """
    paying = [each for each in opportunities if each.weighing.moves]
    return sorted(paying, key=lambda each: (int(each.lost_share / _EQUAL), -(each.weighing.saves or 0.0), each.job))


def one_at_a_time(opportunities: Iterable[Opportunity]) -> list[Opportunity]:
    """The moves that can all be made, in order: each takes its new nodes away from those after it.

    What remains where its first choice is gone has to be weighed anew, on the nodes that are left.
    """
    taken = set[str]()
    made = []
    for each in in_order(opportunities):
        nodes = set(each.weighing.figures.nodes)
        if not nodes & taken:
            taken |= nodes
            made.append(each)
    return made


def touched(freed: Sequence[str], each: Weighing) -> bool:
    """Whether the nodes that became free are among those that a job would move to."""
    return not set(freed).isdisjoint(each.figures.nodes)
