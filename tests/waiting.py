"""How often a test looks whether something has happened."""

from __future__ import annotations

import time
from collections.abc import Iterator

#: Seconds between two looks at most.
MOST = 1.0


def looks(seconds: float, least: float = 0.1) -> Iterator[None]:
    """Comes back for another look until they are over, and once more then; whoever sees enough leaves the loop.

    The pause takes `least` seconds and five times as long as the look, so that waiting for what others compute takes
    little of a processor, however busy that is or however many commands of Slurm's a look needs.
    """
    end = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        yield
        now = time.monotonic()
        if began > end:
            return
        time.sleep(min(max(least, 5 * (now - began)), MOST))
