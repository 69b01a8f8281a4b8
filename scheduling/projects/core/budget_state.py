"""How much of a budget is used, what its jobs may still take, and what that means."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

_HOUR = 3600.0


class WhenUsed(StrEnum):
    """What happens to new jobs once a budget is used up. The database column holds these words."""

    WARN = "warn"  # people are told, and jobs go on
    REFUSE = "refuse"  # new jobs of the project are refused
    WAIT = "wait"  # new jobs wait until there are node-hours again


class BudgetLevel(StrEnum):
    """How far a budget is used."""

    PLENTY = "plenty"
    LOW = "low"
    USED_UP = "used up"


@dataclass(frozen=True, slots=True)
class BudgetState:
    """Node-hours: `allocated`, `used` until now by jobs that ended or run, `may_take`: what jobs that run and wait may
    still take by their time limits. `open_jobs`: how many of these there are; `unlimited`: how many of them have no
    time limit, so that nobody knows.

    >>> state = BudgetState(allocated=100.0, used=85.0, may_take=20.0, open_jobs=2, unlimited=0, warn_at=80)
    >>> state.left, state.percent, str(state.level), state.is_overdrawn
    (15.0, 85.0, 'low', True)
    """

    allocated: float
    used: float
    may_take: float
    open_jobs: int
    unlimited: int
    warn_at: int

    @property
    def left(self) -> float:
        """What is not used; negative where more was used than there was."""
        return self.allocated - self.used

    @property
    def percent(self) -> float:
        """How much is used."""
        return 100 * self.used / self.allocated

    @property
    def level(self) -> BudgetLevel:
        """How far it is used."""
        if self.used >= self.allocated:
            return BudgetLevel.USED_UP
        return BudgetLevel.LOW if self.percent >= self.warn_at else BudgetLevel.PLENTY

    @property
    def is_overdrawn(self) -> bool:
        """Whether there would be too little if all jobs took as long as they may."""
        return self.used + self.may_take > self.allocated


@dataclass(frozen=True, slots=True)
class OpenJob:
    """A job that is not over: on how many nodes, its limit in seconds or None, and for how many it has run."""

    nodes: int
    limit: float | None
    ran: float


def worst_case(jobs: list[OpenJob]) -> tuple[float, int]:
    """The node-hours that jobs may still take by their time limits, and how many of them have none.

    >>> worst_case([OpenJob(4, 3600.0, 1800.0), OpenJob(2, 7200.0, 0.0), OpenJob(1, None, 0.0)])
    (6.0, 1)
    """
    limited = [(each.nodes, each.limit - each.ran) for each in jobs if each.limit is not None]
    return sum(nodes * max(0.0, rest) for nodes, rest in limited) / _HOUR, len(jobs) - len(limited)
