"""How the skeleton of a job fares on its candidate groups, for whoever shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gridportal.base.reasons import NOTHING, Reason
from scheduling.skeletons.core.trial_record import NO_OUTCOME, Outcome


@dataclass(frozen=True, slots=True)
class TriedGroup:
    """One group. place: from 0, as the selection has it; seconds: of the skeleton; predicted: of the application there;
    more: predicted above the taken one's; cause: why it did not end; allowed: seconds that it might take; taken,
    selection: whether it was taken, and whether it is the selection's own choice; since: from when it runs, while it
    does."""

    place: int
    nodes: list[str]
    state: str
    seconds: float | None
    predicted: float | None
    more: float | None
    reason: Reason
    cause: str
    allowed: float | None
    taken: bool
    selection: bool
    since: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class TrialStory:
    """A trial until now, or `untried`: why there is none. groups: how many were to be tried. outcome: what came of it,
    empty while it goes on. spent, budget and application (what that took where it was traced) in seconds. override: who
    took another candidate, as REST has it. awaits_choice: all groups are tried, and a person is to take one."""

    untried: Reason = NOTHING
    rows: tuple[TriedGroup, ...] = ()
    outcome: Outcome = NO_OUTCOME
    over: bool = False
    groups: int = 0
    spent: float = 0.0
    budget: float = 0.0
    application: float = 0.0
    override: Mapping[str, object] | None = None
    awaits_choice: bool = False

    @property
    def overrun(self) -> float:
        """Seconds above the budget."""
        return max(0.0, self.spent - self.budget)

    @property
    def predicted(self) -> float | None:
        """Seconds that were predicted for the taken group."""
        return next((row.predicted for row in self.rows if row.taken), None)
