"""How series are laid out in the store: pages and groups of numbers, tiers of resolution and their spans of time."""

from __future__ import annotations

from typing import Final

from monitoring.history.core.rollup import HOUR, MINUTE
from monitoring.history.core.samples import Resolution

#: So many series share a frame, and so many of them a block. The smaller, the faster one is read; the larger, the
#: fewer rows there are.
PAGE, GROUP = 512, 16
RAW, MINUTES, HOURS = 0, 1, 2
#: What one point of a tier stands for, and how long a block of it is, milliseconds.
STEP: Final = {RAW: 1, MINUTES: MINUTE, HOURS: HOUR}
SPAN: Final = {RAW: 12 * HOUR, MINUTES: 24 * HOUR, HOURS: 30 * 24 * HOUR}
NAMES: Final[dict[int, Resolution]] = {RAW: "raw", MINUTES: "minute", HOURS: "hour"}
TIERS: Final[dict[str, int]] = {name: tier for tier, name in NAMES.items()}
#: About so many points are answered where the resolution is ours to choose.
MOST_POINTS = 2000


def start_of(tier: int, at: int) -> int:
    """When the block begins that has this moment."""
    return at - at % SPAN[tier]


def fitting(seconds: float, age: float, every: float, keep_raw: float, keep_minutes: float) -> int:
    """The tier whose points are few enough for a range of so many `seconds` that began `age` seconds ago, and which
    still has them; sources are asked `every` so many seconds.

    >>> [NAMES[fitting(d * 86400, d * 86400, 30, 2 * 86400, 14 * 86400)] for d in (0.01, 1, 30)]
    ['raw', 'minute', 'hour']
    """
    if seconds <= MOST_POINTS * every and age <= keep_raw:
        return RAW
    return MINUTES if seconds <= MOST_POINTS * 60 and age <= keep_minutes else HOURS
