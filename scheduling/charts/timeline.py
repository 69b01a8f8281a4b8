"""The states of a job as shares of its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from scheduling.core.states import FINAL, JobState
from scheduling.models import JobEvent

FLOOR = 0.5  # percent; shorter steps are still to be seen


@dataclass(frozen=True)
class Step:
    """One stay in a state. `percent` is its share of the bar; `open` while it lasts."""

    state: str
    since: datetime
    seconds: float
    percent: float
    open: bool


def timeline(events: Sequence[JobEvent], now: datetime) -> list[Step]:
    """The stays between the events, the last one open unless the state is final (those take no time)."""
    stays = []
    for index, event in enumerate(events):
        if JobState(event.to_state) in FINAL:
            continue
        last = index + 1 == len(events)
        end = now if last else events[index + 1].at
        stays.append((event.to_state, event.at, max(0.0, (end - event.at).total_seconds()), last))
    total = sum(seconds for _, _, seconds, _ in stays) or 1.0
    return [
        Step(state, since, seconds, round(max(FLOOR, 100 * seconds / total), 2), is_open)
        for state, since, seconds, is_open in stays
    ]
