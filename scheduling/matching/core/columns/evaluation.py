"""Expressions on columns: one pass over the tree, however many resources there are.

Cost: as many array operations as the attributes that are used have parts; an attribute is computed once, however often
it is named. What columns do not have (UnsupportedError) is HTCondor's library's to evaluate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from scheduling.matching.core.columns import functions
from scheduling.matching.core.columns.column import OTHER, UNDEFINED, Column, UnsupportedError
from scheduling.matching.core.columns.operators import (
    arithmetic,
    bits,
    choice,
    comparison,
    identity,
    instead_of_undefined,
    logical,
    unary,
)
from scheduling.matching.core.columns.running_values import NOTHING_YET, total, with_value
from scheduling.matching.core.language.ad_syntax import (
    Binary,
    Call,
    Choice,
    Expression,
    ListOf,
    Literal,
    Name,
    Record,
    Unary,
)
from scheduling.matching.core.language.paper_forms import AGGREGATES

#: Parts of parts, through attributes too.
DEEPEST = 100


class Evaluation(ABC):
    """Evaluates expressions; who derives from it says what names and aggregates are."""

    depth = 0

    @abstractmethod
    def name(self, name: Name) -> Column:
        """The values of an attribute."""

    @abstractmethod
    def definition(self, name: Name) -> Expression | None:
        """The expression of an attribute, where it is the same for all rows."""

    def aggregate(self, call: Call) -> Column:
        """Max, Min or Sum of something that is no list."""
        raise UnsupportedError(call.function)

    def value(self, expression: Expression) -> Column:
        """The values of an expression. Raises UnsupportedError."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnsupportedError("too deep")
        try:
            return self._value(expression)
        finally:
            self.depth -= 1

    def _value(self, expression: Expression) -> Column:
        match expression:
            case Literal(value=value):
                return Column.constant(value)
            case Name():
                return self.name(expression)
            case Binary(op=op, left=left, right=right):
                return binary(op, self.value(left), self.value(right))
            case Unary(op=op, operand=operand):
                return unary(op, self.value(operand))
            case Choice(condition=condition, yes=None, no=no):
                return instead_of_undefined(self.value(condition), self.value(no))
            case Choice(condition=condition, yes=Expression() as yes, no=no):
                return choice(self.value(condition), self.value(yes), self.value(no))
            case Call():
                return self._call(expression)
            case ListOf() | Record():
                return Column.without_value(OTHER)
        raise UnsupportedError(type(expression).__name__)

    def _call(self, call: Call) -> Column:
        if call.function in AGGREGATES and len(call.arguments) == 1:
            items = self.list_items(call.arguments[0])
            return self.aggregate(call) if items is None else self._over_list(call.function, items)
        if call.function in ("member", "postfix") and len(call.arguments) == 2:
            return self._among(call)
        return functions.call(call.function, [self.value(argument) for argument in call.arguments])

    def list_items(self, expression: Expression) -> tuple[Expression, ...] | None:
        """The items of a list that stands there, or that an attribute is defined as."""
        for _ in range(DEEPEST):
            if isinstance(expression, ListOf):
                return expression.items
            if not isinstance(expression, Name):
                return None
            definition = self.definition(expression)
            if definition is None:
                return None
            expression = definition
        return None

    def _over_list(self, function: str, items: Sequence[Expression]) -> Column:
        values = NOTHING_YET
        for item in items:
            values = with_value(function, values, self.value(item))
        return total(function, values)

    def _among(self, call: Call) -> Column:
        value, among = self.value(call.arguments[0]), call.arguments[1]
        items = self.list_items(among)
        if items is None:
            raise UnsupportedError("a list that is not the same for all")
        if call.function == "member":
            return functions.is_member(value, [self.value(item) for item in items])
        return functions.postfix(value, endings(items))


def endings(items: Sequence[Expression]) -> list[str]:
    """The texts among the items of a list."""
    return [item.value for item in items if isinstance(item, Literal) and isinstance(item.value, str)]


def binary(op: str, left: Column, right: Column) -> Column:
    """An operator between two columns."""
    if op in ("&&", "||"):
        return logical(op, left, right)
    if op in ("is", "isnt"):
        return identity(op, left, right)
    if op in ("==", "!=", "<", "<=", ">", ">="):
        return comparison(op, left, right)
    if op in ("+", "-", "*", "/", "%"):
        return arithmetic(op, left, right)
    return bits(op, left, right)


def undefined() -> Column:
    """What no attribute is."""
    return Column(np.array([UNDEFINED], np.uint8))
