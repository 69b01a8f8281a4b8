"""How an expression about a set changes with each aggregate, and the limits of its value: by its form, not by trying.

So much is known of sums, differences, products and quotients whose sign is sure, of Max and Min of several,
comparisons, &&, || and !. Of all else nothing is claimed (None).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scheduling.matching.core.columns.operators import SMALLEST
from scheduling.matching.core.language.ad_syntax import (
    Binary,
    Call,
    Expression,
    ListOf,
    Literal,
    Name,
    Scope,
    Unary,
)
from scheduling.matching.core.sets.set_request import SetRequest

#: A key of Shape.directions beside the aggregates.
SIZE = "size"
Key = Call | str

UP, DOWN, MIXED = 1, -1, 0
_DEEPEST = 60
_LARGEST = float(-SMALLEST) / 4
#: By which part of itself a power may differ by how it is computed.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Shape:
    """low, high: no value is outside them. directions: UP where the value never falls while the key rises, DOWN where
    it never rises, MIXED where neither is sure; what is not in it does not count. is_truth: true or false."""

    low: float
    high: float
    directions: Mapping[Key, int]
    is_truth: bool = False

    def flipped(self) -> dict[Key, int]:
        """The directions of the negative."""
        return {key: -direction for key, direction in self.directions.items()}


#: The limits of what is made a whole number; half of one goes to either side.
_ROUNDED: Mapping[str, Callable[[Shape], tuple[float, float]]] = {
    "floor": lambda inner: (math.floor(inner.low), math.floor(inner.high)),
    "ceiling": lambda inner: (math.ceil(inner.low), math.ceil(inner.high)),
    "round": lambda inner: (math.ceil(inner.low - 0.5), math.floor(inner.high + 0.5)),
    "int": lambda inner: (math.trunc(inner.low), math.trunc(inner.high)),
    "real": lambda inner: (inner.low, inner.high),
}


def merged(*parts: Mapping[Key, int]) -> dict[Key, int]:
    """The directions of what rises with each part: mixed where two do not agree.

    >>> merged({"a": UP, "b": UP}, {"a": DOWN})
    {'a': 0, 'b': 1}
    """
    result: dict[Key, int] = {}
    for part in parts:
        for key, direction in part.items():
            result[key] = direction if result.get(key, direction) == direction else MIXED
    return result


class Shapes:
    """Shapes of a request's expressions, from the limits of its aggregates over a pool."""

    def __init__(self, request: SetRequest, limits: Mapping[Key, tuple[float, float]]) -> None:
        self.request = request
        self._limits = limits
        self._depth = 0

    def of(self, expression: Expression) -> Shape | None:
        """The shape of an expression, or None where nothing is sure."""
        self._depth += 1
        try:
            shape = None if self._depth > _DEEPEST else self._of(expression)
        finally:
            self._depth -= 1
        if shape is None or math.isnan(shape.low) or math.isnan(shape.high):
            return None
        return shape if max(-shape.low, shape.high) < _LARGEST else None

    def _of(self, expression: Expression) -> Shape | None:
        if self.request.is_size(expression):
            return self._key(SIZE)
        match expression:
            case Literal(value=value) if isinstance(value, int | float):
                return Shape(float(value), float(value), {}, isinstance(value, bool))
            case Name(scope=scope, name=name) if scope is not Scope.OTHER:
                definition = self.request.ad.get(name)
                return None if definition is None else self.of(definition)
            case Unary(op=op, operand=operand):
                return self._unary(op, self.of(operand))
            case Binary(op="*", left=left, right=right) if left == right:
                inner = self.of(left)
                return None if inner is None else _whole_power(inner, 2)
            case Binary(op=op, left=left, right=right):
                first, second = self.of(left), self.of(right)
                return None if first is None or second is None else _binary(op, first, second)
            case Call():
                return self._call(expression)
        return None

    def _key(self, key: Key) -> Shape | None:
        limits = self._limits.get(key)
        return None if limits is None else Shape(*limits, {key: UP})

    def _call(self, call: Call) -> Shape | None:
        if self.request.is_aggregate(call):
            return self._key(call)
        if call.function in _ROUNDED and len(call.arguments) == 1:
            inner = self.of(call.arguments[0])
            return None if inner is None else Shape(*_ROUNDED[call.function](inner), inner.directions)
        if call.function == "pow" and len(call.arguments) == 2:
            return _power(self.of(call.arguments[0]), self.of(call.arguments[1]))
        if call.function in ("min", "max", "sum") and len(call.arguments) == 1:
            items = call.arguments[0]
            return self._over(call.function, items.items) if isinstance(items, ListOf) else None
        return None

    def _over(self, function: str, items: Sequence[Expression]) -> Shape | None:
        shapes = [self.of(item) for item in items]
        sure = [shape for shape in shapes if shape is not None]
        if not sure or len(sure) < len(shapes):
            return None
        pick: Callable[[list[float]], float] = {"min": min, "max": max, "sum": sum}[function]  # type: ignore[assignment]
        low, high = pick([shape.low for shape in sure]), pick([shape.high for shape in sure])
        return Shape(low, high, merged(*(shape.directions for shape in sure)))

    def _unary(self, op: str, operand: Shape | None) -> Shape | None:
        if operand is None or op == "~":
            return None
        if op == "!":
            return Shape(0, 1, operand.flipped(), is_truth=True) if operand.is_truth else None
        return operand if op == "+" else Shape(-operand.high, -operand.low, operand.flipped())


def _binary(op: str, left: Shape, right: Shape) -> Shape | None:
    if op in ("&&", "||"):
        both = left.is_truth and right.is_truth
        return Shape(0, 1, merged(left.directions, right.directions), is_truth=True) if both else None
    if op in ("<", "<="):
        return Shape(0, 1, merged(left.flipped(), right.directions), is_truth=True)
    if op in (">", ">="):
        return Shape(0, 1, merged(left.directions, right.flipped()), is_truth=True)
    if op in ("==", "!=", "is", "isnt"):
        keys = {*left.directions, *right.directions}
        return Shape(0, 1, dict.fromkeys(keys, MIXED), is_truth=True)
    if op == "+":
        return Shape(left.low + right.low, left.high + right.high, merged(left.directions, right.directions))
    if op == "-":
        return Shape(left.low - right.high, left.high - right.low, merged(left.directions, right.flipped()))
    if op == "*":
        return _product(left, right)
    if op == "/" and (right.low > 0 or right.high < 0):
        corners = [a / b for a in (left.low, left.high) for b in (right.low, right.high)]
        directions = merged(_scaled(left.directions, right), _scaled(right.flipped(), left))
        quotient = Shape(min(corners), max(corners), directions)
        # whole numbers are cut towards zero
        return Shape(min(quotient.low, math.trunc(quotient.low)), max(quotient.high, 0.0), quotient.directions)
    return None


def _power(base: Shape | None, exponent: Shape | None) -> Shape | None:
    """Of what is not below 0 to a power that is always the same, and of anything to a whole one from 1 on."""
    if base is None or exponent is None or exponent.low != exponent.high or max(-base.low, base.high) > 1e15:
        return None
    power = exponent.low
    if not -20 <= power <= 20:
        return None
    if power >= 1 and power == int(power):
        return _whole_power(base, int(power))
    if base.low < 0 or (base.low == 0 and power < 0):
        return None
    ends = sorted((base.low**power, base.high**power))
    return Shape(*_with_rounding(*ends), dict(base.directions) if power >= 0 else base.flipped())


def _whole_power(base: Shape, power: int) -> Shape:
    """To a whole power from 1 on: an even one is lowest at 0."""
    ends = sorted((base.low**power, base.high**power))
    if power % 2:
        return Shape(*_with_rounding(*ends), dict(base.directions))
    low = 0.0 if base.low < 0 < base.high else ends[0]
    return Shape(*_with_rounding(low, ends[1]), _scaled(base.directions, base))


def _with_rounding(low: float, high: float) -> tuple[float, float]:
    """Limits of what is computed in other steps than they are."""
    return low - abs(low) * _ROUNDING, high + abs(high) * _ROUNDING


def _product(left: Shape, right: Shape) -> Shape:
    corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
    directions = merged(_scaled(left.directions, right), _scaled(right.directions, left))
    return Shape(min(corners), max(corners), directions)


def _scaled(directions: Mapping[Key, int], factor: Shape) -> dict[Key, int]:
    """The directions of something times a factor, by the factor's sign."""
    if factor.low >= 0:
        return dict(directions)
    if factor.high <= 0:
        return {key: -direction for key, direction in directions.items()}
    return dict.fromkeys(directions, MIXED)
