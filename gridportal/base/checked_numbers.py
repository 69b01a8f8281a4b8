"""Numbers that come from outside, checked: JSON and the command line know nan and inf, which pass a mere `<= 0`."""

from __future__ import annotations

import math
from typing import TypeGuard

from gridportal.base.errors import InputError

YEAR = 366 * 86400.0


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a number, be it nan; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether it is a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def above_zero(field: str, value: object, most: float = YEAR, unit: str = "seconds") -> float:
    """`value` when it is a number above 0 and at most `most`. InputError else.

    >>> above_zero("time_scale", 0.5, most=1000, unit="a number")
    0.5
    """
    accepted = f"{unit} above 0, at most {most:,.0f}"
    if not is_number(value) or not math.isfinite(value) or not 0 < value <= most:
        raise InputError(field, value, accepted)
    return value


def whole(field: str, value: object, least: int, most: int) -> int:
    """`value` when it is a whole number from `least` to `most`. InputError else.

    >>> whole("streams", 150, 0, 10_000)
    150
    """
    if not is_whole(value) or not least <= value <= most:
        raise InputError(field, value, f"a whole number from {least} to {most:,}")
    return value
