"""Work of which one piece at a time is enough in this process, for each takes in all that there is to do."""

from __future__ import annotations

import threading
from types import TracebackType


class OneAtATime:
    """Who is at what; who comes meanwhile leaves, and is seen to have asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[str, Turn] = {}

    def begin(self, key: str) -> Turn | None:
        """A turn, to be used as a context, when nobody is at it. Else None, and whoever is sees that it was asked for.

        >>> work = OneAtATime()
        >>> with work.begin("a") as turn:
        ...     work.begin("a"), turn.again(), turn.again()
        (None, True, False)
        """
        with self._lock:
            if key in self._turns:
                self._turns[key].asked = True
                return None
            self._turns[key] = Turn(self, key)
            return self._turns[key]

    def _again(self, turn: Turn) -> bool:
        with self._lock:
            if turn.asked:
                turn.asked = False
                return True
            self._leave(turn)
            return False

    def _end(self, turn: Turn) -> None:
        with self._lock:
            self._leave(turn)

    def _leave(self, turn: Turn) -> None:
        if self._turns.get(turn.key) is turn:
            del self._turns[turn.key]


class Turn:
    """The right to be at something, until the end of the context or until `again` has said no."""

    def __init__(self, owner: OneAtATime, key: str) -> None:
        self.owner, self.key, self.asked = owner, key, False

    def __enter__(self) -> Turn:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.owner._end(self)

    def again(self) -> bool:
        """Whether somebody asked meanwhile. If not, the turn is over: the next who asks begins anew."""
        return self.owner._again(self)
