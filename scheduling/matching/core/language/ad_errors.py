"""What is wrong in the text of an ad, and what was read otherwise than it stands; both with their place."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gridportal.base.errors import InputError


@dataclass(frozen=True, slots=True)
class TextPlace:
    """A character of a text: line and column count from 1."""

    offset: int
    line: int
    column: int

    @classmethod
    def of(cls, text: str, offset: int) -> TextPlace:
        """The place of a character.

        >>> TextPlace.of("a = 1;\\nb = )", 11)
        TextPlace(offset=11, line=2, column=5)
        """
        before = text.rfind("\n", 0, offset)
        return cls(offset, text.count("\n", 0, offset) + 1, offset - before)


class AdError(InputError):
    """A text that is no ad. `place`: the first character that cannot stand where it does."""

    def __init__(self, text: str, offset: int, accepted: str, source: str = "") -> None:
        self.place = TextPlace.of(text, offset)
        self.source = source
        start = text.rfind("\n", 0, offset) + 1
        end = text.find("\n", offset)
        self.line_text = text[start : len(text) if end < 0 else end].rstrip("\r")
        where = f"{source}, " if source else ""
        super().__init__(f"{where}line {self.place.line}, column {self.place.column}", _at(text, offset), accepted)

    @property
    def pointer(self) -> str:
        """The line and below it a mark under the character; of a long line the part around it.

        >>> print(AdError("a = )", 4, "a value").pointer)
        a = )
            ^
        """
        first = max(0, self.place.column - 61)
        line = self.line_text[first : first + 120].replace("\t", " ")
        return f"{line}\n{' ' * (self.place.column - 1 - first)}^"


class Unquoted:
    """A value that a sentence names without quotes, such as the end of a text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _at(text: str, offset: int) -> str | Unquoted:
    """What stands there: a word, a sign, or the end."""
    rest = text[offset : offset + 40]
    if not rest:
        return Unquoted("the end")
    length = 1
    while length < len(rest) and rest[0].isalnum() and (rest[length].isalnum() or rest[length] in "_."):
        length += 1
    return rest[:length]


class NoticeCode(StrEnum):
    """What was read otherwise than HTCondor's library would, or may not be meant."""

    SCALED_NUMBER = "scaled_number"  # 5G; facts: text, value
    BARE_TEXT = "bare_text"  # redhat6.1, cs.utk.edu; facts: text
    HYPHENATED_NAME = "hyphenated_name"  # execution-time; facts: text
    LINE_NUMBERS = "line_numbers"  # of a listing
    DEFINED_TWICE = "defined_twice"  # the last counts; facts: text
    OF_THE_MEMBER = "of_the_member"  # a name that only resources have, in an aggregate; facts: text


@dataclass(frozen=True, slots=True)
class Notice:
    """One such place, with its facts."""

    code: NoticeCode
    place: TextPlace
    text: str = ""
    value: float | None = None
    source: str = ""
