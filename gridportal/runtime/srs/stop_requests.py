"""From where a rank hears that the program is to stop or to write a checkpoint: a file, a signal, a clock, itself."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from gridportal.base import atomic_file
from gridportal.base.job_files import NOT_STOPPED, STOP
from gridportal.base.run_files import ENDS_VARIABLE
from gridportal.runtime.srs.stop_votes import Wish

#: Seconds that pass before rank 0 looks for the file again.
_LOOK = 0.2
#: Seconds before the end of a run at which it is stopped, beside twice what the last checkpoint took.
_SPARE = 10.0

#: A shell that ignores a signal hands that on to what it starts; a program that wants to hear it has not asked for it.
_NOT_HANDLED = (signal.SIG_DFL, signal.SIG_IGN)


class StopRequests:
    """What this rank has heard. `first`: it also looks at the folder and the clocks, for all the others.

    `every`: seconds between checkpoints. `signals`: those that ask; one that the program handles itself stays its own.
    `took`: seconds of the last checkpoint.
    """

    def __init__(self, folder: Path, every: float | None, signals: Sequence[int], *, first: bool) -> None:
        self._folder, self._every, self._first = folder, every, first
        self._asked = self._found = False
        self._looked, self._unmovable = 0.0, False
        self._written, self.took = time.monotonic(), 0.0
        free = [number for number in signals if signal.getsignal(number) in _NOT_HANDLED]
        self._before = {number: signal.signal(number, lambda *_: self.ask()) for number in free}

    def ask(self) -> None:
        """Ask for the stop."""
        self._asked = True

    def heard(self) -> Wish:
        """What there is to say in a vote."""
        if not self._first:
            return Wish(self._asked)
        now = time.monotonic()
        if now - self._looked >= _LOOK:
            self._looked, self._found = now, not self._unmovable and (self._folder / STOP).exists()
        due = self._every is not None and now - self._written >= self._every
        return Wish(self._asked or self._found or self._ending(), due)

    def _ending(self) -> bool:
        """Whether the time of the run is nearly over."""
        try:
            ends = float(os.environ.get(ENDS_VARIABLE, "inf"))
        except ValueError:
            return False
        return time.time() > ends - _SPARE - 2 * self.took

    def begun(self) -> None:
        """One was begun just now: the next is due by the clock only after it."""
        self._written = time.monotonic()

    def written(self, took: float) -> None:
        """A checkpoint was written or tried just now, in so many seconds."""
        self._written, self.took = time.monotonic(), took

    def answer(self, problem: str) -> None:
        """The request is done with: the program stops, or goes on for this `problem`."""
        self._asked = self._found = False
        if not self._first:
            return
        self._take_request()
        with contextlib.suppress(OSError):  # what was said of an earlier request
            (self._folder / NOT_STOPPED).unlink(missing_ok=True)
        if problem:
            sys.stderr.write(f"The program goes on: {problem}\n")
            with contextlib.suppress(OSError):  # the disk may be what is full
                write_beside(self._folder, NOT_STOPPED, json.dumps({"at": time.time(), "problem": problem}))

    def _take_request(self) -> None:
        """Take the file away; what cannot be taken away is heard only once."""
        try:
            take_stop(self._folder)
        except OSError as error:
            self._unmovable = True
            sys.stderr.write(f"{self._folder / STOP} cannot be taken away: {error.strerror}.\n")

    def close(self) -> None:
        """Leave the signals as they were."""
        for number, handler in self._before.items():
            signal.signal(number, handler)


def take_stop(folder: Path) -> bool:
    """Take the file `stop` away, or an empty folder of that name; whether it was there. Raises OSError."""
    path = folder / STOP
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except IsADirectoryError:
        path.rmdir()
    return True


def write_beside(folder: Path, name: str, content: str) -> None:
    """Write a file beside the checkpoints, whole or not at all. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    atomic_file.write(folder / name, content)
