"""Regular expressions that an administrator gives and a person's text is matched against: a subset that cannot be made
to try for long. Python's matcher may try every way in which a pattern can divide a text, so the ways are counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gridportal.base.errors import InputError

MAX_TEXT = 200  # characters of a text that is matched
MAX_WAYS = 10_000_000
_MAX_PATTERN = 500
_REPEAT = re.compile(r"\*|\+|\?|\{(\d*)(?:(,)(\d*))?\}")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")
_ACCEPTED = (
    "a regular expression of characters, classes as [a-z], groups as (ab|c) and repetitions, at most three of them "
    "without a limit, and neither repetitions nor alternatives inside of what is repeated without one"
)


@dataclass
class _Level:
    """One group that is being read: the ways of its branches so far, of this branch, and of the last item in it."""

    branches: int = 0
    ways: int = 1
    item: int = 1

    def closed(self) -> int:
        return self.branches + self.ways * self.item


def check(pattern: str, field: str = "pattern") -> str:
    """The pattern, when it can be matched with a text of MAX_TEXT characters in no time. Raises InputError.

    >>> check("[a-z]+(-[a-z]{1,3}){0,2}")
    '[a-z]+(-[a-z]{1,3}){0,2}'
    """
    try:
        re.compile(pattern)
        right = len(pattern) <= _MAX_PATTERN and ways(pattern) <= MAX_WAYS
    except (re.error, RecursionError, OverflowError) as error:
        raise InputError(field, pattern, f"a regular expression ({error})") from error
    if not right:
        raise InputError(field, pattern, _ACCEPTED)
    return pattern


def ways(pattern: str) -> int:
    """In how many ways, at most, a pattern can divide a text; more than MAX_WAYS for what is not in the subset.

    >>> ways("abc"), ways("a*"), ways("a*b?"), ways("(a|b)(c|d)")
    (1, 200, 400, 4)
    """
    levels, place = [_Level()], 0
    while place < len(pattern):
        level, rest = levels[-1], pattern[place:]
        repeat, group = _REPEAT.match(rest), _CLASS.match(rest)
        step = 1
        if (rest.startswith("(?") and not rest.startswith("(?:")) or re.match(r"\\[1-9gAZbB]", rest):
            return MAX_WAYS + 1
        if rest[0] == "(":
            levels.append(_Level())
            step = 3 if rest.startswith("(?:") else 1
        elif rest[0] == ")":
            closed = levels.pop().closed()
            levels[-1].ways, levels[-1].item = levels[-1].ways * levels[-1].item, closed
        elif rest[0] == "|":
            level.branches, level.ways, level.item = level.closed(), 1, 1
        elif repeat:
            level.item = _repeated(level.item, repeat)
            step = len(repeat[0])
        else:
            level.ways, level.item = level.ways * level.item, 1
            step = len(group[0]) if group else 2 if rest[0] == "\\" else 1
        if max(level.ways, level.item) > MAX_WAYS:
            return MAX_WAYS + 1
        place += step
    return levels[0].closed()


def _repeated(item: int, repeat: re.Match[str]) -> int:
    """The ways of an item that is repeated as often as `repeat` says."""
    low, comma, high = repeat[1] or "0", repeat[2], repeat[3]
    if repeat[0] == "?":
        return 1 + item
    if repeat[0] in ("*", "+") or (comma and not high):
        return MAX_TEXT if item == 1 else MAX_WAYS + 1
    least, most = int(low), int(high) if comma else int(low)
    if most > MAX_TEXT:
        return MAX_WAYS + 1
    count_of_ways: int = sum(item**count for count in range(least, most + 1))
    return min(MAX_WAYS + 1, count_of_ways)
