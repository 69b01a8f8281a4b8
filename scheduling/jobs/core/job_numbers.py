"""Numbers of chosen jobs in an address: `12-15,18`."""

from __future__ import annotations

from collections.abc import Iterable

#: So many jobs are chosen at once at most.
MOST = 200
_LONGEST = 18


def read(text: str) -> list[int]:
    """The numbers, each once, in their order; at most MOST. Raises ValueError.

    >>> read("12-15,18"), read("7")
    ([12, 13, 14, 15, 18], [7])
    """
    numbers: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        begin = _number(first)
        end = _number(last) if dash else begin
        if end < begin or end - begin >= MOST:
            raise ValueError(part)
        numbers.update(range(begin, end + 1))
        if len(numbers) > MOST:
            raise ValueError(text[:40])
    return sorted(numbers)


def written(numbers: Iterable[int]) -> str:
    """As `read` takes them.

    >>> written([12, 13, 14, 15, 18])
    '12-15,18'
    """
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ",".join("-".join(map(str, part)) for part in parts)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < _LONGEST):
        raise ValueError(text[:40])
    return int(text)
