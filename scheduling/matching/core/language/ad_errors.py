"""What is wrong in the text of an ad, and what was read otherwise than it stands; both with their place."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from gridportal.base.errors import Described, InputError, TextError

_PART = "{part}"


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
        ends = _line_ends(text)
        line = bisect_left(ends, offset)
        return cls(offset, line + 1, offset - (ends[line - 1] if line else -1))


@lru_cache(2)
def _line_ends(text: str) -> list[int]:
    """Where the lines of a text end; thousands of places may be asked of one text."""
    return [match.start() for match in re.finditer("\n", text)]


#: Of what is about no character of a text.
NO_PLACE = TextPlace(0, 0, 0)


class AdError(TextError):
    """A text that is no ad, or none that means something. `place`: the first character that cannot stand where it
    does; source: what the text is called; message: what is wrong there, in place of what stands there.

    >>> str(AdError("[a = )", 5, "a value", "request")), AdError("[a = )", 5, "a value", "request").field
    ("request, line 1, column 6 is ')'; accepted is a value.", 'request')
    """

    def __init__(self, text: str, offset: int, accepted: str, source: str = "", message: str = "") -> None:
        self.place = TextPlace.of(text, offset)
        self.source = source
        where = f"{source}, " if source else ""
        where += f"line {self.place.line}, column {self.place.column}"
        value = _at(text, offset)
        sentence = f"{where}: {message}" if message else str(InputError(where, value, accepted))
        super().__init__(source or "ad", value, accepted, sentence)
        self.line, self.column = self.place.line, self.place.column
        self.pointer = pointer_to(text, self.place)


class MeaningError(InputError):
    """A part of an ad that can be read and has no meaning where it stands. place: its first character in the text and
    the one behind it, both 0 for a part of no text. message: with {part} for the part, and {accepted}."""

    def __init__(self, part: str, place: tuple[int, int], message: str, accepted: str) -> None:
        super().__init__("request", part, accepted)
        self._message = message
        self._start, self._end = place
        self.args = (self._sentence(part),)

    def placed(self, text: str, source: str) -> InputError:
        """The same with its place, and with the part as it stands in the text where it stands there in one piece."""
        if not self._end:
            return self
        stands = " ".join(text[self._start : self._end].split())
        is_whole = stands.count("(") == stands.count(")")
        part = stands if is_whole else str(self.value)
        return AdError(text, self._start, self.accepted.replace(_PART, part), source, self._sentence(part))

    def _sentence(self, part: str) -> str:
        return self._message.replace("{accepted}", self.accepted).replace(_PART, part)


def pointer_to(text: str, place: TextPlace) -> str:
    """A line and below it a mark under the character; of a long line the part around it.

    >>> print(pointer_to("a = )", TextPlace.of("a = )", 4)))
    a = )
        ^
    """
    start, end = text.rfind("\n", 0, place.offset) + 1, text.find("\n", place.offset)
    first = max(0, place.column - 61)
    line = text[start : len(text) if end < 0 else end].rstrip("\r")[first : first + 120].replace("\t", " ")
    return f"{line}\n{' ' * (place.column - 1 - first)}^"


def _at(text: str, offset: int) -> str:
    """What stands there: a word, a sign, or the end."""
    rest = text[offset : offset + 40]
    if not rest:
        return Described("the end")
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
    UNKNOWN_FUNCTION = "unknown_function"  # facts: text; meant: a near name
    UNKNOWN_ATTRIBUTE = "unknown_attribute"  # no resource has it; facts: text; meant: a near name
    ARGUMENT_COUNT = "argument_count"  # a function has another number of them; facts: text, counts
    CUT = "cut"  # time was up when so many resources were read, or held against the request; fact: value
    SHARES_SUMMED = "shares_summed"  # of a mapper, brought to a sum of 1; facts: text, value: the sum
    TOO_LARGE = "too_large"  # the library gave up requirements of resources
    NO_TIME = "no_time"  # a machine for which a mapper's time is no number above 0; facts: text, meant: the machine
    UNKNOWN_TYPE = "unknown_type"  # Type or MatchType is neither for a set nor for one resource; facts: text, meant
    NO_LIST = "no_list"  # Sum of what is no list where no set is asked for, Avg of a set's members; facts: text


@dataclass(frozen=True, slots=True)
class Notice:
    """One such place, with its facts. meant: what may have been meant; counts: how many arguments a function takes;
    more: so many of the same kind behind this one are not listed."""

    code: NoticeCode
    place: TextPlace
    text: str = ""
    value: float | None = None
    source: str = ""
    meant: str = ""
    counts: tuple[int, ...] = ()
    more: int = 0
