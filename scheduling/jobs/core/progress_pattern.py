"""What lines of a program's log, or of a file of its own, say of its progress: a pattern with the step, and what else
such a line tells."""

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
_MAX_NAME, _MAX_FILE = 60, 200


@dataclass(frozen=True)
class ProgressPattern:
    """The pattern, the parameter of the application that says how many steps there will be, and the file in the run
    directory that the program writes its figures to; empty for none, and for the log.

    >>> ProgressPattern.read({"pattern": r"^ *(?P<step>\\d+) +(?P<elapsed>[\\d.]+) ", "of": "steps"}).groups["elapsed"]
    2
    >>> ProgressPattern.read({"pattern": r"^Step (\\d+)"})
    Traceback (most recent call last):
    gridportal.base.errors.InputError: progress is '^Step (\\\\d+)'; accepted is a pattern with a group (?P<step>...).
    """

    pattern: LinePattern
    of: str = ""
    file: str = ""

    @classmethod
    def read(cls, document: Any) -> ProgressPattern:
        """What somebody sent: an object, or the pattern alone. Raises InputError."""
        document = {"pattern": document} if isinstance(document, str) else document
        if not isinstance(document, Mapping) or set(document) - {"pattern", "of", "file"}:
            raise InputError("progress", document, "a pattern, or an object with pattern, of and file")
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
        return cls(pattern, of, _file(document.get("file") or ""))

    @cached_property
    def groups(self) -> Mapping[str, int]:
        """What a line tells, and in which group of the pattern."""
        return _places(self.pattern)

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `read`."""
        said = {"pattern": self.pattern.text, "of": self.of, "file": self.file}
        return {name: each for name, each in said.items() if each}


def _file(name: Any) -> str:
    """A path inside the run directory: folders and a name, none of which leads out of it."""
    wrong = not isinstance(name, str) or len(name) > _MAX_FILE or not name.isprintable()
    if wrong or (name and any(part in ("", ".", "..") for part in name.split("/"))):
        raise InputError("progress.file", name, "a path inside the run directory, such as output/energies.csv")
    return str(name)


def _places(pattern: LinePattern) -> dict[str, int]:
    """Groups with a name; RE2 has these as bytes for a pattern on bytes."""
    index = pattern.compiled.groupindex
    return {name.decode() if isinstance(name, bytes) else name: place for name, place in index.items()}
