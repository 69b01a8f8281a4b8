"""Slurm's host lists, expanded here: no command is started for `n[1-3,7],m[01-02]`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from gridportal.base.errors import InputError

#: More names than this is a typing error, not a cluster.
LIMIT = 100_000
_PART = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"^([0-9]+)(?:-([0-9]+))?$")
_ACCEPTED = "a Slurm host list like n[1-3,7],m[01-02]"


def expand(text: str) -> list[str]:
    """The names in a host list, in its order.

    >>> expand("n[1-3,7],m[01-02],login")
    ['n1', 'n2', 'n3', 'n7', 'm01', 'm02', 'login']

    Raises InputError for brackets that do not close, ranges that run backwards and lists beyond LIMIT names.
    """
    names: list[str] = []
    for word in _split(text):
        for name in _names(word, text):
            names.append(name)
            if len(names) > LIMIT:
                raise InputError("host list", _short(text), f"a list of at most {LIMIT} names")
    return names


def _split(text: str) -> Iterator[str]:
    """The parts between commas that stand outside brackets."""
    depth = 0
    start = 0
    for at, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if depth not in (0, 1):
            raise InputError("host list", _short(text), _ACCEPTED)
        if letter == "," and depth == 0:
            if text[start:at].strip():
                yield text[start:at].strip()
            start = at + 1
    if depth:
        raise InputError("host list", _short(text), _ACCEPTED)
    if text[start:].strip():
        yield text[start:].strip()


def _names(word: str, whole: str) -> Iterator[str]:
    pieces = _PART.split(word)
    choices: list[list[str]] = [
        [piece] if at % 2 == 0 else _numbers(piece, whole) for at, piece in enumerate(pieces)
    ]  # the odd pieces stood in brackets
    return ("".join(parts) for parts in itertools.product(*choices))


def _numbers(ranges: str, whole: str) -> list[str]:
    found: list[str] = []
    for part in ranges.split(","):
        match = _RANGE.match(part.strip())
        if not match:
            raise InputError("host list", _short(whole), _ACCEPTED)
        low, high = match[1], match[2] or match[1]
        if int(high) < int(low) or int(high) - int(low) >= LIMIT:
            raise InputError("host list", _short(whole), f"ranges that run upwards, of at most {LIMIT} names")
        found += [str(value).zfill(len(low)) for value in range(int(low), int(high) + 1)]
    return found


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
