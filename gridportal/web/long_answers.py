"""Answers that may take seconds, such as previews: few of one person are made at once, so that nobody holds all threads
of the web server.

Counted in each process of the web server, which has eight threads (gridportal.serve.programs.WEB_THREADS).
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from gridportal.base.errors import BusyError

#: A form asks for its preview and for a match while somebody types; some may still be under way from pages before.
MOST = 5
RETRY_AFTER = 2  # seconds
_lock = threading.Lock()
_under_way: Counter[int] = Counter()


@contextmanager
def long_answer(person: int) -> Iterator[None]:
    """While the answer for this person (its primary key) is made. Raises BusyError where MOST are made already."""
    with _lock:
        if _under_way[person] >= MOST:
            raise BusyError(
                f"{MOST} previews, matches or moves of yours are still under way; ask again in {RETRY_AFTER} seconds.",
                RETRY_AFTER,
            )
        _under_way[person] += 1
    try:
        yield
    finally:
        with _lock:
            _under_way[person] -= 1
            if not _under_way[person]:
                del _under_way[person]
