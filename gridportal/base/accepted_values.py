"""What a field accepts, as the end of a sentence. Pages ("Enter a whole number from 2 to 8."), REST and services ("...
is 9; accepted is a whole number from 2 to 8.") say the same thing in the same words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

WHOLE_NUMBER, NUMBER = "a whole number", "a number"
E_MAIL = "an e-mail address, such as ann@example.org"
ADDRESS = "an address, such as https://portal.example"
TEXT = "a text"
SLUG = "letters, digits, - and _"
#: What follows where a text has something in it that no database takes.
CLEAN = " without control characters"
DAY = "a date, such as 2030-01-31"
UUID = "a UUID"
#: A field whose help is nothing but one of these counts in it.
UNITS = {unit.lower(): unit for unit in ("MB", "bytes", "seconds", "microseconds", "bit/s", "Mbit/s", "percent")}


def of_kind(field: object, kinds: Iterable[tuple[type, str]]) -> str:
    """What a field without choices takes, by the first of `kinds` that it is, with its bounds or its length."""
    kind = next((name for kind, name in kinds if isinstance(field, kind)), "another value")
    if kind in (TEXT, SLUG):
        return text_of(getattr(field, "max_length", None), getattr(field, "min_length", None), kind)
    if kind in (WHOLE_NUMBER, NUMBER) and (unit := UNITS.get(str(getattr(field, "help_text", "")).rstrip(".").lower())):
        kind = f"{kind} of {unit}"
    return between(kind, _bound(field, "min_value"), _bound(field, "max_value"))


def _bound(field: object, name: str) -> Any:
    """A bound of a field, which may be a function."""
    bound = getattr(field, name, None)
    return bound() if callable(bound) else bound


def one_of(labels: Iterable[str], most: int | None = None, total: int | None = None) -> str:
    """A choice; of more than `most` the first ones are named, and how many more there are. `total`: how many there are,
    where `labels` has only the first.

    >>> one_of(["a", "b"]), one_of(["a", "b", "c"], 2), one_of([])
    ('one of a, b', 'one of a, b and 1 more', 'a choice: there is none yet')
    >>> one_of(["a", "b"], 2, 14)
    'one of a, b and 12 more'
    """
    left = iter(labels)
    named = list(islice(left, most))
    more = sum(1 for _ in left) if total is None else total - len(named)
    end = f" and {more:,} more" if more > 0 else ""
    return f"one of {', '.join(named)}{end}" if named else "a choice: there is none yet"


def between(kind: str, low: float | None = None, high: float | None = None) -> str:
    """A number with its bounds.

    >>> between(WHOLE_NUMBER, 1, 2_592_000), between(NUMBER, 0.5), between(NUMBER, None, 8.0)
    ('a whole number from 1 to 2,592,000', 'a number from 0.5', 'a number of at most 8')
    """
    if low is None:
        return kind if high is None else f"{kind} of at most {number_text(high)}"
    return f"{kind} from {number_text(low)}" + (f" to {number_text(high)}" if high is not None else "")


_FROM = re.compile(r"(a (?:whole )?number(?: of [^ ]+)?) from ([-0-9.,]*[0-9])$")


def to_enter(accepted: str) -> str:
    """The same after "Enter": a number without an upper bound in plain words.

    >>> to_enter("a number from 0"), to_enter("a whole number from 1"), to_enter("a number from 0 to 8")
    ('0 or more', 'a whole number, 1 or more', 'a number from 0 to 8')
    """
    found = _FROM.match(accepted)
    if found is None:
        return accepted
    kind, low = found.groups()
    return f"{low} or more" if kind == NUMBER else f"{kind}, {low} or more"


def text_of(longest: int | None, least: int | None = None, kind: str = TEXT) -> str:
    """A text with its length.

    >>> text_of(60), text_of(500, 3), text_of(None)
    ('a text of at most 60 characters', 'a text of 3 to 500 characters', 'a text')
    """
    if not longest:
        return kind
    return f"{kind} of {f'{least:,} to' if least else 'at most'} {longest:,} characters"


def number_text(value: float) -> str:
    """All digits of a whole number, those that count of another one.

    >>> number_text(2_592_000), number_text(0.5), number_text(8.0)
    ('2,592,000', '0.5', '8')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:,.12g}"
