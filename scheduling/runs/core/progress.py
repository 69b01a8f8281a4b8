"""Reading progress.jsonl: lines that a program appended, of which none is trusted.

{"t", "event": "start", "hosts": [...]} then {"t", "event": "phase", "phase", "iteration", "of", "seconds", "compute",
"communicate"} and at the end {"t", "event": "result", "verified", "seconds", "figures"}; t in Unix seconds.
A line that is none of these is left out; one that is too deep or too long to be read is told, as it may be the result.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from gridportal.base import bounded_json
from gridportal.base.run_directory import is_seconds, is_time

#: Seconds that a phase or a program may take: about a hundred years.
MOST_SECONDS = 3.2e9
_MOST_HOSTS = 4096
_MOST_INTEGER = 2_147_483_647


@dataclass(frozen=True, slots=True)
class Phase:
    """One measured phase; seconds are the largest over ranks."""

    at: float
    name: str
    seconds: float
    iteration: int | None = None
    of: int | None = None
    compute: float | None = None
    communicate: float | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What the program found out about itself; `verified` None when it has no check."""

    verified: bool | None
    seconds: float | None
    figures: dict[str, Any]


@dataclass(slots=True)
class Progress:
    """What a piece of the file said. `consumed`: bytes of whole lines. `garbage`: lines that could not be read.

    `too_deep`: whether one of them was nested too deep.
    """

    consumed: int = 0
    hosts: list[str] | None = None
    phases: list[Phase] = field(default_factory=list)
    result: Result | None = None
    garbage: int = 0
    too_deep: bool = False


def read(data: bytes) -> Progress:
    """Read the whole lines of `data`; what follows the last newline is left for the next time.

    >>> read(b'{"event": "phase", "phase": "init", "seconds": 0.5, "t": 1}\\n{"ev').consumed
    60
    """
    progress = Progress(consumed=data.rfind(b"\n") + 1)
    for line in data[: progress.consumed].splitlines():
        if line.strip():  # a million short lines must not cost a million parsings
            progress.garbage += not (b'"event"' in line and _take(progress, line))
    return progress


def _take(progress: Progress, line: bytes) -> bool:
    try:
        event = bounded_json.loads(line, lenient=True)
    except bounded_json.UnreadableError as error:
        progress.too_deep |= isinstance(error, bounded_json.TooDeepError)
        return False
    if not isinstance(event, dict):
        return False
    if event.get("event") == "phase":
        phase = _phase(event)
        progress.phases += [phase] if phase else []
        return phase is not None
    if event.get("event") == "start":
        progress.hosts = _hosts(event.get("hosts"))
        return progress.hosts is not None
    if event.get("event") == "result":
        progress.result = _result(event)
        return True
    return False


def _phase(event: dict[str, Any]) -> Phase | None:
    name, seconds, at = event.get("phase"), _number(event.get("seconds")), event.get("t")
    if not isinstance(name, str) or not name or seconds is None or not is_time(at):
        return None
    return Phase(
        at=float(at),
        name=_printable(name)[:60],
        seconds=seconds,
        iteration=_whole(event.get("iteration")),
        of=_whole(event.get("of")),
        compute=_number(event.get("compute")),
        communicate=_number(event.get("communicate")),
    )


def _hosts(raw: object) -> list[str] | None:
    if not isinstance(raw, list) or not all(isinstance(host, str) for host in raw):
        return None
    return [_printable(host)[:255] for host in raw[:_MOST_HOSTS]]


def _result(event: dict[str, Any]) -> Result:
    verified, figures = event.get("verified"), event.get("figures")
    return Result(
        verified=verified if isinstance(verified, bool) else None,
        seconds=_number(event.get("seconds")),
        figures=figures if isinstance(figures, dict) and _storable(figures) else {},
    )


def _storable(figures: dict[str, Any]) -> bool:
    """Whether every database takes it: not too large, no NUL, no half of a letter."""
    text = json.dumps(figures, ensure_ascii=False)
    return len(text) < 65_536 and "\\u0000" not in text and not any("\ud800" <= c <= "\udfff" for c in text)


def _printable(text: str) -> str:
    return "".join(letter for letter in text if letter.isprintable())


def _number(raw: object) -> float | None:
    return float(raw) if is_seconds(raw, MOST_SECONDS) else None


def _whole(raw: object) -> int | None:
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= _MOST_INTEGER else None
