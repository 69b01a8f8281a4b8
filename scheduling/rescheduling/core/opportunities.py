"""Which running job gains by nodes that have just become free, and in which order they are asked.

Source: Migration 2003, 4.3: when an application ends the rescheduler looks for one that gains by its nodes. The paper
moves whichever it finds; ours takes the one that loses the least work first, since that work is done twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scheduling.contracts.core.outlook import Standing
from scheduling.rescheduling.core.weighing import Weighing

#: Shares of lost work that count as equal, so that a second of it does not outweigh an hour of gain.
_EQUAL = 0.05
#: Of these contracts a job gets less than it was promised.
_SLOW = frozenset({Standing.VIOLATED, Standing.SLOW})


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


def in_turn(runs: Sequence[tuple[int, str]], turn: int, most: int) -> list[int]:
    """Which of many runs, each with the standing of its contract, are weighed this time, `most` at most: those that get
    less than they were promised, then others; among equals it is the turn of other ones each time.

    >>> in_turn([(1, "kept"), (2, "kept"), (3, "violated")], turn=1, most=2)
    [3, 2]
    """
    start = turn % len(runs) if runs else 0
    in_circle = [*runs[start:], *runs[:start]]
    return [run for run, _ in sorted(in_circle, key=lambda each: each[1] not in _SLOW)][:most]


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
