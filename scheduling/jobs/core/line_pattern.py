"""Regular expressions that look for lines of a program's output, in time that grows with the output alone.

They are matched by RE2, which follows all ways at once and never goes back: R. Cox, Regular Expression Matching Can Be
Simple And Fast (2007). It has no back references and no look-around. For patterns on words that people type see
`safe_pattern`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import re2

from gridportal.base.errors import InputError

MAX_PATTERN = 500  # characters
#: Instructions of a compiled pattern: what each letter of the output may cost at worst.
MAX_PROGRAM = 1000
_MEMORY = 8 * 2**20
_ESCAPES = re.compile(r"\\(.)", re.DOTALL)
#: They look beyond the line, or hide what follows from those who look for them.
_REFUSED = {"A": "^", "z": "$", "Q": "", "C": "."}
_GROUP = "value"
#: What RE2 says of an expression that is none, in the words of a form; {part} is where.
_FAULTS = {
    "missing )": "a ( is not closed",
    "unexpected )": "a ) closes nothing",
    "missing ]": "a [ is not closed",
    "no argument for repetition operator": "there is nothing that {part} could repeat",
    "bad repetition operator": "{part} repeats a repetition",
    "invalid repetition size": "{part} is more than 1,000 times, or from more to fewer",
    "invalid perl operator": "{part} begins a group of a kind that is not known here, such as look-around",
    "invalid escape sequence": "{part} has no meaning here; there are no back references",
    "trailing \\": "nothing stands after the \\ at its end",
    "invalid character class range": "{part} is no range of letters",
    "invalid named capture group": "{part} gives no name as (?P<name>...) does",
}


@dataclass(frozen=True)
class LinePattern:
    """A regular expression that is looked for in each line; `^` and `$` are the line's ends.

    >>> LinePattern.read("Energy = *(.*)", "figures[0].pattern", takes_number=True).group
    1
    >>> LinePattern.read("(a", "success")
    Traceback (most recent call last):
    gridportal.base.errors.InputError: success is '(a'; accepted is a regular expression; in this one a ( is not closed.
    """

    text: str

    @classmethod
    def read(cls, text: Any, field: str, *, takes_number: bool = False) -> LinePattern:
        """A pattern that somebody sent. `takes_number`: it must have a group that says where the number stands.
        Raises InputError."""
        if not isinstance(text, str) or not text.strip() or len(text) > MAX_PATTERN or not text.isprintable():
            raise InputError(field, text, f"a regular expression of one line, at most {MAX_PATTERN} characters")
        for letter in _ESCAPES.findall(text):
            if letter in _REFUSED:
                instead = _REFUSED[letter]
                raise InputError(field, text, f"{instead} in the place of \\{letter}" if instead else "no \\Q")
        pattern = cls(text)
        try:
            _compile(text)  # by itself, or a stray bracket could close ours
            compiled = pattern.compiled
        except re2.error as error:
            raise InputError(field, text, f"a regular expression; in this one {_words(error)}") from error
        if compiled.programsize > MAX_PROGRAM:
            raise InputError(field, text, "a pattern with fewer or smaller counted repetitions such as {100}")
        if takes_number and pattern.group is None:
            raise InputError(field, text, f"a pattern with one group around the number, as (.*) or (?P<{_GROUP}>.*)")
        return pattern

    @property
    def compiled(self) -> Any:
        """The expression on bytes of UTF-8; it matches within one line of a text of many."""
        return _compiled(self.text)

    @cached_property
    def group(self) -> int | None:
        """The group around the number: the one with a name, else the only one; None where that is not plain."""
        named = list(self.compiled.groupindex.values())
        if len(named) == 1:
            return int(named[0])
        return 1 if self.compiled.groups == 1 else None


@lru_cache(maxsize=256)
def _compiled(text: str) -> Any:
    return _compile(f"(?m:{text})")


def _compile(text: str) -> Any:
    options = re2.Options()
    options.never_nl = True
    options.log_errors = False
    options.max_mem = _MEMORY
    return re2.compile(text.encode(), options)


def _words(error: Exception) -> str:
    """What is wrong; RE2 keeps its own words as bytes."""
    said = error.args[0] if error.args else ""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    fault, _, part = text.partition(": ")
    return _FAULTS[fault].format(part=part) if fault in _FAULTS else text
