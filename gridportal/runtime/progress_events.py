"""What a program may report of itself: the types of event of the progress file, each written and read here.

A line is a JSON object: "t" in Unix seconds, "event" with the type's word, and the fields of that type. Programs write
them by `gridportal.runtime.phases` or by themselves, and the portal reads them, trusting none. One more type is one
more class with `@event`. Standard library only: whoever reads needs no MPI.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self, TypeVar

from gridportal.base.errors import InputError
from gridportal.base.run_files import LATEST

#: Seconds that a phase or a program may take: about a hundred years.
MOST_SECONDS = 3.2e9
MOST_FIGURES = 65_536  # letters of the figures of a result, as JSON
_MOST_HOSTS = 4096
_MOST_INTEGER = 2_147_483_647
_MOST_BYTES = 2**62


class ProgressEvent(Protocol):
    """One type of event. `WORD` names it in a line; `FIELDS`: what each field holds, for people who write programs."""

    WORD: ClassVar[str]
    FIELDS: ClassVar[Mapping[str, str]]

    @classmethod
    def read(cls, line: Mapping[str, Any]) -> Self:
        """The event of a line of this type. Raises InputError for a field without which it says nothing."""
        ...

    def fields(self) -> dict[str, object]:
        """The fields of its line."""
        ...


E = TypeVar("E", bound=ProgressEvent)
EVENTS: dict[str, type[ProgressEvent]] = {}


def event(kind: type[E]) -> type[E]:
    """Add a type to EVENTS."""
    if kind.WORD in EVENTS:
        raise ValueError(f"The event {kind.WORD} is there already: {EVENTS[kind.WORD].__name__}.")
    EVENTS[kind.WORD] = kind
    return kind


def read(line: Mapping[str, Any]) -> ProgressEvent:
    """The event of a line. Raises InputError, also for a word that no type has.

    >>> read({"t": 9.5, "event": "phase", "phase": "fft", "seconds": 0.25})
    Phase(name='fft', seconds=0.25, iteration=None, of=None, compute=None, communicate=None, at=9.5)
    >>> read({"event": "phase", "phase": "fft", "seconds": "long"})
    Traceback (most recent call last):
    gridportal.base.errors.InputError: seconds is 'long'; accepted is a number from 0 to 3.2e+09.
    """
    word = line.get("event")
    kind = EVENTS.get(word) if isinstance(word, str) else None
    if kind is None:
        raise InputError("event", word, f"one of {', '.join(EVENTS)}")
    return kind.read(line)


def written(of: ProgressEvent, at: float) -> dict[str, object]:
    """The line of an event at the Unix time `at`."""
    return {"t": at, "event": of.WORD, **of.fields()}


@event
@dataclass(frozen=True, slots=True)
class Start:
    """The program has begun; `about` is what else it says of itself, which nobody reads but people."""

    WORD: ClassVar[str] = "start"
    FIELDS: ClassVar[Mapping[str, str]] = {
        "hosts": "the host name of each rank, in rank order; the page shows it beside the node that was chosen",
    }

    hosts: list[str]
    about: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def read(cls, line: Mapping[str, Any]) -> Self:
        """Its hosts."""
        raw = line.get("hosts")
        if not isinstance(raw, list) or not all(isinstance(host, str) for host in raw):
            raise InputError("hosts", raw, "a list of host names")
        return cls([_printable(host)[:255] for host in raw[:_MOST_HOSTS]])

    def fields(self) -> dict[str, object]:
        """What it says of itself, and the hosts."""
        return {**self.about, "hosts": self.hosts}


@event
@dataclass(frozen=True, slots=True)
class Phase:
    """One measured phase; seconds are the largest over ranks. `at`: when it was reported, in Unix seconds."""

    WORD: ClassVar[str] = "phase"
    FIELDS: ClassVar[Mapping[str, str]] = {
        "phase": "its name, the same each time, at most 60 letters",
        "seconds": "those of its slowest rank",
        "iteration": "which repetition this was, from 1; may be left out",
        "of": "how many there will be; may be left out",
        "compute": "seconds of computing; may be left out",
        "communicate": "seconds of communicating; may be left out",
    }

    name: str
    seconds: float
    iteration: int | None = None
    of: int | None = None
    compute: float | None = None
    communicate: float | None = None
    at: float = 0.0

    @classmethod
    def read(cls, line: Mapping[str, Any]) -> Self:
        """The phase; what may be left out is left out where it cannot be read."""
        name, seconds, at = line.get("phase"), _number(line.get("seconds")), _number(line.get("t"), LATEST)
        shown = _printable(name)[:60] if isinstance(name, str) else ""
        if not shown.strip():
            raise InputError("phase", name, "a name of letters that can be shown")
        if seconds is None:
            raise InputError("seconds", line.get("seconds"), f"a number from 0 to {MOST_SECONDS:g}")
        if at is None:
            raise InputError("t", line.get("t"), "a time in Unix seconds")
        return cls(
            shown,
            seconds,
            _whole(line.get("iteration")),
            _whole(line.get("of")),
            _number(line.get("compute")),
            _number(line.get("communicate")),
            at,
        )

    def fields(self) -> dict[str, object]:
        """All but those that are None."""
        given = {
            "phase": self.name,
            "iteration": self.iteration,
            "of": self.of,
            "seconds": self.seconds,
            "compute": self.compute,
            "communicate": self.communicate,
        }
        return {name: value for name, value in given.items() if value is not None}


@event
@dataclass(frozen=True, slots=True)
class Result:
    """What the program found out about itself; `verified` None when it has no check."""

    WORD: ClassVar[str] = "result"
    FIELDS: ClassVar[Mapping[str, str]] = {
        "verified": "true or false by the program's own check, null where it has none",
        "seconds": "as the program measured itself",
        "figures": "numbers or words by name, at most 64 kB",
    }

    verified: bool | None
    seconds: float | None
    figures: Mapping[str, Any]

    @classmethod
    def read(cls, line: Mapping[str, Any]) -> Self:
        """The result; what cannot be read of it is left out."""
        verified, figures = line.get("verified"), line.get("figures")
        return cls(
            verified=verified if isinstance(verified, bool) else None,
            seconds=_number(line.get("seconds")),
            figures=figures if isinstance(figures, dict) and _storable(figures) else {},
        )

    def fields(self) -> dict[str, object]:
        """All three."""
        return {"verified": self.verified, "seconds": self.seconds, "figures": dict(self.figures)}


@event
@dataclass(frozen=True, slots=True)
class CheckpointWritten:
    """A checkpoint is complete."""

    WORD: ClassVar[str] = "checkpoint"
    FIELDS: ClassVar[Mapping[str, str]] = {
        "checkpoint": "its number",
        "seconds": "for how long the program stood still for it",
        "bytes": "how large it is",
        "total": "seconds until it was complete; more than it stood still where it was written in the background",
    }

    checkpoint: int
    seconds: float
    bytes: int = 0
    total: float = 0.0

    @classmethod
    def read(cls, line: Mapping[str, Any]) -> Self:
        """All four; the last is not told by every program."""
        return cls(*_of_checkpoint(line), _number(line.get("total")) or 0.0)

    def fields(self) -> dict[str, object]:
        """All four."""
        return {
            "checkpoint": self.checkpoint,
            "seconds": self.seconds,
            "bytes": self.bytes,
            "total": self.total,
        }


@event
@dataclass(frozen=True, slots=True)
class Stopped:
    """The program ends because it was to stop; with this checkpoint the next run goes on. `at` in Unix seconds."""

    WORD: ClassVar[str] = "stopped"
    FIELDS: ClassVar[Mapping[str, str]] = {
        "checkpoint": "the number of the checkpoint from which the next run goes on",
        "seconds": "for how long it wrote that",
        "bytes": "how large that is",
    }

    checkpoint: int
    seconds: float
    bytes: int = 0
    at: float = 0.0

    @classmethod
    def read(cls, line: Mapping[str, Any]) -> Self:
        """All three, and when."""
        return cls(*_of_checkpoint(line), _number(line.get("t"), LATEST) or 0.0)

    def fields(self) -> dict[str, object]:
        """All but the time, which every line has."""
        return {"checkpoint": self.checkpoint, "seconds": self.seconds, "bytes": self.bytes}


@event
@dataclass(frozen=True, slots=True)
class Restored:
    """The program has read its checkpoint and goes on from there. `at` in Unix seconds."""

    WORD: ClassVar[str] = "restored"
    FIELDS: ClassVar[Mapping[str, str]] = {
        "checkpoint": "the number of the checkpoint that it has read",
        "seconds": "for how long it read and redistributed",
        "bytes": "how much",
    }

    checkpoint: int
    seconds: float
    bytes: int = 0
    at: float = 0.0

    @classmethod
    def read(cls, line: Mapping[str, Any]) -> Self:
        """All three, and when."""
        return cls(*_of_checkpoint(line), _number(line.get("t"), LATEST) or 0.0)

    def fields(self) -> dict[str, object]:
        """All but the time, which every line has."""
        return {"checkpoint": self.checkpoint, "seconds": self.seconds, "bytes": self.bytes}


@event
@dataclass(frozen=True, slots=True)
class StartsAnew:
    """The program makes the calls of SRS and starts from the beginning: there is nothing that it could go on from."""

    WORD: ClassVar[str] = "anew"
    FIELDS: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def read(cls, line: Mapping[str, Any]) -> Self:
        """It has no fields."""
        return cls()

    def fields(self) -> dict[str, object]:
        """None."""
        return {}


def _of_checkpoint(line: Mapping[str, Any]) -> tuple[int, float, int]:
    """The number of a checkpoint, without which a line says nothing, and its seconds and bytes."""
    number, size = _whole(line.get("checkpoint")), line.get("bytes")
    if number is None:
        raise InputError("checkpoint", line.get("checkpoint"), f"a whole number from 0 to {_MOST_INTEGER}")
    whole = isinstance(size, int) and not isinstance(size, bool) and 0 <= size <= _MOST_BYTES
    return number, _number(line.get("seconds")) or 0.0, size if whole else 0  # type: ignore[return-value]  # an int then


def _storable(figures: Mapping[str, Any]) -> bool:
    """Whether every database takes it: not too large, no NUL, no half of a letter."""
    text = json.dumps(figures, ensure_ascii=False)
    return len(text) < MOST_FIGURES and "\\u0000" not in text and not any("\ud800" <= c <= "\udfff" for c in text)


def _printable(text: str) -> str:
    return text if text.isprintable() else "".join(letter for letter in text if letter.isprintable())


def _number(raw: object, most: float = MOST_SECONDS) -> float | None:
    good = isinstance(raw, int | float) and not isinstance(raw, bool) and 0 <= raw <= most
    return float(raw) if good else None  # type: ignore[arg-type]


def _whole(raw: object) -> int | None:
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= _MOST_INTEGER else None
