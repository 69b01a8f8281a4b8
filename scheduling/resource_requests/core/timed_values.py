"""Values that are kept until their time to live is over. Source: Set matching 2002, 3.1, the resource monitor."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

T = TypeVar("T")


@dataclass
class TimedValues:
    """A cache in memory. clock: seconds that only rise.

    >>> now = [0.0]
    >>> values = TimedValues(lambda: now[0])
    >>> values.get("a", 5.0, lambda: "first"), values.get("a", 5.0, lambda: "second")
    ('first', 'first')
    >>> now[0] = 5.0
    >>> values.get("a", 5.0, lambda: "second")
    'second'
    """

    clock: Callable[[], float]
    _kept: dict[Hashable, tuple[float, Any]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: Hashable, seconds: float, make: Callable[[], T]) -> T:
        """The value of a key, made anew when it is `seconds` old. What raises is not kept."""
        with self._lock:
            at, value = self._kept.get(key, (None, None))
        now = self.clock()
        if at is not None and now - at < seconds:
            return cast(T, value)
        made = make()
        with self._lock:
            self._kept[key] = (now, made)
        return made

    def forget(self) -> None:
        """Let all be made anew."""
        with self._lock:
            self._kept.clear()
