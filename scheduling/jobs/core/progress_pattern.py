"""What lines of a program's log say of its progress: a pattern with the step, and what else such a line tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gridportal.base.errors import InputError
from scheduling.jobs.core.line_pattern import LinePattern

#: Groups by name: the step; how many there will be; seconds since the line before; seconds since the beginning.
STEP, OF, SECONDS, ELAPSED = "step", "of", "seconds", "elapsed"
_GROUPS = (STEP, OF, SECONDS, ELAPSED)
_MAX_NAME = 60


@dataclass(frozen=True)
class ProgressPattern:
    """The pattern, and the parameter of the application that says how many steps there will be; empty for none.

    >>> ProgressPattern.read({"pattern": r"^ *(?P<step>\\d+) +(?P<elapsed>[\\d.]+) ", "of": "steps"}).groups["elapsed"]
    2
    >>> ProgressPattern.read({"pattern": r"^Step (\\d+)"})
    Traceback (most recent call last):
    gridportal.base.errors.InputError: progress is '^Step (\\\\d+)'; accepted is a pattern with a group (?P<step>...).
    """

    pattern: LinePattern
    of: str = ""

    @classmethod
    def read(cls, document: Any) -> ProgressPattern:
        """What somebody sent: an object, or the pattern alone. Raises InputError."""
        document = {"pattern": document} if isinstance(document, str) else document
        if not isinstance(document, Mapping) or set(document) - {"pattern", "of"}:
            raise InputError("progress", document, "a pattern, or an object with pattern and of")
        pattern = LinePattern.read(document.get("pattern"), "progress")
        names = _places(pattern)
        if STEP not in names:
            raise InputError("progress", pattern.text, "a pattern with a group (?P<step>...)")
        for name in names:
            if name not in _GROUPS:
                raise InputError("progress", pattern.text, "groups called " + ", ".join(_GROUPS))
        of = document.get("of") or ""
        if not isinstance(of, str) or len(of) > _MAX_NAME or not of.isprintable():
            raise InputError("progress.of", of, "the name of a parameter")
        return cls(pattern, of)

    @cached_property
    def groups(self) -> Mapping[str, int]:
        """What a line tells, and in which group of the pattern."""
        return _places(self.pattern)

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `read`."""
        return {"pattern": self.pattern.text, **({"of": self.of} if self.of else {})}


def _places(pattern: LinePattern) -> dict[str, int]:
    """Groups with a name; RE2 has these as bytes for a pattern on bytes."""
    index = pattern.compiled.groupindex
    return {name.decode() if isinstance(name, bytes) else name: place for name, place in index.items()}
