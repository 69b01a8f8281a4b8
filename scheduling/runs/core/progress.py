"""Reading the progress file: lines that a program appended, of which none is trusted.

Which events there are says `gridportal.runtime.progress_events`. A line that is none of them is left out and counted;
one that is too deep or too long to be read is told, as it may be the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from gridportal.base import bounded_json
from gridportal.base.errors import InputError
from gridportal.runtime import progress_events
from gridportal.runtime.progress_events import Phase, ProgressEvent, Result, Start

E = TypeVar("E", bound=ProgressEvent)


@dataclass(slots=True)
class Progress:
    """What a piece of the file said. `consumed`: bytes of whole lines. `garbage`: lines that could not be read.

    `complaint`: what was wrong with the first of those. `too_deep`: whether one of them was nested too deep.
    """

    consumed: int = 0
    events: list[ProgressEvent] = field(default_factory=list)
    garbage: int = 0
    complaint: str = ""
    too_deep: bool = False

    def of(self, kind: type[E]) -> Iterator[E]:
        """The events of one type, in their order."""
        return (one for one in self.events if isinstance(one, kind))

    @property
    def hosts(self) -> list[str] | None:
        """Those of the last start."""
        return next((start.hosts for start in self._newest(Start)), None)

    @property
    def phases(self) -> list[Phase]:
        """All, in their order."""
        return list(self.of(Phase))

    @property
    def result(self) -> Result | None:
        """The last one."""
        return self.last(Result)

    def last(self, kind: type[E]) -> E | None:
        """The last one of a type."""
        return next(self._newest(kind), None)

    def _newest(self, kind: type[E]) -> Iterator[E]:
        return (one for one in reversed(self.events) if isinstance(one, kind))

    def skip(self, complaint: str) -> None:
        """Count a line that cannot be read."""
        self.garbage += 1
        self.complaint = self.complaint or complaint


def read(data: bytes) -> Progress:
    """Read the whole lines of `data`; what follows the last newline is left for the next time.

    >>> read(b'{"event": "phase", "phase": "init", "seconds": 0.5, "t": 1}\\n{"ev').consumed
    60
    """
    progress = Progress(consumed=data.rfind(b"\n") + 1)
    for line in data[: progress.consumed].splitlines():
        if b'"event"' in line:
            _take(progress, line)
        elif line.strip():  # a million short lines must not cost a million parsings
            progress.skip('It has no "event".')
    return progress


def _take(progress: Progress, line: bytes) -> None:
    try:
        value = bounded_json.loads(line, lenient=True)
        if not isinstance(value, dict):
            return progress.skip("It is no JSON object.")
        progress.events.append(progress_events.read(value))
    except bounded_json.UnreadableError as error:
        progress.too_deep |= isinstance(error, bounded_json.TooDeepError)
        progress.skip(error.sentence)
    except InputError as error:
        progress.skip(str(error))
