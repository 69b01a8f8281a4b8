"""What the reports of a run's phases come to, in bounded space: exact sums by phase, and a thinned history.

The same reports give the same sums and the same history, bit for bit, in whatever pieces they are added.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import NamedTuple

from gridportal.runtime.progress_events import Phase

#: Names of phases of one run; a program may make up a new one each time, and the others share one sum.
MOST_NAMES, OTHERS = 200, "(other phases)"
#: Single reports that are kept of one run.
MOST_REPORTS = 2000


@dataclass(slots=True)
class ExactSum:
    """A sum with what rounding lost of it: Neumaier's, ZAMM 54 (1974) 39.

    Of a million numbers that are not negative its error is that of one rounding, where a plain sum has lost digits.

    >>> tenth = ExactSum()
    >>> for _ in range(10): tenth.add(0.1)
    >>> tenth.value, sum([0.1] * 3) == 0.3
    (1.0, False)
    """

    total: float = 0.0
    carry: float = 0.0

    @property
    def value(self) -> float:
        """The sum, rounded once."""
        return self.total + self.carry

    def add(self, number: float) -> None:
        """Add a number."""
        total = self.total + number
        larger, smaller = (self.total, number) if abs(self.total) >= abs(number) else (number, self.total)
        self.carry += (larger - total) + smaller
        self.total = total


@dataclass(slots=True)
class PhaseSum:
    """All reports of one phase, in seconds; `compute` and `communicate` None where none told them."""

    phase: str
    count: int = 0
    seconds: ExactSum = field(default_factory=ExactSum)
    least: float = 0.0
    most: float = 0.0
    compute: ExactSum | None = None
    communicate: ExactSum | None = None
    iteration: int | None = None
    of: int | None = None

    def add(self, report: Phase) -> None:
        """Count one report in."""
        self.least = min(self.least, report.seconds) if self.count else report.seconds
        self.most = max(self.most, report.seconds)
        self.count += 1
        self.seconds.add(report.seconds)
        self.compute = _with(self.compute, report.compute)
        self.communicate = _with(self.communicate, report.communicate)
        self.iteration = _larger(self.iteration, report.iteration)
        self.of = _larger(self.of, report.of)


class Report(NamedTuple):
    """One report of a phase: its `number` among those of the phase, from 0; `event` is None of one that has a row."""

    phase: str
    number: int
    seconds: float
    event: Phase | None = None


Sums = MutableMapping[str, PhaseSum]


def add(sums: Sums, phases: Iterable[Phase]) -> list[Report]:
    """Count reports into the sums by name, in the order in which names begin; the reports with their numbers."""
    reports = []
    for phase in phases:
        name = phase.name if phase.name in sums or len(sums) < MOST_NAMES else OTHERS
        row = sums.get(name) or sums.setdefault(name, PhaseSum(name))
        reports.append(Report(name, row.count, phase.seconds, phase))
        row.add(phase)
    return reports


def stride(sums: Sums, most: int) -> int:
    """How many reports of a phase one stands for, so that at most `most` are kept, but one of each: a power of two.

    >>> stride({"a": PhaseSum("a", count=8), "b": PhaseSum("b", count=2)}, 5)
    2
    """
    counts = [each.count for each in sums.values()]
    each = 1
    while sum(-(-count // each) for count in counts) > max(most, len(counts)):
        each *= 2
    return each


def thinned(reports: Iterable[Report], each: int) -> list[Report]:
    """Of every `each` reports of a phase in a row the longest, so that no peak is lost; the first of equals.

    Reports come in the order of their numbers. Thinning what was thinned before, with more, gives the same at last.
    """
    longest: dict[tuple[str, int], Report] = {}
    for report in reports:
        place = report.phase, report.number // each
        if place not in longest or report.seconds > longest[place].seconds:
            longest[place] = report
    return list(longest.values())


def _with(before: ExactSum | None, number: float | None) -> ExactSum | None:
    if number is None:
        return before
    found = before or ExactSum()
    found.add(number)
    return found


def _larger(before: int | None, number: int | None) -> int | None:
    return number if before is None or (number is not None and number > before) else before
