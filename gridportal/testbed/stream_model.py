"""The traffic model of Pattern 2003, 3.3, as a value: streams enter and leave links, who is left gets a share.

Every 30 seconds one stream enters or leaves a randomly chosen link. With S streams on a link, what is available to the
application is capacity / (S + 1), never under 10 Mbit/s nor above the capacity. Nothing here waits or shapes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Name = tuple[str, str]
PERIOD = 30.0
FLOOR = 10e6


@dataclass(frozen=True, slots=True)
class Event:
    """After an event at `at` (seconds of the model) `link` carries `streams` streams and has `available` bit/s left."""

    at: float
    link: Name
    streams: int
    available: float


def available(capacity: float, streams: int, floor: float = FLOOR) -> float:
    """Bit/s that a link with other `streams` on it has for us: capacity / (S + 1) (Pattern 2003, 3.3).

    >>> available(100e6, 3)
    25000000.0
    >>> available(100e6, 99)
    10000000.0
    """
    return min(capacity, max(floor, capacity / (streams + 1)))


def usual_streams(paths: int) -> int:
    """How many streams make a network of so many shared paths busy, but leave a choice: five for every three. On the 90
    of Pattern 2003, 3.1 that is 150.

    >>> usual_streams(90), usual_streams(7)
    (150, 12)
    """
    return round(paths * 5 / 3)


def replay(
    rng: random.Random, peaks: Mapping[Name, float], *, streams: int = 0, floor: float = FLOOR
) -> Iterator[Event]:
    """The endless sequence of events on links with the capacities `peaks` (bit/s).

    `streams` enter before the clock starts (their events are at 0), so that the network is busy at once. A stream
    enters only where the floor leaves room for it, and leaves only where there is one.
    """
    on = dict.fromkeys(peaks, 0)
    for _ in range(streams):
        event = _step(rng, peaks, on, floor, 0.0, enter=True)
        if event is None:
            break
        yield event
    at = 0.0
    while True:
        at += PERIOD
        enter = rng.random() < 0.5
        event = _step(rng, peaks, on, floor, at, enter) or _step(rng, peaks, on, floor, at, not enter)
        if event is None:
            return
        yield event


def _step(
    rng: random.Random, peaks: Mapping[Name, float], on: dict[Name, int], floor: float, at: float, enter: bool
) -> Event | None:
    if enter:
        open_links = [link for link, peak in peaks.items() if peak / (on[link] + 2) >= floor]
    else:
        open_links = [link for link, count in on.items() if count]
    if not open_links:
        return None
    link = rng.choice(open_links)
    on[link] += 1 if enter else -1
    return Event(at, link, on[link], available(peaks[link], on[link], floor))
