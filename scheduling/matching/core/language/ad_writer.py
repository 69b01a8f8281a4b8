"""Ads as text for HTCondor's library: nothing in it but the plain language, and Postfix in functions that it has."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from scheduling.matching.core.language.ad_expressions import PRECEDENCE
from scheduling.matching.core.language.ad_syntax import (
    Binary,
    Call,
    Choice,
    Expression,
    Index,
    ListOf,
    Literal,
    Name,
    Record,
    Scalar,
    Scope,
    Select,
    Special,
    Unary,
)

_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OWN = {"true", "false", "undefined", "error", "is", "isnt", "parent"}
_TIGHT = 20  # of what needs no brackets
_OR_OTHER = 15
_UNARY = 12


@dataclass(frozen=True, slots=True)
class AdWriter:
    """Writes expressions. `put`: a text in the place of some part, or None for the part as it is."""

    put: Callable[[Expression], str | None] = lambda _: None

    def text(self, expression: Expression, least: int = 0) -> str:
        """In brackets where it binds less than `least`.

        >>> AdWriter().text(Binary("*", Binary("+", Literal(1), Literal(2)), Name(Scope.OTHER, "cpus")))
        '(1 + 2) * TARGET.cpus'
        """
        if (other := self.put(expression)) is not None:
            return other
        level, written = self._written(expression)
        return written if level >= least else f"({written})"

    def ad(self, record: Record) -> str:
        """A whole ad.

        >>> AdWriter().ad(Record({}))
        '[]'
        """
        parts = (f"{name_text(each.name)}={self.text(each.expression)}" for each in record.attributes.values())
        return f"[{';'.join(parts)}]"

    def _written(self, expression: Expression) -> tuple[int, str]:
        match expression:
            case Literal(value=value):
                is_negative = isinstance(value, int | float) and math.copysign(1, value) < 0
                return _UNARY if is_negative else _TIGHT, value_text(value)
            case Name(scope=scope, name=name):
                return _TIGHT, name_text(name) if scope is Scope.NEAREST else f"{scope.value}.{name_text(name)}"
            case Select(base=base, name=name):
                return _TIGHT, f"{self.text(base, _TIGHT)}.{name_text(name)}"
            case Index(base=base, index=index):
                return _TIGHT, f"{self.text(base, _TIGHT)}[{self.text(index)}]"
            case Call(function=function, arguments=arguments):
                return _TIGHT, f"{function}({self._listed(arguments)})"
            case ListOf(items=items):
                return _TIGHT, f"{{{self._listed(items)}}}"
            case Record():
                return _TIGHT, self.ad(expression)
        return self._operation(expression)

    def _operation(self, expression: Expression) -> tuple[int, str]:
        match expression:
            case Unary(op=op, operand=operand):
                return _UNARY, f"{op} {self.text(operand, _UNARY)}"
            case Binary(op=op, left=left, right=right):
                level = PRECEDENCE[op]
                return level, f"{self.text(left, level)} {op} {self.text(right, level + 1)}"
            case Choice(condition=condition, yes=None, no=no):
                return _OR_OTHER, f"{self.text(condition, _OR_OTHER)} ?: {self.text(no, _TIGHT)}"
            case Choice(condition=condition, yes=Expression() as yes, no=no):
                return 0, f"{self.text(condition, 1)} ? {self.text(yes, 1)} : {self.text(no, 1)}"
        raise TypeError(f"no expression: {expression!r}")

    def _listed(self, items: tuple[Expression, ...]) -> str:
        return ",".join(map(self.text, items))


def _as_people_write(part: Expression) -> str | None:
    """other.cpu and Sum(...), not the library's own TARGET.cpu and sum(...)."""
    if isinstance(part, Name) and part.scope is Scope.OTHER:
        return f"other.{name_text(part.name)}"
    if isinstance(part, Call) and part.function in ("max", "min", "sum", "postfix"):
        return f"{part.function.capitalize()}({', '.join(map(PEOPLES_WRITER.text, part.arguments))})"
    return None


#: Writes expressions for sentences.
PEOPLES_WRITER = AdWriter(_as_people_write)


def value_text(value: Scalar) -> str:
    r"""A value as the language writes it.

    >>> value_text(1.5), value_text(True), value_text('a "b"'), value_text(Special.UNDEFINED)
    ('1.5', 'true', '"a \\"b\\""', 'undefined')
    """
    if isinstance(value, Special):
        return value.value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{"".join(map(_letter, value))}"'
    return repr(value)


def name_text(name: str) -> str:
    """A name, in single quotes where it needs them."""
    return name if _SIMPLE.fullmatch(name) and name.lower() not in _OWN else f"'{name}'"


def _letter(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return f"\\{ord(letter):03o}" if letter < " " or letter == "\x7f" else letter
