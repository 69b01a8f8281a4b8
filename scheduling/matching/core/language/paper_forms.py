"""What papers write and the ClassAd language has no meaning for, in words that it has.

Source: Set matching 2002, 2.2 and 3.2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from scheduling.matching.core.language.ad_errors import Notice, NoticeCode, TextPlace
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
    Unary,
    walk,
)

AGGREGATES = {"max", "min", "sum"}
#: Attributes that say whether a request is for a set, and what they may be.
KINDS = ("type", "matchtype")
_OF_SETS = "set"
_KNOWN = (_OF_SETS, "job")
#: Names that a request's own attribute takes the place of, where it has one.
SET_SIZE = "setsize"
_DOMAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)+")


def is_set_request(ad: Record) -> bool:
    """Whether an ad asks for a set of resources: Type or MatchType is "Set", in letters of any size."""
    return any(_is_kind(ad.literal(key), (_OF_SETS,)) for key in KINDS)


def unknown_kinds(ad: Record, text: str, source: str) -> list[Notice]:
    """A notice for each Type or MatchType that is neither "Set" nor, as HTCondor writes it, "Job".

    >>> from scheduling.matching.core.language.ad_reader import read_ad
    >>> text = '[ type = "Bag"; matchtype = "set" ]'
    >>> [(each.text, each.meant, each.place.column) for each in unknown_kinds(read_ad(text).ad, text, "request")]
    [('"Bag"', 'type', 10)]
    """
    stated = [ad.attributes[key] for key in KINDS if key in ad.attributes and not _is_kind(ad.literal(key), _KNOWN)]
    return [
        Notice(
            NoticeCode.UNKNOWN_TYPE,
            TextPlace.of(text, each.expression.start),
            " ".join(text[each.expression.start : each.expression.end].split()),
            source=source,
            meant=each.name,
        )
        for each in stated
    ]


def _is_kind(kind: object, known: Collection[str]) -> bool:
    return isinstance(kind, str) and kind.lower() in known


def in_plain_language(ad: Record, text: str, source: str) -> tuple[Record, list[Notice]]:
    """The ad with texts in quotes: domains in a list, and what no attribute can be called."""
    notices: list[Notice] = []

    def plain(expression: Expression) -> Expression:
        if isinstance(expression, Literal) and expression.bare:
            noted(expression.start, str(expression.value))
        elif isinstance(expression, ListOf):
            return ListOf(tuple(map(unquoted, expression.items)), start=expression.start, end=expression.end)
        return expression

    def unquoted(item: Expression) -> Expression:
        stands = text[item.start : item.end]
        if isinstance(item, Literal) or not _DOMAIN.fullmatch(stands) or _uses_attributes(item, ad):
            return item
        noted(item.start, stands)
        return Literal(stands, start=item.start, end=item.end)

    def noted(at: int, stands: str) -> None:
        notices.append(Notice(NoticeCode.BARE_TEXT, TextPlace.of(text, at), stands, source=source))

    changed = {key: _changed(each, plain) for key, each in ad.attributes.items()}
    return Record(changed, start=ad.start, end=ad.end), notices


def of_members(ad: Record, text: str, source: str) -> tuple[Record, list[Notice]]:
    """A set request where, in aggregates, a name that it lacks is the member's: Max(cpus) is Max(other.cpus)."""
    notices: list[Notice] = []
    if not is_set_request(ad):
        return ad, notices

    def outer(expression: Expression) -> Expression:
        if isinstance(expression, Call) and expression.function in AGGREGATES and len(expression.arguments) == 1:
            argument = expression.arguments[0]
            if not isinstance(argument, ListOf):
                return Call(
                    expression.function, (rewritten(argument, inner),), start=expression.start, end=expression.end
                )
        return expression

    def inner(expression: Expression) -> Expression:
        if isinstance(expression, Name) and expression.scope is Scope.NEAREST and _is_foreign(expression, ad):
            place = TextPlace.of(text, expression.start)
            notices.append(Notice(NoticeCode.OF_THE_MEMBER, place, expression.name, source=source))
            return Name(Scope.OTHER, expression.name, start=expression.start, end=expression.end)
        return expression

    changed = {key: _changed(each, outer) for key, each in ad.attributes.items()}
    return Record(changed, start=ad.start, end=ad.end), notices


def rewritten(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with each part changed, the inner ones first; nested ads stay as they are."""

    def go(part: Expression) -> Expression:
        return rewritten(part, change)

    place = {"start": expression.start, "end": expression.end}
    made = expression
    match expression:
        case Select(base=base, name=name):
            made = Select(go(base), name, **place)
        case Index(base=base, index=index):
            made = Index(go(base), go(index), **place)
        case Unary(op=op, operand=operand):
            made = Unary(op, go(operand), **place)
        case Binary(op=op, left=left, right=right):
            made = Binary(op, go(left), go(right), **place)
        case Choice(condition=condition, yes=yes, no=no):
            made = Choice(go(condition), None if yes is None else go(yes), go(no), **place)
        case Call(function=function, arguments=arguments):
            made = Call(function, tuple(map(go, arguments)), **place)
        case ListOf(items=items):
            made = ListOf(tuple(map(go, items)), **place)
    return change(made)


def _changed(attribute: Attribute, change: Callable[[Expression], Expression]) -> Attribute:
    if isinstance(attribute.expression, Literal) and not attribute.expression.bare:
        return attribute
    return Attribute(attribute.name, rewritten(attribute.expression, change), attribute.start)


def _uses_attributes(item: Expression, ad: Record) -> bool:
    """Whether a name of the ad or of the other side stands in it, so that it is no word of a paper."""
    return any(isinstance(part, Name) and not _is_foreign(part, ad) for part in walk(item))


def _is_foreign(name: Name, ad: Record) -> bool:
    """Whether it is a name without an owner that the ad does not have."""
    return (
        name.scope is Scope.NEAREST
        and name.key not in ad.attributes
        and name.key not in ("my", "self", "other", "target")
    )
