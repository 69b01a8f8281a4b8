"""A request and many resources: the values of expressions of the one in the sight of the others, both ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from scheduling.matching.core.columns.column import Column, Rows, UnsupportedError
from scheduling.matching.core.columns.evaluation import Evaluation, undefined
from scheduling.matching.core.columns.functions import merged
from scheduling.matching.core.language.ad_syntax import (
    Attribute,
    Expression,
    ListOf,
    Literal,
    Name,
    Record,
    Scalar,
    Scope,
    Special,
)

#: Different expressions of one attribute that are evaluated as columns, each on its own resources.
MOST_GROUPS = 64


@dataclass
class Pool:
    """Resources, attribute by attribute: each is put into a column when it is first asked for, and kept."""

    ads: Sequence[Record]
    _columns: dict[str, AttributeColumn] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.ads)

    def attribute(self, key: str) -> AttributeColumn:
        """An attribute of all of them."""
        if key not in self._columns:
            self._columns[key] = AttributeColumn([ad.attributes.get(key) for ad in self.ads])
        return self._columns[key]

    def subset(self, rows: Rows) -> Pool:
        """Some of them."""
        return Pool([self.ads[row] for row in rows.tolist()])


@dataclass
class AttributeColumn:
    """What the ads have for one attribute: plain values, and expressions with the rows that have each."""

    attributes: list[Attribute | None]

    @cached_property
    def groups(self) -> dict[Expression, list[int]]:
        """The expressions that are not plain values, each with its rows."""
        groups: dict[Expression, list[int]] = {}
        for row, attribute in enumerate(self.attributes):
            if attribute is not None and not isinstance(attribute.expression, Literal):
                groups.setdefault(attribute.expression, []).append(row)
        return groups

    @cached_property
    def literals(self) -> Column:
        """The plain values; undefined where there is none."""
        values: list[Scalar] = [
            attribute.expression.value
            if attribute is not None and isinstance(attribute.expression, Literal)
            else Special.UNDEFINED
            for attribute in self.attributes
        ]
        return Column.of(values)


class PairEvaluation(Evaluation):
    """Expressions of a request about resources, or with `is_resource` of resources about a request."""

    def __init__(
        self,
        request: Record,
        pool: Pool,
        *,
        is_resource: bool = False,
        mirror: PairEvaluation | None = None,
        active: set[tuple[bool, str]] | None = None,
        depth: int = 0,
    ) -> None:
        self.request = request
        self.pool = pool
        self.is_resource = is_resource
        self.active = set() if active is None else active
        self.depth = depth
        self._values: dict[str, Column] = {}
        self._mirror = mirror

    @property
    def mirror(self) -> PairEvaluation:
        """The same pairs from the other side."""
        if self._mirror is None:
            self._mirror = PairEvaluation(
                self.request, self.pool, is_resource=not self.is_resource, mirror=self, active=self.active
            )
        self._mirror.depth = self.depth
        return self._mirror

    def name(self, name: Name) -> Column:
        """Of the own side, or by `other` of the opposite one."""
        if name.scope is Scope.OTHER:
            return self.mirror.own(name.key)
        if name.scope is Scope.NEAREST and name.key in ("my", "self", "other", "target", "toplevel", "root"):
            raise UnsupportedError("a whole ad")
        return self.own(name.key)

    def own(self, key: str) -> Column:
        """An attribute of the own side. Raises UnsupportedError for one that is defined by itself."""
        if key in self._values:
            return self._values[key]
        mark = (self.is_resource, key)
        if mark in self.active:
            raise UnsupportedError("defined by itself")
        self.active.add(mark)
        try:
            value = self._of_resources(key) if self.is_resource else self._of_request(key)
        finally:
            self.active.discard(mark)
        self._values[key] = value
        return value

    def _of_request(self, key: str) -> Column:
        definition = self.request.get(key)
        return undefined() if definition is None else self.value(definition)

    def _of_resources(self, key: str) -> Column:
        attribute = self.pool.attribute(key)
        if not attribute.groups:
            return attribute.literals
        if len(attribute.groups) > MOST_GROUPS:
            raise UnsupportedError("each resource with an expression of its own")
        parts = [(np.arange(self.pool.size), attribute.literals)]
        for expression, rows in attribute.groups.items():
            parts.append((np.array(rows, np.int64), self._on(rows).value(expression)))
        return merged(parts, self.pool.size)

    def _on(self, rows: list[int]) -> PairEvaluation:
        """The same about some of the resources."""
        if len(rows) == self.pool.size:
            return self
        subset = self.pool.subset(np.array(rows, np.int64))
        return PairEvaluation(self.request, subset, is_resource=True, active=self.active, depth=self.depth)

    def definition(self, name: Name) -> Expression | None:
        """The one expression that an attribute has, where it is not a different one for each."""
        if (name.scope is Scope.OTHER) is self.is_resource:
            return self.request.get(name.key)
        attribute = self.pool.attribute(name.key)
        if len(attribute.groups) == 1:
            ((expression, rows),) = attribute.groups.items()
            if len(rows) == self.pool.size and isinstance(expression, ListOf):
                return expression
        return None
