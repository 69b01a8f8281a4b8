"""Functions of the ClassAd language on columns; all others are left to HTCondor's library."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from scheduling.matching.core.columns.column import (
    BOOL,
    ERROR,
    INT,
    OTHER,
    REAL,
    TEXT,
    UNDEFINED,
    Column,
    UnsupportedError,
    fold,
)
from scheduling.matching.core.columns.operators import choice, comparison, truths_of, where

_KIND_TESTS = {
    "isundefined": UNDEFINED,
    "iserror": ERROR,
    "isstring": TEXT,
    "isinteger": INT,
    "isreal": REAL,
    "isboolean": BOOL,
}
_ROUNDINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "floor": np.floor,
    "ceiling": np.ceil,
    "round": np.rint,
    "int": np.trunc,
}
_LARGEST_REAL = 2.0**62
_EXACT = 2.0**52


def call(function: str, arguments: Sequence[Column]) -> Column:
    """The value of a function of scalars. Raises UnsupportedError for one that columns do not have."""
    if function == "ifthenelse" and len(arguments) == 3:
        return choice(*arguments)
    if function == "pow" and len(arguments) == 2:
        return _power(*arguments)
    if len(arguments) == 1:
        if function in _KIND_TESTS:
            is_kind = arguments[0].kinds == _KIND_TESTS[function]
            return truths_of(is_kind, np.array([BOOL], np.uint8))
        if function in _ROUNDINGS:
            return _rounded(function, arguments[0])
        if function == "real" and not arguments[0].has(UNDEFINED, ERROR, TEXT, OTHER):
            return Column(np.array([REAL], np.uint8), reals=arguments[0].as_reals)
    raise UnsupportedError(function)


def _power(base: Column, exponent: Column) -> Column:
    """pow(x, y): whole where both are and y is not negative, rounded as the library does it."""
    if any(side.has(UNDEFINED, ERROR, TEXT, OTHER, BOOL) for side in (base, exponent)):
        raise UnsupportedError("pow")
    first, second = np.broadcast_arrays(base.as_reals, exponent.as_reals)
    try:  # one by one: numpy's own differs in the last bit
        results = np.array([math.pow(x, y) for x, y in zip(first.tolist(), second.tolist(), strict=True)])
    except (OverflowError, ValueError) as error:
        raise UnsupportedError("pow") from error
    is_whole = (base.kinds == INT) & (exponent.kinds == INT) & (second >= 0)
    if bool((is_whole & (np.abs(results) > _EXACT)).any()):
        raise UnsupportedError("pow")
    kinds = np.where(is_whole, np.uint8(INT), np.uint8(REAL))
    return Column(kinds, np.trunc(np.where(is_whole, results, 0) + 0.5).astype(np.int64), results)


def _rounded(function: str, argument: Column) -> Column:
    if argument.has(UNDEFINED, ERROR, TEXT, OTHER):
        raise UnsupportedError(function)
    ints = argument.ints
    if argument.has(REAL):
        if bool((np.abs(argument.reals) > _LARGEST_REAL).any()):
            raise UnsupportedError(function)
        of_reals = _ROUNDINGS[function](argument.reals).astype(np.int64)
        ints = np.where(argument.kinds == REAL, of_reals, ints)
    return Column(np.array([INT], np.uint8), ints)


def is_member(value: Column, items: Sequence[Column]) -> Column:
    """member(value, {items}): whether it equals one of them; what cannot be compared is not equal."""
    truths = np.zeros(1, bool)
    for item in items:
        truths = truths | comparison("==", value, item).is_true
    kinds = np.where((value.kinds == ERROR) | (value.kinds == OTHER), np.uint8(ERROR), np.uint8(BOOL))
    return truths_of(truths, np.where(value.kinds == UNDEFINED, np.uint8(UNDEFINED), kinds))


def postfix(value: Column, endings: Sequence[str]) -> Column:
    """Postfix(value, {endings}): whether a text ends with one of them, in letters of any size.

    Undefined where the value is, an error where it is no text. Source: Set matching 2002, 2.2.1.

    >>> postfix(Column.of(["torcl.cs.utk.edu", "n1.org"]), ["ucsd.edu", "utk.edu"]).truths.tolist()
    [True, False]
    """
    if not value.has(TEXT):
        truths = np.zeros(1, bool)
    else:
        codes, stands = value.folded
        folded = tuple(map(fold, endings))
        truths = np.array([each.endswith(folded) for each in stands], bool)[codes]
    kinds = np.where(value.kinds == TEXT, np.uint8(BOOL), np.uint8(ERROR))
    return truths_of(truths, np.where(value.kinds == UNDEFINED, np.uint8(UNDEFINED), kinds))


def merged(parts: Sequence[tuple[np.ndarray, Column]], rows: int) -> Column:
    """One column of parts that each have some rows."""
    result = Column.without_value(UNDEFINED).spread(rows)
    for where_they_are, part in parts:
        mask = np.zeros(rows, bool)
        mask[where_they_are] = True
        result = where(mask, part.scattered(where_they_are, rows), result)
    return result
