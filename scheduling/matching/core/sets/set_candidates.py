"""Which resources satisfy a request each on its own, and what of them the aggregates need.

An attribute of the pool is put into a column once, texts with an index, so that a clause is a few array operations
however many resources there are. Source: Set matching 2002, 2.3, the filtering phase.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduling.matching.core.columns.column import ERROR, INT, OTHER, TEXT, UNDEFINED, Column, UnsupportedError
from scheduling.matching.core.columns.pair_evaluation import PairEvaluation
from scheduling.matching.core.columns.running_values import NOTHING_YET, with_value
from scheduling.matching.core.language.ad_syntax import Call, Expression, Name, Scalar, Scope
from scheduling.matching.core.sets.library_port import AdLibrary
from scheduling.matching.core.sets.set_request import RANK, REQUIREMENTS, SetRequest

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Filtered:
    """What each individual clause, and each resource's own requirements, say of every resource of the pool."""

    clauses: tuple[tuple[Expression, Mask], ...]
    accepting: Mask

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The resources that are left."""
        passing = self.accepting.copy()
        for _, mask in self.clauses:
            passing &= mask
        return np.flatnonzero(passing)


class PairValues:
    """Values of expressions for pairs of the request and a resource: by columns, else by the library."""

    def __init__(self, request: SetRequest, library: AdLibrary) -> None:
        self.request = request
        self.pool = request.pool
        self._library = library
        self._evaluation = PairEvaluation(request.ad, request.pool)

    def of_request(self, expression: Expression) -> Column:
        """An expression of the request about each resource."""
        return self._value(
            lambda: self._evaluation.value(expression),
            lambda: self._library.of_request(self.request.ad, self.pool.ads, expression),
        )

    def own_requirements(self) -> Column:
        """The requirements of each resource about the request; true where it has none."""
        own = Name(Scope.NEAREST, REQUIREMENTS)
        values = self._value(
            lambda: self._evaluation.mirror.value(own),
            lambda: self._library.of_resources(self.request.ad, self.pool.ads, own),
        )
        if all(attribute is None for attribute in self.pool.attribute(REQUIREMENTS).attributes):
            return Column.constant(True)
        return values

    def _value(self, by_columns: Callable[[], Column], by_library: Callable[[], list[Scalar]]) -> Column:
        try:
            return by_columns()
        except UnsupportedError:
            return Column.of(by_library()) if self.pool.size else Column.constant(False)


def filtered(request: SetRequest, values: PairValues) -> Filtered:
    """The pool held against the clauses for single resources, both ways."""
    size = request.pool.size
    clauses = tuple((clause, _spread(values.of_request(clause).is_true, size)) for clause in request.individual)
    without = np.array([each is None for each in request.pool.attribute(REQUIREMENTS).attributes], bool)
    accepting = _spread(values.own_requirements().is_true, size) | without if size else np.zeros(0, bool)
    return Filtered(clauses, accepting)


def _spread(mask: Mask, size: int) -> Mask:
    return np.array(np.broadcast_to(mask, size), bool) if len(mask) == 1 else mask


@dataclass(frozen=True)
class Candidates:
    """The resources that sets are made of.

    rows: their places in the pool. columns: for each aggregate of the request, the value of each of them.
    """

    request: SetRequest
    rows: NDArray[np.int64]
    columns: tuple[Column, ...]

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.rows)

    def nothing(self) -> list[Column]:
        """The values of the aggregates over no resource."""
        return [NOTHING_YET for _ in self.columns]

    def added(self, values: list[Column], members: NDArray[np.int64]) -> list[Column]:
        """The values with one more: `values` of one set and many members, or as many of both."""
        return [
            with_value(call.function, value, column.take(members))
            for call, value, column in zip(self.request.aggregates, values, self.columns, strict=True)
        ]

    @cached_property
    def is_clean(self) -> bool:
        """Whether every value is a number, so that no set has an aggregate that is undefined or an error."""
        return not any(column.has(UNDEFINED, ERROR, TEXT, OTHER) for column in self.columns)

    def running(self, members: NDArray[np.int64]) -> list[Column]:
        """The values of the first member, the first two, and so on. For numbers only (`is_clean`), else a loop."""
        if self.is_clean:
            return [
                _accumulated(call, column.take(members).spread(len(members)))
                for call, column in zip(self.request.aggregates, self.columns, strict=True)
            ]
        made: list[list[Scalar]] = [[] for _ in self.columns]
        values = self.nothing()
        for member in members.tolist():
            values = self.added(values, np.array([member]))
            for kept, value in zip(made, values, strict=True):
                kept.append(value.value(0))
        return [Column.of(kept) for kept in made]


_ACCUMULATE: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "max": np.maximum.accumulate,
    "min": np.minimum.accumulate,
    "sum": np.cumsum,
}


def _accumulated(call: Call, column: Column) -> Column:
    """Over the first, the first two... numbers; real as soon as one of them is."""
    accumulate = _ACCUMULATE[call.function]
    if column.one_kind == INT:
        return Column(column.kinds, accumulate(column.ints))
    if column.one_kind is not None and len(column.reals) > 1:
        return Column(column.kinds, reals=accumulate(column.reals))
    ints = accumulate(np.where(column.kinds <= INT, column.ints, 0)) if call.function == "sum" else column.ints
    is_real = np.logical_or.accumulate(np.broadcast_to(column.kinds > INT, len(column.as_reals)))
    whole = accumulate(np.where(is_real, 0, column.ints)) if call.function != "sum" else ints
    kinds = np.where(is_real, np.uint8(INT + 1), np.uint8(INT))
    kinds[0] = column.kinds[0]
    return Column(kinds, whole, accumulate(column.as_reals))


def candidates(request: SetRequest, values: PairValues, rows: NDArray[np.int64]) -> Candidates:
    """The columns of the aggregates for the resources that are left."""
    columns = tuple(values.of_request(call.arguments[0]).take(rows) for call in request.aggregates)
    return Candidates(request, rows, columns)


def single_ranks(request: SetRequest, values: PairValues) -> Column:
    """The rank of each resource, for a request that is not about sets; 0 without one."""
    rank = request.ad.get(RANK)
    return Column.constant(0) if rank is None else values.of_request(rank)
