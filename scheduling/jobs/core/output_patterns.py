"""What the lines of a program's output mean: patterns for success, failure, its seconds and named figures.

An application keeps its patterns as one JSON document; `read` checks what people send, `stored` takes a document back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gridportal.base.errors import InputError
from scheduling.jobs.core.line_pattern import LinePattern
from scheduling.jobs.core.progress_pattern import ProgressPattern
from scheduling.jobs.core.unreadable import Unreadable

MAX_FIGURES = 30
_MAX_NAME, _MAX_UNIT = 60, 20
#: Seconds of each unit in which a program may tell its own time.
TIME_UNITS: Mapping[str, float] = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0, "h": 3600.0}
#: What the document is called among the fields of an application.
_WHOLE = "output_patterns"
_KEYS = ("success", "failure", "seconds", "figures", "progress", "rounds")


@dataclass(frozen=True, slots=True)
class NumberPattern:
    """Where a number stands: the pattern's group around it, and of which line, of those that match, it is taken."""

    pattern: LinePattern
    unit: str = ""
    takes_first: bool = False

    def document(self) -> dict[str, Any]:
        """As JSON, without what is usual."""
        parts = {"pattern": self.pattern.text, "unit": self.unit, "which": "first" if self.takes_first else ""}
        return {name: part for name, part in parts.items() if part}


@dataclass(frozen=True, slots=True)
class OutputPatterns:
    """Each is None, or has nothing in it, where nothing is said. `seconds.unit` is one of TIME_UNITS, empty for
    seconds; figures are by name, in their order. progress: lines that tell a step, while it runs.
    rounds: whether the recording library counts the rounds of its outermost loop in their place.

    >>> patterns = OutputPatterns.read({
    ...     "success": "Verification *= *SUCCESSFUL",
    ...     "figures": [{"name": "energy", "pattern": "Total Energy = *(.*)", "unit": "eV"}]})
    >>> OutputPatterns.read(patterns.document()) == patterns, patterns.figures["energy"].unit
    (True, 'eV')
    """

    success: LinePattern | None = None
    failure: LinePattern | None = None
    seconds: NumberPattern | None = None
    figures: Mapping[str, NumberPattern] = field(default_factory=dict)
    progress: ProgressPattern | None = None
    rounds: bool = False

    @classmethod
    def read(cls, document: Any) -> OutputPatterns:
        """The patterns that somebody sent. Raises InputError that names the one which cannot be accepted."""
        if not isinstance(document, Mapping):
            raise InputError(_WHOLE, document, f"an object with {', '.join(_KEYS)}")
        for name in document:
            if name not in _KEYS:
                raise InputError(_WHOLE, name, "one of " + ", ".join(_KEYS))
        return cls(
            success=_pattern(document.get("success"), "success"),
            failure=_pattern(document.get("failure"), "failure"),
            seconds=_seconds(document.get("seconds")),
            figures=_figures(document.get("figures")),
            progress=ProgressPattern.read(document["progress"]) if document.get("progress") else None,
            rounds=_rounds(document),
        )

    @classmethod
    def read_sent(cls, document: Any) -> OutputPatterns:
        """The same of a document of its own right, as REST has it: a pattern with nothing in it is refused, and an
        error names the place in the whole document. Raises InputError."""
        try:
            for name, pattern in document.items() if isinstance(document, Mapping) else ():
                if pattern == "" and name in _KEYS:
                    raise InputError(name, pattern, "a regular expression; leave it out for none")
            return cls.read(document)
        except InputError as error:
            if error.field == _WHOLE:
                raise
            raise InputError(f"{_WHOLE}.{error.field}", error.value, error.accepted) from error

    @classmethod
    def stored(cls, document: Any) -> OutputPatterns:
        """The patterns of a document that was checked before. Raises InputError for what is of another kind."""
        return cls.read(document or {})

    def document(self) -> dict[str, Any]:
        """As JSON, without what is not said."""
        parts = {
            "success": self.success.text if self.success else "",
            "failure": self.failure.text if self.failure else "",
            "seconds": self.seconds.document() if self.seconds else {},
            "figures": [{"name": name, **each.document()} for name, each in self.figures.items()],
            "progress": self.progress.document() if self.progress else {},
            "rounds": self.rounds,
        }
        return {name: part for name, part in parts.items() if part}

    def __bool__(self) -> bool:
        """Whether there is something to be found once a run is over."""
        return bool(self.success or self.failure or self.seconds or self.figures)


@dataclass(frozen=True, slots=True)
class UnreadableOutputPatterns(Unreadable, OutputPatterns):
    """Patterns that nobody can read."""

    raw: Any = None
    why: str = ""


def _rounds(document: Mapping[str, Any]) -> bool:
    given = document.get("rounds")
    if given not in (None, True, False):
        raise InputError("rounds", given, "true or false")
    if given and document.get("progress"):
        raise InputError("rounds", given, "false beside a pattern for progress: one of them tells it")
    return bool(given)


def _pattern(text: Any, field: str) -> LinePattern | None:
    return None if text in (None, "") else LinePattern.read(text, field)


def _seconds(raw: Any) -> NumberPattern | None:
    if raw in (None, "", {}):
        return None
    number = _number({"pattern": raw} if isinstance(raw, str) else raw, "seconds", ("pattern", "unit", "which"))
    if number.unit and number.unit not in TIME_UNITS:
        raise InputError("seconds.unit", number.unit, "one of " + ", ".join(TIME_UNITS))
    return number


def _figures(raw: Any) -> dict[str, NumberPattern]:
    if raw is None:
        return {}
    if not isinstance(raw, list) or len(raw) > MAX_FIGURES:
        raise InputError("figures", raw, f"a list of at most {MAX_FIGURES} objects with name and pattern")
    figures: dict[str, NumberPattern] = {}
    for at, entry in enumerate(raw):
        field = f"figures[{at}]"
        number = _number(entry, field, ("name", "pattern", "unit", "which"))
        name = _word(entry.get("name"), f"{field}.name", _MAX_NAME)
        if not name or name in figures:
            raise InputError(f"{field}.name", name, "a name that no other figure has")
        figures[name] = number
    return figures


def _number(raw: Any, field: str, keys: tuple[str, ...]) -> NumberPattern:
    if not isinstance(raw, Mapping):
        raise InputError(field, raw, f"an object with {', '.join(keys)}")
    for key in raw:
        if key not in keys:
            raise InputError(field, key, "one of " + ", ".join(keys))
    which = raw.get("which") or "last"
    if which not in ("first", "last"):
        raise InputError(f"{field}.which", which, "first or last")
    pattern = LinePattern.read(raw.get("pattern"), f"{field}.pattern", takes_number=True)
    unit = _word(raw.get("unit") or "", f"{field}.unit", _MAX_UNIT)
    if unit in ("first", "last"):
        raise InputError(f"{field}.unit", unit, "a unit; which line counts says which")
    return NumberPattern(pattern, unit, which == "first")


def _word(raw: Any, field: str, longest: int) -> str:
    if not isinstance(raw, str) or len(raw) > longest or not raw.isprintable() or set(raw) & set("=(),"):
        raise InputError(field, raw, f"at most {longest} printable characters, none of = ( ) and commas")
    return raw.strip()
