"""ClassAd expressions as values: what the reader makes and everybody else walks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum


class Special(Enum):
    """The two values that are no data."""

    UNDEFINED = "undefined"
    ERROR = "error"


class Scope(Enum):
    """Whose attribute a name is."""

    NEAREST = ""  # of the ad that it stands in
    MY = "MY"
    OTHER = "TARGET"


Scalar = int | float | bool | str | Special


@dataclass(frozen=True, slots=True)
class Expression:
    """`start`, `end`: the characters of the text that it was read from."""

    start: int = field(default=0, compare=False, kw_only=True)
    end: int = field(default=0, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True, eq=False)
class Literal(Expression):
    """A value. `bare`: it stood there without quotes (redhat6.1). Equal are only values of one kind: 1 is not 1.0."""

    value: Scalar
    bare: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash(self.value)


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """An attribute: `cpus`, `my.cpus`, `other.cpus`."""

    scope: Scope
    name: str

    @property
    def key(self) -> str:
        """The name as it is compared."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Select(Expression):
    """`base.name`, of a nested ad."""

    base: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Index(Expression):
    """`base[index]`."""

    base: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Unary(Expression):
    """`-x`, `+x`, `!x`, `~x`."""

    op: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    """`left op right`; `is` and `isnt` stand for `=?=` and `=!=` too."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Choice(Expression):
    """`condition ? yes : no`, or without `yes` the `x ?: no` that takes the place of undefined."""

    condition: Expression
    yes: Expression | None
    no: Expression


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A function with its arguments; `function` in small letters."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ListOf(Expression):
    """`{a, b}`."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Attribute:
    """A definition in an ad. `start`: where its name stands."""

    name: str
    expression: Expression
    start: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Record(Expression):
    """An ad: attributes by their names in small letters."""

    attributes: Mapping[str, Attribute]

    def __hash__(self) -> int:
        return hash(tuple(self.attributes))

    def get(self, name: str) -> Expression | None:
        """The definition of an attribute."""
        attribute = self.attributes.get(name.lower())
        return attribute.expression if attribute else None

    def literal(self, name: str) -> Scalar:
        """The value of an attribute that is a literal, else undefined."""
        expression = self.get(name)
        return expression.value if isinstance(expression, Literal) else Special.UNDEFINED


def children(expression: Expression) -> tuple[Expression, ...]:
    """The parts of an expression, in the order of the text."""
    match expression:
        case Select(base=base):
            return (base,)
        case Index(base=base, index=index):
            return (base, index)
        case Unary(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case Choice(condition=condition, yes=yes, no=no):
            return (condition, no) if yes is None else (condition, yes, no)
        case Call(arguments=parts) | ListOf(items=parts):
            return parts
        case Record(attributes=attributes):
            return tuple(each.expression for each in attributes.values())
    return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """An expression and all its parts, however deep."""
    pending = [expression]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(children(current))


def is_deeper(expression: Expression, limit: int) -> bool:
    """Whether parts are nested deeper than `limit`.

    >>> is_deeper(Unary("-", Literal(1)), 1), is_deeper(Literal(1), 1)
    (True, False)
    """
    level: tuple[Expression, ...] = (expression,)
    for _ in range(limit):
        level = tuple(part for each in level for part in children(each))
        if not level:
            return False
    return True
