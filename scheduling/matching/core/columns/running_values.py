"""Max, Min and Sum, a value at a time: what they are over a list in HTCondor's library, without the list.

Undefined values are passed over, an error or a text makes the whole an error, and one real number makes it real.
"""

from __future__ import annotations

import numpy as np

from scheduling.matching.core.columns.column import (
    BOOL,
    ERROR,
    INT,
    KINDS,
    NO_INTS,
    NO_REALS,
    OTHER,
    REAL,
    TEXT,
    UNDEFINED,
    Column,
    Kinds,
)
from scheduling.matching.core.columns.operators import arithmetic, where

_PICK = {"max": np.maximum, "min": np.minimum}


def _kind(before: int, value: int) -> int:
    if {before, value} & {ERROR, TEXT, OTHER}:
        return ERROR
    if before == UNDEFINED:
        return value
    if value == UNDEFINED:
        return before
    return REAL if REAL in (before, value) else INT


_KINDS = np.array([[_kind(before, value) for value in range(KINDS)] for before in range(KINDS)], np.uint8)


NOTHING_YET = Column.without_value(UNDEFINED)


def with_value(function: str, before: Column, value: Column) -> Column:
    """The value over a list with one more in it; `before` is NOTHING_YET for an empty one. Raises UnsupportedError.

    >>> with_value("min", Column.of([4]), Column.of([7, 2.5])).value(1)
    2.5
    """
    kinds = _KINDS[before.kinds, value.kinds]
    both = _both(function, before, value, kinds)
    if not before.has(UNDEFINED) and not value.has(UNDEFINED):
        return both
    result = where(value.kinds == UNDEFINED, before, both)
    result = where(before.kinds == UNDEFINED, value, result)
    return Column(kinds, result.ints, result.reals)


def total(function: str, values: Column) -> Column:
    """The value over a whole list, of what with_value came to: the sum of nothing is 0.

    >>> total("sum", NOTHING_YET).value(0), total("max", NOTHING_YET).value(0)
    (0, <Special.UNDEFINED: 'undefined'>)
    """
    if function != "sum" or not values.has(UNDEFINED):
        return values
    return where(values.kinds == UNDEFINED, Column.constant(0), values)


def _both(function: str, before: Column, value: Column, kinds: Kinds) -> Column:
    """Of two values; of the sum also an error where it has no end."""
    if function == "sum":
        added = arithmetic("+", before, value)
        return Column(np.where(kinds == REAL, added.kinds, kinds), added.ints, added.reals)
    pick = _PICK[function]
    ints, reals = NO_INTS, NO_REALS
    if ((kinds == INT) | (kinds == BOOL)).any():
        ints = pick(before.ints, value.ints)
    if (kinds == REAL).any():
        first, second = before.as_reals, value.as_reals
        # As in the library the first of equals, 0 and not the -0.0 behind it, and of what is no number the first too.
        is_second = second > first if function == "max" else second < first
        reals = np.where(is_second, second, first)
    return Column(kinds, ints, reals)
