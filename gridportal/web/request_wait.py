"""How long requests wait for a thread of this process: the web worker notes it, the middleware reads it."""

from __future__ import annotations

import threading

_REMEMBERED = 60.0  # seconds for which a long wait is told
_of_thread = threading.local()
_longest = (0.0, float("-inf"))  # seconds, and when


def note(seconds: float, now: float) -> None:
    """The request that this thread takes up has waited so long, at `now` on a clock that never goes back."""
    global _longest
    _of_thread.seconds = seconds
    if seconds >= _longest[0] or now - _longest[1] > _REMEMBERED:
        _longest = (seconds, now)


def of_this_request() -> float:
    """Seconds that the request of this thread waited; 0 where no web worker of ours runs it."""
    return float(getattr(_of_thread, "seconds", 0.0))


def longest(now: float) -> float:
    """The longest wait of the last minute in this process."""
    return _longest[0] if now - _longest[1] <= _REMEMBERED else 0.0
