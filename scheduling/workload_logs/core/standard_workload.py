"""The Standard Workload Format: one job a line of 18 numbers, -1 for what is not known, comments after a semicolon.

Source: Chapin, Cirne, Feitelson and others: Benchmarks and standards for the evaluation of parallel job schedulers,
JSSPP 1999, and the page of the Parallel Workloads Archive (version 2.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from math import isfinite

UNKNOWN = -1
_HEADER = re.compile(r";\s*([A-Za-z][A-Za-z0-9 ]{0,40}?)\s*:\s*(.*)")
_NAMES = (
    *("job number", "submit time", "wait time", "run time", "processors", "average cpu time", "used memory"),
    *("asked processors", "asked time", "asked memory", "status", "person", "group", "program", "queue", "partition"),
    *("preceding job", "think time"),
)
_FIELDS = len(_NAMES)
_MOST = 1e12
#: More than any job had: a hundred years, ten million processors.
_MOST_SECONDS, _MOST_PROCESSORS = 3.2e9, 1e7
#: Characters of a line, more than any job needs: the rest of a longer one is not read.
LONGEST_LINE = 2000


class LogStatus(IntEnum):
    """How a job ended."""

    UNKNOWN = -1
    FAILED = 0
    COMPLETED = 1
    PART_GOES_ON = 2  # one part of a job that was stopped and went on; its own line has the whole
    LAST_PART_COMPLETED = 3
    LAST_PART_FAILED = 4
    CANCELLED = 5

    @property
    def is_part(self) -> bool:
        """Whether the line tells of a part of a job of which another line has the whole."""
        return self in (LogStatus.PART_GOES_ON, LogStatus.LAST_PART_COMPLETED, LogStatus.LAST_PART_FAILED)


@dataclass(frozen=True, slots=True)
class LogHeader:
    """What the comments say: the second (Unix) at which the times of the log begin, and how many nodes and processors
    there are; None where they do not say."""

    computer: str = ""
    start: int | None = None
    nodes: int | None = None
    processors: int | None = None

    def with_comment(self, line: str) -> LogHeader:
        """With what a comment says; any other comment changes nothing.

        >>> LogHeader().with_comment("; MaxNodes: 128").nodes
        128
        """
        found = _HEADER.match(line)
        if found is None:
            return self
        name, value = found[1].lower().replace(" ", ""), found[2].strip()
        if name == "computer":
            return replace(self, computer=value[:100])
        number = re.match(r"[0-9]{1,12}", value)
        return self._with_number(name, int(number[0])) if number else self

    def _with_number(self, name: str, number: int) -> LogHeader:
        if name == "unixstarttime":
            return replace(self, start=number)
        if name == "maxnodes":
            return replace(self, nodes=number)
        return replace(self, processors=number) if name == "maxprocs" else self


@dataclass(frozen=True, slots=True)
class LogJob:
    """One job. submitted: seconds after the start of the log; waited, ran, limit: seconds; -1 where nobody knows, of
    the number of a person, group, program and queue, too."""

    line: int
    number: int
    submitted: float
    waited: float
    ran: float
    processors: int
    asked_processors: int
    limit: float
    status: LogStatus
    person: int
    group: int
    program: int
    queue: int


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no job, and why."""

    line: int
    why: str


def read_lines(lines: Iterable[str]) -> Iterator[LogHeader | LogJob | BadLine]:
    """Each line of a log as what it is: the header so far after each comment that changes it, jobs, and lines that are
    neither. Empty lines are left out. Nothing is kept: a log may have any length.

    >>> list(read_lines(["; MaxProcs: 8", "1 0 5 60 4 -1 -1 4 120 -1 1 3 1 2 1 1 -1 -1"]))[-1].processors
    4
    """
    header = LogHeader()
    for number, text in enumerate(lines, 1):
        line = text.strip()
        if line.startswith(";"):
            changed = header.with_comment(line)
            if changed != header:
                header = changed
                yield header
        elif line:
            yield _job(number, line)


def _job(number: int, line: str) -> LogJob | BadLine:
    words = line[:LONGEST_LINE].split()
    if len(words) != _FIELDS:
        return BadLine(number, f"it has {len(words)} fields; a job has {_FIELDS}")
    values = []
    for place, word in enumerate(words, 1):
        value = _number(word)
        if value is None:
            return _refused(number, place - 1, repr(word[:20]), f"a number of at most {_MOST:,.0f}, or -1 for unknown")
        values.append(value)
    return _read(number, values)


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if isfinite(value) and abs(value) < _MOST else None


def _refused(line: int, at: int, value: str, accepted: str) -> BadLine:
    return BadLine(line, f"field {at + 1} ({_NAMES[at]}) is {value}; accepted is {accepted}")


def _too_much(line: int, values: list[float]) -> BadLine | None:
    """The first value that no job can have."""
    for at in (1, 2, 3, 4, 7):
        most, unit = (_MOST_PROCESSORS, "processors") if "processors" in _NAMES[at] else (_MOST_SECONDS, "seconds")
        if values[at] > most:
            return _refused(line, at, f"{values[at]:g}", f"at most {most:,.0f} {unit}")
    return None


def _read(line: int, values: list[float]) -> LogJob | BadLine:
    number, submitted, waited, ran, processors = (values[at] for at in (0, 1, 2, 3, 4))
    if number < 1 or number != int(number):
        return _refused(line, 0, f"{number:g}", "a whole number from 1")
    if submitted < 0:
        return _refused(line, 1, f"{submitted:g}", "seconds from 0")
    if too_much := _too_much(line, values):
        return too_much
    status = int(values[10])
    if status not in list(LogStatus):
        return _refused(line, 10, str(status), "a whole number from -1 to 5")
    job = LogJob(
        line=line,
        number=int(number),
        submitted=submitted,
        waited=waited,
        ran=ran,
        processors=int(processors),
        asked_processors=int(values[7]),
        limit=values[8],
        status=LogStatus(status),
        person=int(values[11]),
        group=int(values[12]),
        program=int(values[13]),
        queue=int(values[14]),
    )
    if max(job.processors, job.asked_processors) < 1:
        return BadLine(line, "nobody knows on how many processors it was")
    return job
