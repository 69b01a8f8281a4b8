"""Sizes as people write them: a number with a unit, or alone in the unit that its field shows."""

from __future__ import annotations

import re

_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*(?:([KMGT])(?:i?B)?)?", re.IGNORECASE)
_POWERS = "KMGT"


def parse_size(text: str, unit: str, base: int = 1024) -> float:
    """A size in `unit`, one of K, M, G and T; each is `base` of the one before. Raises ValueError.

    >>> parse_size("4 GB", "M"), parse_size("500M", "M"), parse_size("512", "M"), parse_size("1.5g", "M")
    (4096.0, 500.0, 512.0, 1536.0)
    >>> parse_size("500 MB", "G", 1000)
    0.5
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    return in_unit(float(match[1]), match[2] or unit, unit, base)


def in_unit(number: float, of: str, unit: str, base: int = 1024) -> float:
    """A number of one unit in another one. A whole number stays whole where it grows.

    >>> in_unit(4, "G", "M"), in_unit(512, "k", "M")
    (4096, 0.5)
    """
    power = _POWERS.index(of.upper()) - _POWERS.index(unit.upper())
    factor: int = base ** abs(power)
    return number * factor if power >= 0 else number / factor
