"""A right that ends by itself: how long it lasts, and when it is over, also for the dead and after a clock was set."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

#: Times between two renewals after which the next one is late.
_LATE = 1.5


@dataclass(frozen=True, slots=True)
class Lease:
    """Whoever acquires it at one moment has it for `lasting`, and renews it well before that is over.

    `pause` is for how long at most a thing is kept from everybody without a holder. The clock may be set back: an end
    that lies twice as far ahead as any is ever set was set before that. Its holder may be dead, and would keep others
    out until the clock has caught up, so it is over. Twice, since another machine may have acquired it a moment ago by
    a clock that is a little ahead.

    >>> noon, lease = datetime(2030, 1, 1, 12), Lease(timedelta(seconds=30))
    >>> end = lease.end(noon)
    >>> lease.is_over(end, noon), lease.is_over(end, end), lease.is_over(None, noon)
    (False, True, True)
    >>> lease.is_over(end, noon - timedelta(seconds=30)), lease.is_over(end, noon - timedelta(seconds=31))
    (False, True)
    >>> lease.silent_since(end, noon + timedelta(seconds=14)) is None
    True
    >>> lease.silent_since(end, noon + timedelta(seconds=16)) == noon
    True
    """

    lasting: timedelta
    pause: timedelta = timedelta()

    def end(self, now: datetime) -> datetime:
        """Until when it lasts for who acquires or renews it at `now`."""
        return now + self.lasting

    def latest(self, now: datetime) -> datetime:
        """An end later than this was set before the clock was set back."""
        return now + 2 * max(self.lasting, self.pause)

    def is_over(self, until: datetime | None, now: datetime) -> bool:
        """Whether others may acquire what is kept `until` then; None: nobody has it."""
        return until is None or not now < until <= self.latest(now)

    def silent_since(self, until: datetime | None, now: datetime) -> datetime | None:
        """When its holder acquired or renewed it last, where the next renewal is late by half of the time between two;
        None where that is not so, where nobody has it, and where the clock was set back."""
        if until is None or until > self.latest(now):
            return None
        renewed = until - self.lasting
        return renewed if (now - renewed).total_seconds() > _LATE * self.renew_every else None

    @property
    def renew_every(self) -> float:
        """Seconds from one renewal to the next: two may be late or fail before others acquire it."""
        return self.lasting.total_seconds() / 3
