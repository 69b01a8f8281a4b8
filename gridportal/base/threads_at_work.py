"""What the threads of a pool are at, and since when: a pool that is busy is not dead, one that never ends anything is.

The loop above such a pool goes round whatever happens below it, so it asks here before it counts a round.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, field


@dataclass
class ThreadsAtWork:
    """The pieces of work under way in a pool of `size` threads; times are seconds on a clock that never goes back."""

    size: int
    _begun: dict[Hashable, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, key: Hashable, now: float) -> None:
        """A thread takes up the work `key`."""
        with self._lock:
            self._begun[key] = now

    def end(self, key: Hashable) -> None:
        """It is done, in whatever way."""
        with self._lock:
            self._begun.pop(key, None)

    def are_jammed(self, now: float, longest: float) -> bool:
        """Whether every thread is at a piece of work that takes longer than `longest` seconds.

        >>> pool = ThreadsAtWork(1)
        >>> pool.begin("a", 0.0)
        >>> pool.are_jammed(600.0, 600.0), pool.are_jammed(601.0, 600.0)
        (False, True)
        """
        with self._lock:
            return len(self._begun) >= self.size and all(now - begun > longest for begun in self._begun.values())
