"""After how many seconds somebody who is refused is to come again: the later, the more are refused."""

from __future__ import annotations

from dataclasses import dataclass

SHORTEST, LONGEST = 2.0, 300.0
_WINDOW = 5.0  # seconds over which refused and accepted are compared


@dataclass
class RetryPace:
    """Twice as long whenever more was refused than accepted, half as long when hardly anything was: so that refusing,
    which is cheap but not free, never takes as much as accepting does, whatever the number of those who wait outside.

    >>> pace = RetryPace()
    >>> [pace.note(refused=True, now=now) for now in (0.0, 1.0, 6.0, 12.0)]
    [2.0, 2.0, 4.0, 8.0]
    >>> pace.note(refused=False, now=400.0)
    2.0
    """

    seconds: float = SHORTEST
    _began: float = float("-inf")
    _refused: int = 0
    _accepted: int = 0

    def note(self, *, refused: bool, now: float) -> float:
        """One more was refused, or accepted; the seconds that hold from now on."""
        if now - self._began > _WINDOW:
            self._close(now)
        self._refused += refused
        self._accepted += not refused
        return self.seconds

    def _close(self, now: float) -> None:
        if now - self._began > LONGEST:
            self.seconds = SHORTEST
        elif self._refused > self._accepted:
            self.seconds = min(LONGEST, 2 * self.seconds)
        elif 4 * self._refused < self._accepted:
            self.seconds = max(SHORTEST, self.seconds / 2)
        self._began, self._refused, self._accepted = now, 0, 0
