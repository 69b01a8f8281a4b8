"""An error of the services as it is said beside its field: by what the page calls things, not by internal names."""

from __future__ import annotations

import re

from gridportal.base.accepted_values import to_enter
from gridportal.base.errors import GridPortalError, InputError, TextError, shown

_PLACE = re.compile(r"[^.\[]+(?:\[(?P<entry>\d+)\])?(?:\.(?P<part>.+))?")


def beside(error: GridPortalError) -> str:
    """The sentence for the field that the error names; the label stands over it already.

    >>> beside(InputError("node_count", 11, "at most 10"))
    '11 is not possible. Enter at most 10.'
    >>> beside(InputError("parameters[1].min", "x", "a number"))
    "Entry 2, min: 'x' is not possible. Enter a number."
    >>> beside(InputError("path", "", "the path of the program"))
    'Enter the path of the program.'
    """
    if not isinstance(error, InputError) or (isinstance(error, TextError) and error.line):
        return str(error)
    return f"{_where(error.field)}{_value(error.value)}Enter {to_enter(error.accepted.rstrip('.'))}."


def _where(field: str) -> str:
    match = _PLACE.fullmatch(field)
    if match is None:
        return ""
    entry = f"Entry {int(match['entry']) + 1}" if match["entry"] else ""
    place = ", ".join(part for part in (entry, match["part"] or "") if part)
    return f"{place}: " if place else ""


def _value(value: object) -> str:
    return "" if shown(value) == "empty" else f"{shown(value)} is not possible. "
