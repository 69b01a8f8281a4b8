"""Reports of phases, made of the marks of the recording library: how often the outermost loop of a program has run.

A mark says which loop, how often it has run, and the seconds since the recording began; marks come ten times a second
at most. A report is one round of a loop, or 10, 100, ... rounds where these are short, so that a report takes a tenth
of a second or more. When a number of rounds was complete between two marks is taken to lie on the line between them.
In a second run the same loop is reported by as many rounds as in the first, whatever it takes now: the phase's name
says it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from gridportal.base.entries import Entries, number, whole
from gridportal.runtime.progress_events import MOST_SECONDS, Phase

_MARK = re.compile(rb"(\d{1,9}) (\d{1,10}) (\d{1,11}\.\d{1,9})")
_PHASE = re.compile(r"loop-(\d{1,9})(?:x(1(?:0){1,9}))?")
#: Seconds that a report takes at least, where that is to be decided.
_LEAST = 0.1
_MOST_UNIT = 10**9
#: So many reports are made of one mark at most; more would be of a program that is a thousand times faster than before.
_MOST_REPORTS = 1000
#: So many loops are told apart.
_MOST_LOOPS = 100


@dataclass(frozen=True, slots=True)
class Mark:
    """Loop 0 says at which Unix time the recording began."""

    loop: int
    rounds: int
    seconds: float


@dataclass(slots=True)
class RoundsPosition:
    """The mark before, and how many rounds of each loop make a report. began: Unix seconds.

    complete_at: when the last whole report was complete, by the clock of the marks; None: none was.
    """

    began: float = 0.0
    loop: int = 0
    rounds: int = 0
    seconds: float = 0.0
    complete_at: float | None = None
    units: dict[int, int] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `read`."""
        return {
            "began": self.began,
            "loop": self.loop,
            "rounds": self.rounds,
            "seconds": self.seconds,
            "complete_at": self.complete_at,
            "units": {str(loop): unit for loop, unit in self.units.items()},
        }

    @classmethod
    def read(cls, document: object) -> RoundsPosition:
        """From a document of `document`; an empty one is a run that has not begun. InputError for another kind."""
        entries = Entries(document, "marks")
        return cls(
            entries.optional("began", number) or 0.0,
            entries.optional("loop", whole) or 0,
            entries.optional("rounds", whole) or 0,
            entries.optional("seconds", number) or 0.0,
            entries.optional("complete_at", number),
            entries.optional("units", _units) or {},
        )


def marks_of(data: bytes) -> Iterator[Mark]:
    """The marks of whole lines; what is none is passed over.

    >>> list(marks_of(b"0 0 1800000000.5\\n1 7 0.25\\nnonsense\\n"))
    [Mark(loop=0, rounds=0, seconds=1800000000.5), Mark(loop=1, rounds=7, seconds=0.25)]
    """
    for line in data.splitlines():
        if found := _MARK.fullmatch(line):
            yield Mark(int(found[1]), int(found[2]), float(found[3]))


def units_of(phases: Iterable[str]) -> dict[int, int]:
    """How many rounds of each loop make a report, by the names of the phases of earlier runs.

    >>> units_of(["loop-2x100", "loop-1", "solve"])
    {2: 100, 1: 1}
    """
    found = (_PHASE.fullmatch(phase) for phase in phases)
    return {int(each[1]): int(each[2] or 1) for each in found if each}


def reports(marks: Iterable[Mark], position: RoundsPosition) -> list[Phase]:
    """The reports that these marks complete; `position` goes along."""
    made: list[Phase] = []
    for mark in marks:
        if not mark.loop:
            position.began = mark.seconds
        elif mark.loop == position.loop and mark.rounds > position.rounds and mark.seconds >= position.seconds:
            made.extend(_completed(mark, position))
            position.rounds, position.seconds = mark.rounds, mark.seconds
        else:
            position.loop, position.rounds, position.seconds = mark.loop, mark.rounds, mark.seconds
            position.complete_at = None
    return made


def _completed(mark: Mark, before: RoundsPosition) -> Iterator[Phase]:
    unit = before.units.get(mark.loop) or _decided(mark, before)
    if unit is None:
        return
    pace = (mark.seconds - before.seconds) / (mark.rounds - before.rounds)
    first = before.rounds // unit + 1
    for count in range(first, min(mark.rounds // unit, first + _MOST_REPORTS - 1) + 1):
        at = before.seconds + (count * unit - before.rounds) * pace
        since, before.complete_at = before.complete_at, at
        if since is not None and at - since <= MOST_SECONDS:
            yield Phase(_name(mark.loop, unit), at - since, at=before.began + at)


def _decided(mark: Mark, before: RoundsPosition) -> int | None:
    """The least power of ten of which so many rounds take long enough, as they go now."""
    if len(before.units) >= _MOST_LOOPS:
        return None
    pace = (mark.seconds - before.seconds) / (mark.rounds - before.rounds)
    unit = 1
    while unit * pace < _LEAST and unit < _MOST_UNIT:
        unit *= 10
    before.units[mark.loop] = unit
    return unit


def _name(loop: int, unit: int) -> str:
    return f"loop-{loop}" if unit == 1 else f"loop-{loop}x{unit}"


def _units(value: object) -> dict[int, int]:
    if not isinstance(value, dict):
        raise TypeError("an object of loops and rounds")
    return {int(loop): whole(unit) for loop, unit in value.items()}
