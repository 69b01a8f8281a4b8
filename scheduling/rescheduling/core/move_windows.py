"""When moves are allowed and when they are denied: hours of days of the week, in the time of the site."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, time

from gridportal.base.errors import InputError

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MIDNIGHT = "24:00"
_ACCEPTED = "days and hours such as mon-fri 08:00-18:00, sat 22:00-06:00 or daily 12:00-13:00"


@dataclass(frozen=True, slots=True)
class Window:
    """Some hours of some days (0 is Monday); one that ends before it begins goes on to the next day.

    >>> night = Window.parse("fri 22:00-06:00")
    >>> night.holds(datetime(2026, 11, 28, 5)), night.holds(datetime(2026, 11, 27, 5))  # a Saturday, a Friday
    (True, False)
    """

    days: frozenset[int]
    start: time
    end: time

    @classmethod
    def parse(cls, text: str) -> Window:
        """From its text. Raises InputError that names it."""
        days, _, hours = text.strip().lower().partition(" ")
        start, _, end = hours.strip().partition("-")
        try:
            return cls(_days(days), _clock(start), time() if end == _MIDNIGHT else _clock(end))
        except ValueError as error:
            raise InputError("window", text, _ACCEPTED) from error

    def holds(self, now: datetime) -> bool:
        """Whether `now`, in the time of the site, lies in it; its start does, its end does not."""
        clock, today = now.time(), now.weekday()
        if self.start < self.end:
            return today in self.days and self.start <= clock < self.end
        return (today in self.days and clock >= self.start) or ((today - 1) % 7 in self.days and clock < self.end)


@dataclass(frozen=True, slots=True)
class MoveWindows:
    """Where both hold, deny wins; without `allow` every hour is allowed that is not denied."""

    allow: tuple[Window, ...] = ()
    deny: tuple[Window, ...] = ()

    def denied(self, now: datetime) -> bool:
        """Whether a deny window holds."""
        return _any(self.deny, now)

    def allowed(self, now: datetime) -> bool:
        """Whether an allow window holds, or there is none."""
        return not self.allow or _any(self.allow, now)


def _any(windows: Collection[Window], now: datetime) -> bool:
    return any(window.holds(now) for window in windows)


def _clock(text: str) -> time:
    """A time of the site. Raises ValueError, also for one with a zone of its own: no such hour can be compared."""
    found = time.fromisoformat(text)
    if found.tzinfo is not None:
        raise ValueError(text)
    return found


def _days(text: str) -> frozenset[int]:
    if text == "daily":
        return frozenset(range(7))
    first, _, last = text.partition("-")
    start, end = _DAYS.index(first), _DAYS.index(last or first)
    return frozenset((start + at) % 7 for at in range((end - start) % 7 + 1))
