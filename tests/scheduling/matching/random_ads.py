"""Random expressions of the ClassAd language, and ads in which they have something to say."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from scheduling.matching.core.language.ad_syntax import (
    Attribute,
    Binary,
    Call,
    Choice,
    Expression,
    Index,
    ListOf,
    Literal,
    Name,
    Record,
    Scope,
    Select,
    Special,
    Unary,
)

VALUES = (
    *(0, 1, 2, -1, 3, 7, -5, 100, 2**40, 0.0, 0.5, 1.0, -2.5, 1e10, 3.25, 1e300, True, False),
    *("", "a", "A", "b", "torc1.cs.utk.edu", "utk.edu", "Ü", "a b", "_", "Z"),
    *(Special.UNDEFINED, Special.ERROR),
)
NUMBERS = (0, 1, 2, 3, 5, 8, -1, 0.5, 1.5, 2.0, 40.25, -0.75)
NAMES = ("a", "B", "c", "mem", "os", "none", "x-y", "deep")
OPERATORS = (
    *("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", ">>>"),
    *("==", "!=", "<", "<=", ">", ">=", "is", "isnt", "&&", "||", "&&", "||", "==", "<", "+", "*"),
)
ONE = (
    "isundefined",
    "iserror",
    "isstring",
    "isinteger",
    "isreal",
    "isboolean",
    "floor",
    "ceiling",
    "round",
    "int",
    "real",
)
#: Functions that columns leave to the library.
FOREIGN = ("strcat", "toupper", "size", "string", "pow", "nosuchfunction")


def expression(rng: random.Random, depth: int, *, foreign: bool = False) -> Expression:
    """A random one, of at most so many levels; `foreign`: also what only the library evaluates."""
    if depth == 0 or rng.random() < 0.1:
        return leaf(rng)

    def make() -> Expression:
        return expression(rng, depth - 1, foreign=foreign)

    kind = rng.randrange(15 if foreign else 12)
    if kind < 7:
        return _operation(rng, kind, make)
    return _call(rng, kind, make) if kind < 12 else _foreign(rng, kind, make)


def _operation(rng: random.Random, kind: int, make: Callable[[], Expression]) -> Expression:
    if kind < 5:
        return Binary(rng.choice(OPERATORS), make(), make())
    if kind < 6:
        operand = make()  # a minus before a number is part of it
        return Unary(rng.choice("+!~" if isinstance(operand, Literal) else "-+!~"), operand)
    return Choice(make(), rng.choice((None, make())), make())


def _call(rng: random.Random, kind: int, make: Callable[[], Expression]) -> Expression:
    if kind < 8:
        return Call("ifthenelse", (make(), make(), make()))
    if kind == 8 and rng.random() < 0.3:
        return Call("pow", (make(), make()))
    if kind < 9:
        return Call(rng.choice(ONE), (make(),))
    if kind < 10:
        return Call(rng.choice(("max", "min", "sum")), (ListOf(tuple(make() for _ in range(rng.randrange(4)))),))
    if kind < 11:
        return Call("member", (make(), ListOf(tuple(make() for _ in range(rng.randrange(3))))))
    endings = tuple(Literal(rng.choice(("edu", "utk.edu", "", "A", "zz", 1))) for _ in range(rng.randrange(3)))
    return Call("postfix", (make(), ListOf(endings)))


def _foreign(rng: random.Random, kind: int, make: Callable[[], Expression]) -> Expression:
    if kind < 13:
        return Call(rng.choice(FOREIGN), tuple(make() for _ in range(rng.randrange(3))))
    if kind < 14:
        return Index(ListOf((make(), make())), make())
    return Select(Record({"q": Attribute("q", make())}), "q")


def leaf(rng: random.Random) -> Expression:
    """A value or a name."""
    if rng.random() < 0.5:
        return Literal(rng.choice(VALUES if rng.random() < 0.6 else NUMBERS))
    return Name(rng.choice((Scope.NEAREST, Scope.NEAREST, Scope.MY, Scope.OTHER, Scope.OTHER)), rng.choice(NAMES))


def ad(rng: random.Random, depth: int, expressions: Sequence[Expression] = (), *, foreign: bool = False) -> Record:
    """An ad with some of the names, and `e0`, `e1`... for the expressions."""
    attributes: dict[str, Attribute] = {}
    for name in NAMES[:-1]:
        if rng.random() < 0.8 and name != "none":
            plain = rng.random() < 0.7
            what = Literal(rng.choice(VALUES)) if plain else expression(rng, depth, foreign=foreign)
            attributes[name.lower()] = Attribute(name, what)
    for number, each in enumerate(expressions):
        attributes[f"e{number}"] = Attribute(f"e{number}", each)
    return Record(attributes)
