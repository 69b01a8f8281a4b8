"""When a process that died is started again: at once the first time, then after ever longer pauses, for ever.

Values in, values out: the clock is an argument, in seconds on any clock that never goes back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

FORGOTTEN_AFTER = 300.0  # seconds after which a death no longer makes the next pause longer
LONGEST_PAUSE = 30.0


def pause_after(deaths: int) -> float:
    """Seconds between the last of so many recent deaths and the next start.

    >>> [pause_after(deaths) for deaths in (1, 2, 3, 4, 5, 6, 7, 1000)]
    [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    """
    return 0.0 if deaths <= 1 else min(LONGEST_PAUSE, 2.0 ** min(deaths - 2, 16))


@dataclass
class Restarts:
    """The deaths of one process, and when it is due. It never gives up."""

    total: int = 0
    due: float | None = None  # None: it runs, or was never started
    _recent: list[float] = field(default_factory=list)

    @property
    def recent(self) -> int:
        """How many deaths make the pause as long as it is."""
        return len(self._recent)

    def note_death(self, now: float) -> float:
        """Count a death; the pause until the next start. A second call before that start changes nothing."""
        if self.due is None:
            self.total += 1
            self._recent = [at for at in self._recent if now - at < FORGOTTEN_AFTER] + [now]
            self.due = now + pause_after(len(self._recent))
        return max(0.0, self.due - now)

    def is_due(self, now: float) -> bool:
        """Whether it is dead and the pause is over."""
        return self.due is not None and now >= self.due

    def note_start(self) -> None:
        """It runs again."""
        self.due = None
