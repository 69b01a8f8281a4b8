"""Values of one expression for many resources at once, with the kinds that the ClassAd language has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduling.matching.core.language.ad_syntax import Scalar, Special

UNDEFINED, ERROR, BOOL, INT, REAL, TEXT, OTHER = range(7)
KINDS = 7

Kinds = NDArray[np.uint8]
Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
Texts = NDArray[Any]
Rows = NDArray[np.int64]

NO_INTS = np.zeros(1, np.int64)
NO_REALS = np.zeros(1, np.float64)
NO_TEXTS = np.array([""], object)
_KIND_OF = {bool: BOOL, int: INT, float: REAL, str: TEXT}
_FOLD = str.maketrans({chr(code): chr(code + 32) for code in range(ord("A"), ord("Z") + 1)})


class UnsupportedError(Exception):
    """What columns cannot compute; HTCondor's library has to."""


class Column:
    """One value a row; each array has a place for each row, or a single one that stands for all.

    kinds: the kind of each row's value. ints: whole numbers and truth values where the kind is that, reals: real
    numbers, texts: texts; elsewhere anything.
    """

    def __init__(self, kinds: Kinds, ints: Ints = NO_INTS, reals: Reals = NO_REALS, texts: Texts = NO_TEXTS) -> None:
        self.kinds = kinds
        self.ints = ints
        self.reals = reals
        self.texts = texts

    @classmethod
    def constant(cls, value: Scalar) -> Column:
        """The same value for all rows.

        >>> Column.constant(3).value(17)
        3
        """
        return cls.of([value])

    @classmethod
    def of(cls, values: Sequence[Scalar]) -> Column:
        """A value for each row.

        >>> Column.of([1, 2.5, "a"]).value(1)
        2.5
        """
        kinds = np.array([_kind(value) for value in values], np.uint8)
        ints, reals, texts = NO_INTS, NO_REALS, NO_TEXTS
        if (kinds == BOOL).any() or (kinds == INT).any():
            ints = np.array([v if isinstance(v, int) else 0 for v in values], np.int64)
        if (kinds == REAL).any():
            reals = np.array([v if isinstance(v, float) else 0.0 for v in values], np.float64)
            if not np.isfinite(reals).all():
                raise UnsupportedError("a number without end")
        if (kinds == TEXT).any():
            texts = np.array([v if isinstance(v, str) else "" for v in values], object)
        return cls(_single(kinds), ints, reals, texts)

    @classmethod
    def without_value(cls, kind: int) -> Column:
        """Undefined, error, or something that is no scalar, for all rows."""
        return cls(np.array([kind], np.uint8))

    @property
    def one_kind(self) -> int | None:
        """The kind, where it is the same for all rows."""
        return int(self.kinds[0]) if len(self.kinds) == 1 else None

    @cached_property
    def is_constant(self) -> bool:
        """Whether a single value stands for all rows."""
        return all(len(part) == 1 for part in (self.kinds, self.ints, self.reals, self.texts))

    def has(self, *kinds: int) -> bool:
        """Whether any row is of one of these kinds."""
        return any(bool((self.kinds == kind).any()) for kind in kinds)

    def value(self, row: int) -> Scalar:
        """The value of a row; error for a list or an ad."""
        kind = _at(self.kinds, row)
        if kind == BOOL:
            return bool(_at(self.ints, row))
        if kind == INT:
            return int(_at(self.ints, row))
        if kind == REAL:
            return float(_at(self.reals, row))
        if kind == TEXT:
            return str(_at(self.texts, row))
        return Special.UNDEFINED if kind == UNDEFINED else Special.ERROR

    def take(self, rows: Rows) -> Column:
        """The rows with these numbers."""
        return self._each(lambda part: part if len(part) == 1 else part[rows])

    def spread(self, rows: int) -> Column:
        """The same with a place for each row in every array that is used."""
        return self._each(lambda part: np.broadcast_to(part, rows) if len(part) == 1 else part)

    def scattered(self, places: Rows, rows: int) -> Column:
        """The same values at some places of a longer column."""

        def wide(part: NDArray[Any]) -> NDArray[Any]:
            if len(part) == 1:
                return part
            made = np.full(rows, "", object) if part.dtype == object else np.zeros(rows, part.dtype)
            made[places] = part
            return made

        return self._each(wide)

    def _each(self, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Column:
        return Column(change(self.kinds), change(self.ints), change(self.reals), change(self.texts))

    @cached_property
    def as_reals(self) -> Reals:
        """The numbers, whole ones too; truth is 1. Zero elsewhere or anything."""
        if self.one_kind == REAL:
            return self.reals
        if self.one_kind is not None:
            return self.ints.astype(np.float64)
        return np.where(self.kinds == REAL, self.reals, self.ints.astype(np.float64))

    @cached_property
    def truths(self) -> NDArray[np.bool_]:
        """Which numbers and truth values are not zero."""
        kind = self.one_kind
        if kind in (BOOL, INT):
            return np.asarray(self.ints != 0, np.bool_)
        return np.asarray(self.as_reals != 0, np.bool_)

    @cached_property
    def is_true(self) -> NDArray[np.bool_]:
        """Which rows satisfy a requirement: true, or a number other than zero."""
        return self.is_number & self.truths

    @property
    def is_number(self) -> NDArray[np.bool_]:
        """Which rows are numbers or truth values."""
        return np.asarray((self.kinds >= BOOL) & (self.kinds <= REAL), np.bool_)

    @cached_property
    def ranks(self) -> Reals:
        """The numbers as ranks; what is no number ranks below all."""
        return np.where(self.is_number, self.as_reals, -np.inf)

    @cached_property
    def folded(self) -> tuple[NDArray[np.int64], list[str]]:
        """Each row's text as a number, and the texts in small letters that these numbers stand for: an index."""
        numbers: dict[str, int] = {}
        codes = [numbers.setdefault(text.translate(_FOLD), len(numbers)) for text in self.texts.tolist()]
        return np.array(codes, np.int64), list(numbers)


def fold(text: str) -> str:
    """A text as it is compared: A to Z small, all else as it is."""
    return text.translate(_FOLD)


def _kind(value: Scalar) -> int:
    if isinstance(value, Special):
        return UNDEFINED if value is Special.UNDEFINED else ERROR
    return _KIND_OF[type(value)]


def _single(kinds: Kinds) -> Kinds:
    """One place where all are alike."""
    return kinds[:1] if len(kinds) and (kinds == kinds[0]).all() else kinds


def _at(part: NDArray[Any], row: int) -> Any:
    return part[0] if len(part) == 1 else part[row]
