"""Numbers as programs print them."""

from __future__ import annotations

import math
import re

_LONGEST = 64  # characters
_EXACT = 2**53  # up to here whole numbers stay whole in every reader of JSON
#: In C, and in Fortran with its D and Q, or with no letter where the exponent has three digits.
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[eEdDqQ]([+-]?\d{1,4})|([+-]\d{3}))?", re.ASCII)


def number(text: str) -> float | None:
    """The number that a text is, in C's or in Fortran's notation; None for anything else, and for one that no computer
    holds.

    >>> number("1.0D-03"), number("4000"), number("-.5"), number("1.25-101")
    (0.001, 4000, -0.5, 1.25e-101)
    >>> number("1,5"), number("NaN"), number("*****"), number("1e999")
    (None, None, None, None)
    """
    text = text.strip()
    match = _NUMBER.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    digits, exponent = match[1], match[2] or match[3]
    value = float(f"{digits}e{exponent or 0}")
    if not math.isfinite(value):
        return None
    is_whole = exponent is None and "." not in digits and abs(value) <= _EXACT
    return int(digits) if is_whole else value
