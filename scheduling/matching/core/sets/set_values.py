"""Ranks and requirements of many sets at once, from the values of their aggregates.

A set is given by a value of each Max, Min and Sum and its size; so what one set costs does not depend on how large it
is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduling.matching.core.columns.column import INT, Column, UnsupportedError
from scheduling.matching.core.columns.evaluation import Evaluation, undefined
from scheduling.matching.core.columns.running_values import total
from scheduling.matching.core.language.ad_syntax import Call, Expression, Name, Scope
from scheduling.matching.core.sets.library_port import AdLibrary
from scheduling.matching.core.sets.set_request import SetRequest

_PLACEHOLDER = "set_value_"


class _SetEvaluation(Evaluation):
    """Expressions of a request about sets."""

    def __init__(self, request: SetRequest, values: Sequence[Column], sizes: Column) -> None:
        self.request = request
        self._values = dict(zip(request.aggregates, values, strict=True))
        self._sizes = sizes
        self._named: dict[str, Column] = {}
        self._active: set[str] = set()

    def name(self, name: Name) -> Column:
        if self.request.is_size(name):
            return self._sizes
        if name.scope is Scope.OTHER or name.key in ("my", "self", "other", "target", "toplevel", "root"):
            raise UnsupportedError(name.name)
        if name.key in self._named:
            return self._named[name.key]
        if name.key in self._active:
            raise UnsupportedError("defined by itself")
        definition = self.definition(name)
        self._active.add(name.key)
        try:
            value = undefined() if definition is None else self.value(definition)
        finally:
            self._active.discard(name.key)
        self._named[name.key] = value
        return value

    def definition(self, name: Name) -> Expression | None:
        return None if name.scope is Scope.OTHER else self.request.ad.get(name.key)

    def aggregate(self, call: Call) -> Column:
        if call not in self._values:
            raise UnsupportedError(call.function)
        return self._values[call]

    def _call(self, call: Call) -> Column:
        return self._sizes if self.request.is_size(call) else super()._call(call)


class SetValues:
    """Expressions of a request about sets, by columns or by the library."""

    def __init__(self, request: SetRequest, library: AdLibrary) -> None:
        self.request = request
        self._library = library
        self._by_library: set[int] = set()

    @property
    def is_slow(self) -> bool:
        """Whether the library had to evaluate something, one set after the other."""
        return bool(self._by_library)

    def value(self, expression: Expression, values: Sequence[Column], sizes: Column) -> Column:
        """The values for many sets: for each aggregate of the request a column of running values, and the sizes."""
        totals = [total(call.function, value) for call, value in zip(self.request.aggregates, values, strict=True)]
        if id(expression) not in self._by_library:
            try:
                return _SetEvaluation(self.request, totals, sizes).value(expression)
            except UnsupportedError:
                self._by_library.add(id(expression))
        return self._one_by_one(expression, totals, sizes)

    def ranks(self, values: Sequence[Column], sizes: Column) -> Column:
        """The ranks of many sets; without a rank all have 0."""
        if self.request.rank is None:
            return Column.constant(0)
        return self.value(self.request.rank, values, sizes)

    def satisfied(self, values: Sequence[Column], sizes: Column) -> np.ndarray:
        """How many of the collective clauses are true for each set."""
        count = np.zeros(1, np.int64)
        for clause in self.request.collective:
            count = count + self.value(clause, values, sizes).is_true
        return count

    def _one_by_one(self, expression: Expression, totals: Sequence[Column], sizes: Column) -> Column:
        names: dict[Expression, str] = {
            call: f"{_PLACEHOLDER}{number}" for number, call in enumerate(self.request.aggregates)
        }
        columns = dict(zip(names.values(), totals, strict=True)) | {"SetSize": sizes}
        function = self._library.of_set(self.request.ad, names, expression)
        rows = max(len(part) for column in columns.values() for part in (column.kinds, column.ints, column.reals))
        made = [function({name: column.value(row) for name, column in columns.items()}) for row in range(rows)]
        return Column.of(made)


def sizes_of(sizes: np.ndarray) -> Column:
    """Sizes of sets as a column."""
    return Column(np.array([INT], np.uint8), np.asarray(sizes, np.int64))
