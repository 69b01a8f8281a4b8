"""The states of a job as shares of its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gridportal.base.reasons import Code
from scheduling.jobs.core.states import FINAL, JobState
from scheduling.jobs.models import JobEvent

#: In place of the state of a job whose groups are tried, and that waits for a person to take one.
CHOICE = "choice"
FLOOR = 0.5  # percent; shorter steps are still to be seen


@dataclass(frozen=True)
class Step:
    """One stay in a state, or in CHOICE. `percent` is its share of the bar; `open` while it lasts."""

    state: str
    since: datetime
    seconds: float
    percent: float
    open: bool

    @property
    def label(self) -> str:
        """What stands beside its mark."""
        return "waits for a choice" if self.state == CHOICE else self.state


def timeline(
    events: Sequence[JobEvent], now: datetime, started: datetime | None = None, ended: datetime | None = None
) -> list[Step]:
    """The stays between the events, the last one open unless the state is final (those take no time).

    `started` and `ended` are when the program did, as its backend says: the portal hears of it a little later.
    """
    events = [each for each in events if each.from_state != each.to_state or _begins_choice(each)]
    timestamps = _timestamps(events, started, ended)
    stays = []
    for index, event in enumerate(events):
        if JobState(event.to_state) in FINAL:
            continue
        last = index + 1 == len(events)
        begin, end = timestamps[index], now if last else timestamps[index + 1]
        state = CHOICE if _begins_choice(event) else event.to_state
        stays.append((state, begin, max(0.0, (end - begin).total_seconds()), last))
    total = sum(seconds for _, _, seconds, _ in stays) or 1.0
    return [
        Step(state, since, seconds, round(max(FLOOR, 100 * seconds / total), 2), is_open)
        for state, since, seconds, is_open in stays
    ]


def _begins_choice(event: JobEvent) -> bool:
    """What else happens within a state is no stay."""
    return event.from_state == event.to_state and event.reason.code is Code.TRIAL_AWAITS


def _timestamps(events: Sequence[JobEvent], started: datetime | None, ended: datetime | None) -> list[datetime]:
    """When each event was: the program's start and end by the backend's clock, the others by the portal's; in order. Of
    a job that was moved `started` is that of its first run."""
    found = [event.at for event in events]
    running = [index for index, event in enumerate(events) if event.to_state == JobState.RUNNING]
    if running and started:
        at = next((index for index in reversed(running) if index and found[index - 1] <= started), running[0])
        found[at] = min(found[at], started)
    if running and ended and JobState(events[-1].to_state) in FINAL:
        found[-1] = min(found[-1], ended)
    for index in range(1, len(found)):
        found[index] = max(found[index], found[index - 1])
    return found
