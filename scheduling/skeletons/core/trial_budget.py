"""The time of a trial: whether two groups can be compared in it, how runs share it, and what it came to.

Source: ours; Pattern 2003, 2.5 runs the skeleton on every candidate group, however long that takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

Pair = tuple[int, int]
#: Seconds that a run takes to start and to end besides what it does.
STARTING = 1.0
#: Those of them that it takes to end and to be noticed: so long before its time is over a run is stopped.
ENDING = 0.5


class Cause(StrEnum):
    """Why the skeleton did not run to its end on a group."""

    FAILED = "failed"
    BUSY = "busy"  # its nodes were not all free
    SLOWER = "slower"  # it ran longer than one that had ended
    CANNOT_WIN = "cannot win"
    TIME = "time"  # its part of the budget was over
    TAKEN = "taken"  # a person took this group
    ANOTHER = "another"  # a person took another group
    LOST = "lost"  # the worker was lost again and again
    OVER = "over"  # the job is over


@dataclass(frozen=True)
class Attempt:
    """A skeleton on a group: `ran` seconds (0 when it never started), whether it came to its end or failed."""

    ran: float
    ended: bool
    failed: bool = False


@dataclass(frozen=True)
class Account:
    """What a trial came to. Of `groups`, the skeleton `ran` on so many, `ended` on so many, and so many can be
    `compared`. `spent` (for which a skeleton ran at all) and `budget` in seconds."""

    groups: int
    ran: int
    ended: int
    compared: int
    spent: float
    budget: float

    @property
    def overrun(self) -> float:
        """Seconds above the budget."""
        return max(0.0, self.spent - self.budget)


def account(attempts: Sequence[Attempt], spent: float, budget: float) -> Account:
    """Count the attempts of a trial.

    Groups can be compared whose skeleton ended, and those on which it ran longer without an end than on the fastest
    of these. One group alone is no comparison: then none is compared.

    >>> account([Attempt(2.0, True), Attempt(2.5, False), Attempt(0.0, False)], 5.0, 6.0).compared
    2
    >>> account([Attempt(2.0, True), Attempt(1.5, False)], 5.0, 4.0)
    Account(groups=2, ran=2, ended=1, compared=0, spent=5.0, budget=4.0)
    """
    ended = [one for one in attempts if one.ended]
    fastest = min((one.ran for one in ended), default=None)
    slower = [one for one in attempts if not one.ended and not one.failed and fastest is not None and one.ran > fastest]
    compared = len(ended) + len(slower)
    ran = sum(one.ended or one.ran > 0 for one in attempts)
    return Account(len(attempts), ran, len(ended), compared if compared > 1 else 0, spent, budget)


def running_time(runs: Iterable[tuple[datetime, datetime]]) -> float:
    """Seconds in which at least one of the runs, each from begin to end, ran; those between them count nothing.

    >>> at = [datetime(2026, 3, 1, 12, 0, second) for second in (0, 4, 6, 30, 31)]
    >>> running_time([(at[0], at[2]), (at[1], at[2]), (at[3], at[4])])
    7.0
    """
    seconds, until = 0.0, None
    for began, ended in sorted(runs):
        begin = began if until is None else max(began, until)
        if ended > begin:
            seconds, until = seconds + (ended - begin).total_seconds(), ended
    return seconds


def budget(application: float, most: float, share: float) -> float:
    """Seconds that a trial may take: `most`, and no more than `share` of what the application takes."""
    return min(most, share * application)


def target(application: float, share: float, seconds: float) -> float:
    """How long a skeleton is to take: `share` of the application, and so little that three of them fit one after the
    other into a trial of `seconds`; but a second where that is no more than `share`, for less tells little.

    >>> target(600.0, 0.05, 60.0), target(30.0, 0.05, 3.0), target(2.0, 0.05, 0.2)
    (19.0, 1.0, 0.1)
    """
    whole = share * application
    return max(min(1.0, whole), min(whole, seconds / 3 - STARTING))


def run_seconds(expected: float, application: float, bounds: Iterable[float]) -> list[float]:
    """Seconds that a skeleton takes on each group at least: what is `expected` of it where the application was traced,
    more where the application's lower bound is above what that took there.

    >>> run_seconds(2.0, 40.0, [10.0, 60.0])
    [2.0, 3.0]
    """
    return [expected * max(1.0, bound / application) if application > 0 else expected for bound in bounds]


def needed(runs: Sequence[float], not_at_once: Iterable[Pair]) -> float:
    """Seconds that it takes at least to compare the first group, the selection's choice, with another one, where a
    skeleton takes `runs` seconds on each; infinite for less than two groups.

    >>> needed([2.0, 2.0], []), needed([2.0, 2.0], [(0, 1)]), needed([2.0, 9.0, 2.0], [(0, 2)]), needed([2.0], [])
    (3.0, 6.0, 6.0, inf)
    """
    forbidden = {frozenset(pair) for pair in not_at_once}
    pairs = [
        runs[0] + other + 2 * STARTING if frozenset((0, place)) in forbidden else max(runs[0], other) + STARTING
        for place, other in enumerate(runs[1:], start=1)
    ]
    return min(pairs, default=math.inf)


def allowance(left: float, begun: int, waiting: int) -> float:
    """Seconds that runs which start now may take, with start and end, of the `left` ones of the budget.

    `begun`: groups on which the skeleton ended, was cut off or runs, with those that start now; `waiting`: those that
    are left. While it is only one and others wait, it may have half: so a second one is run, whatever the first does.

    >>> allowance(6.0, begun=1, waiting=2), allowance(3.0, begun=2, waiting=1), allowance(6.0, begun=1, waiting=0)
    (3.0, 3.0, 6.0)
    """
    return max(0.0, left / 2 if begun < 2 and waiting else left)
