"""What a supervisor tells of its processes, in HOME/parts.json, for pages, probes and commands on the same machine.

All times are seconds on the machine's monotonic clock, so that a clock that is set cannot make anything look old. The
file keeps one size and is written in place: that works on a full disk too.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

_FILE = "parts.json"
_SIZE = 8192  # bytes
_FRESH = 30.0  # seconds; a supervisor that said nothing for longer has ended, or is stopped
_RECENT = 900.0  # seconds for which a restart is worth telling


class State(StrEnum):
    """How a process is."""

    UP = "up"
    SLOW = "slow"  # it runs, and has made no progress for some seconds
    STOPPED = "stopped"  # somebody sent it SIGSTOP
    DOWN = "down"  # it ended, and is started again


#: What people call them, where that is not their name.
_CALLED = {"web": "web server", "grid": "emulated Grid", "beat": "scheduler (beat)"}
#: For people, by state.
_SENTENCES = {
    State.SLOW: "The {name} is slow: no progress for {silent:.0f} s.",
    State.STOPPED: "The {name} is stopped by a signal; kill -CONT {pid} lets it go on.",
    State.DOWN: "The {name} ended and is started again{when}.",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One process of the portal at one moment."""

    name: str
    state: State
    pid: int
    silent: float = 0.0  # seconds without progress
    restarts: int = 0  # times it ended, since the portal was started
    restarted: float | None = None  # seconds since it was started again the last time
    due: float | None = None  # seconds until it is started again

    @property
    def is_down(self) -> bool:
        """Whether it cannot do its work now."""
        return self.state in (State.DOWN, State.STOPPED)

    @property
    def is_worth_telling(self) -> bool:
        """Whether those who run the portal should hear of it."""
        return self.state is not State.UP or (self.restarted is not None and self.restarted < _RECENT)

    def later(self, seconds: float) -> Part:
        """The same process, so many seconds after it was looked at."""
        return replace(
            self,
            silent=self.silent and self.silent + seconds,
            restarted=None if self.restarted is None else self.restarted + seconds,
            due=None if self.due is None else max(0.0, self.due - seconds),
        )

    @property
    def sentence(self) -> str:
        """What there is to say."""
        name = _CALLED.get(self.name, self.name)
        if self.state in _SENTENCES:
            when = f" at {datetime.now() + timedelta(seconds=self.due):%H:%M:%S}" if self.due and self.due >= 1 else ""
            return _SENTENCES[self.state].format(name=name, silent=self.silent, pid=self.pid, when=when)
        if self.restarted is None:
            return f"The {name} is up."
        times = "once" if self.restarts == 1 else f"{self.restarts} times"
        return f"The {name} is up; it was started again {times}, the last time {_ago(self.restarted)} ago."


class Report:
    """The supervisor's side: writes what changed, and at least every few seconds."""

    def __init__(self, home: Path) -> None:
        self.path = home / _FILE

    def write(self, parts: Sequence[Part]) -> None:
        """Raises OSError where the file cannot be written."""
        text = json.dumps({"at": time.monotonic(), "parts": [asdict(part) for part in parts]}).encode()
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.pwrite(descriptor, text.ljust(_SIZE), 0)
        finally:
            os.close(descriptor)


def read(home: Path) -> list[Part] | None:
    """What the supervisor of this home told last; None without one that tells."""
    try:
        report = json.loads((home / _FILE).read_text(encoding="utf-8"))
        age = time.monotonic() - report["at"]
        parts = [Part(**{**part, "state": State(part["state"])}) for part in report["parts"]]
    except (OSError, ValueError, KeyError, TypeError):  # there is none, or it is being written just now
        return None
    return [part.later(age) for part in parts] if 0 <= age <= _FRESH else None


def _ago(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
