"""Reports of phases, made of the lines of a log: for programs that nobody instrumented.

A line that matches tells a step. Two of them are a report: it took what the line says, else the difference of what both
say to have passed since the beginning, else the time between the two looks at which the portal saw them, shared among
the lines that came together. A step that is not after the one before begins anew, as a program does that runs twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gridportal.base.entries import Entries, number
from gridportal.runtime.progress_events import MOST_SECONDS, Phase
from scheduling.jobs.core.output_numbers import number as read_number
from scheduling.jobs.core.progress_pattern import ELAPSED, OF, SECONDS, STEP, ProgressPattern

#: Of a line with more bytes than that the rest is not looked at.
_LONGEST = 4096
#: The phase that steps of a log are reported as.
LOG_PHASE = "steps"
_MOST_STEPS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class LogLine:
    """What a line tells; None for what it does not."""

    step: float
    of: float | None = None
    seconds: float | None = None
    elapsed: float | None = None


@dataclass(slots=True)
class LogPosition:
    """The line before: its step, what had passed then by its own words, and when it was seen (Unix seconds)."""

    step: float | None = None
    elapsed: float | None = None
    seen_at: float | None = None

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `read`."""
        return {"step": self.step, "elapsed": self.elapsed, "seen_at": self.seen_at}

    @classmethod
    def read(cls, document: object) -> LogPosition:
        """From a document of `document`. Raises InputError for another kind."""
        entries = Entries(document, "log")
        return cls(*(entries.optional(name, number) for name in ("step", "elapsed", "seen_at")))


def lines_of(data: bytes, progress: ProgressPattern) -> Iterator[LogLine]:
    """The lines of whole lines of a log that tell a step.

    >>> progress = ProgressPattern.read(r"step (?P<step>\\d+)/(?P<of>\\d+)")
    >>> list(lines_of(b"hello\\nstep 3/10\\n", progress))
    [LogLine(step=3, of=10, seconds=None, elapsed=None)]
    """
    compiled = progress.pattern.compiled
    for line in data.splitlines():
        match = compiled.search(line[:_LONGEST])
        told = {name: _number(match, place) for name, place in progress.groups.items()} if match else {}
        step = told.get(STEP)
        if step is not None and 0 <= step <= _MOST_STEPS:
            yield LogLine(step, told.get(OF), told.get(SECONDS), told.get(ELAPSED))


def reports(lines: list[LogLine], position: LogPosition, of: float | None, now: float) -> list[Phase]:
    """The reports of new lines, seen at `now`; `position` goes along. of: how many steps there will be, if known."""
    if not lines:
        return []
    since = None if position.seen_at is None else max(0.0, now - position.seen_at) / len(lines)
    made: list[Phase] = []
    for line in lines:
        made.extend(_report(line, position, line.of or of, since, now))
        position.step, position.elapsed = line.step, line.elapsed
    position.seen_at = now
    return made


def _report(line: LogLine, before: LogPosition, of: float | None, since: float | None, now: float) -> Iterator[Phase]:
    if before.step is None or line.step <= before.step:
        return
    seconds = line.seconds
    if seconds is None and line.elapsed is not None and before.elapsed is not None:
        seconds = line.elapsed - before.elapsed
    if seconds is None:
        seconds = since
    if seconds is None or not 0 <= seconds <= MOST_SECONDS:
        return
    stride = line.step - before.step
    whole = round(of / stride) if of and of >= line.step else None
    yield Phase(LOG_PHASE, seconds, max(1, round(line.step / stride)) if whole else None, whole, at=now)


def _number(match: Any, place: int) -> float | None:
    text = match.group(place)
    return None if text is None else read_number(text.decode("utf-8", "replace"))
