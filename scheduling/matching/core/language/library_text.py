"""Ads as HTCondor's library reads them, with Postfix told in functions that it has.

Postfix(V, {"edu", ...}) becomes `substr(V, -3) == "edu" || ...`: undefined where V is, an error where V is no text, and
without regard to the size of letters, as the operator == is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scheduling.matching.core.language.ad_syntax import (
    Binary,
    Call,
    Expression,
    ListOf,
    Literal,
    Name,
    Record,
    Scope,
    Special,
)
from scheduling.matching.core.language.ad_writer import AdWriter

_FOLLOWED = 50


class OtherListError(Exception):
    """The list of a Postfix is the other ad's, which was not given."""


@dataclass(frozen=True)
class LibraryWriter:
    """Writes an ad and its expressions for the library.

    other: the ad on the other side, where a Postfix has a list of it. names: what stands in the place of some parts.

    >>> LibraryWriter(Record({})).text(Call("postfix", (Name(Scope.OTHER, "h"), ListOf((Literal("edu"),)))))
    '(substr(TARGET.h,-3) == "edu")'
    """

    own: Record
    other: Record | None = None
    names: Mapping[Expression, str] = field(default_factory=dict)

    def ad(self, record: Record) -> str:
        """A whole ad."""
        return self._writer.ad(record)

    def text(self, expression: Expression) -> str:
        """An expression."""
        return self._writer.text(expression)

    @property
    def _writer(self) -> AdWriter:
        return AdWriter(self._put)

    def _put(self, part: Expression) -> str | None:
        if not isinstance(part, Call):
            return None
        if (name := self.names.get(part)) is not None:
            return name
        if part.function == "postfix" and len(part.arguments) == 2:
            value, among = part.arguments
            return f"({self._writer.text(self._without_postfix(value, self._items(among)))})"
        return None

    def _without_postfix(self, value: Expression, items: tuple[Expression, ...] | None) -> Expression:
        if items is None:
            return Literal(Special.ERROR)  # no list, as any function that the library does not have
        texts = [item.value for item in items if isinstance(item, Literal) and isinstance(item.value, str)]
        whole = Call("substr", (value, Literal(0)))
        tests: list[Expression] = [Binary("==", _ending(value, text), Literal(text)) for text in texts if text]
        tests += [Binary("==", whole, whole)] * ("" in texts)
        result: Expression = tests[0] if tests else Binary("!=", whole, whole)
        for test in tests[1:]:
            result = Binary("||", result, test)
        return result

    def _items(self, expression: Expression) -> tuple[Expression, ...] | None:
        """The items of the list that it is; None for no list."""
        ad = self.own
        for _ in range(_FOLLOWED):
            if isinstance(expression, ListOf):
                return expression.items
            if not isinstance(expression, Name):
                return None
            if expression.scope is Scope.OTHER:
                if self.other is None:
                    raise OtherListError(expression.name)
                ad = self.other if ad is self.own else self.own
            definition = ad.get(expression.name)
            if definition is None:
                return None
            expression = definition
        return None


def _ending(value: Expression, text: str) -> Expression:
    return Call("substr", (value, Literal(-len(text.encode()))))
