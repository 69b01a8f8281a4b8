"""HTCondor's own ClassAd library (PyPI `htcondor`, module classad2): what an expression means in the end.

The one place that knows it. It evaluates about a million steps of an expression at most and guards its own depth, but
texts may grow to hundreds of megabytes meanwhile: whoever evaluates what strangers wrote does it in a process with
limits (`services/limited_match.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

from gridportal.base.errors import GridPortalError, InputError
from scheduling.matching.core.language.ad_errors import MeaningError
from scheduling.matching.core.language.ad_reader import ASKED_EVERY
from scheduling.matching.core.language.ad_syntax import Expression, Literal, Record, Scalar, Special
from scheduling.matching.core.language.ad_writer import PEOPLES_WRITER
from scheduling.matching.core.language.library_text import LibraryWriter, OtherListError


class Library:
    """Parses ads, and evaluates what columns do not have.

    Attributes that the library cannot parse, as `absTime("soon")`, are error values. is_over: whether time is up; then
    resources that were not evaluated yet have error values, and `evaluated` says how many were.
    """

    def __init__(self, is_over: Callable[[], bool] = lambda: False) -> None:
        self._is_over = is_over
        self.evaluated: int | None = None

    def check(self, ad: Record) -> None:
        """Raises MeaningError, with the attribute, where the library cannot parse an ad."""
        writer = LibraryWriter(ad, Record({}))
        if _is_parsed(_library().ClassAd, writer.ad(ad)):
            return
        name = next((each for each in ad.attributes if not _is_readable(writer, ad, each)), "")
        part = ad.attributes[name].expression if name else ad
        written, accepted = PEOPLES_WRITER.text(part), "an expression that HTCondor's ClassAd library can read"
        raise MeaningError(written, (part.start, part.end), str(InputError(name or "ad", written, accepted)), accepted)

    def of_request(self, request: Record, resources: Sequence[Record], expression: Expression) -> list[Scalar]:
        """The value of an expression of the request about each resource; what is no scalar is an error."""
        try:
            writer = LibraryWriter(request)
            own, tree = _parsed(writer, request), _tree(writer.text(expression))
        except OtherListError:
            return self._each(resources, lambda resource: _pair(request, resource, expression))
        return self._each(resources, lambda resource: _value(tree, own, _mirror(resource, request)))

    def of_resources(self, request: Record, resources: Sequence[Record], expression: Expression) -> list[Scalar]:
        """The value of an expression of each resource about the request."""
        try:
            other = _parsed(LibraryWriter(request), request)
        except OtherListError:
            return self._each(resources, lambda resource: _pair(resource, request, expression))

        def value(resource: Record) -> Scalar:
            writer = LibraryWriter(resource, request)
            return _value(_tree(writer.text(expression)), _parsed(writer, resource), other)

        return self._each(resources, value)

    def _each(self, resources: Sequence[Record], value: Callable[[Record], Scalar]) -> list[Scalar]:
        made: list[Scalar] = []
        for resource in resources:
            if made and len(made) % ASKED_EVERY == 0 and self._is_over():
                self.evaluated = min(len(made), self.evaluated or len(made))
                break
            made.append(value(resource))
        return [*made, *[Special.ERROR] * (len(resources) - len(made))]

    def of_set(
        self, request: Record, names: Mapping[Expression, str], expression: Expression
    ) -> Callable[[Mapping[str, Scalar]], Scalar]:
        """A function of the values of aggregates: what an expression of the request is with them.

        names: the attribute that stands for each call of an aggregate.
        """
        writer = LibraryWriter(request, Record({}), names)
        own, tree = _parsed(writer, request), _tree(writer.text(expression))

        def value(aggregates: Mapping[str, Scalar]) -> Scalar:
            for name, aggregate in aggregates.items():
                own[name] = _foreign(aggregate)
            return _value(tree, own, None)

        return value


def is_value(text: str) -> bool:
    """Whether an expression that stands alone is something else than an error."""
    try:
        return _library().ExprTree(text).eval() is not _library().Value.Error
    except _library().ClassAdException:
        return False


@cache
def _library() -> Any:
    """Imported when it is first needed. Raises GridPortalError where it is not installed."""
    try:
        return import_module("classad2")
    except ImportError as error:
        raise GridPortalError(
            "Matching needs HTCondor's ClassAd library, which is not here; install it with pip install htcondor."
        ) from error


def _pair(own: Record, other: Record, expression: Expression) -> Scalar:
    writer = LibraryWriter(own, other)
    return _value(_tree(writer.text(expression)), _parsed(writer, own), _mirror(other, own))


def _mirror(ad: Record, other: Record) -> Any:
    return _parsed(LibraryWriter(ad, other), ad)


def _parsed(writer: LibraryWriter, ad: Record) -> Any:
    """The ad as the library's; what it cannot parse of it is an error."""
    try:
        return _library().ClassAd(writer.ad(ad))
    except _library().ClassAdException:
        readable = {
            name: each if _is_readable(writer, ad, name) else replace(each, expression=Literal(Special.ERROR))
            for name, each in ad.attributes.items()
        }
        return _library().ClassAd(writer.ad(Record(readable)))


def _tree(text: str) -> Any:
    try:
        return _library().ExprTree(text)
    except _library().ClassAdException:
        return _library().ExprTree("error")


def _is_readable(writer: LibraryWriter, ad: Record, name: str) -> bool:
    return _is_parsed(_library().ExprTree, writer.text(ad.attributes[name].expression))


def _is_parsed(parse: Callable[[str], Any], text: str) -> bool:
    try:
        parse(text)
    except _library().ClassAdException:
        return False
    return True


def _value(tree: Any, own: Any, other: Any) -> Scalar:
    """As a value of ours; what the library gives up on, and what has no end, is an error."""
    try:
        value = tree.eval(own, other)
    except (_library().ClassAdException, UnicodeDecodeError):
        return Special.ERROR
    if value is _library().Value.Undefined:
        return Special.UNDEFINED
    if isinstance(value, _library().Value):
        return Special.ERROR
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return Special.ERROR


def _foreign(value: Scalar) -> Any:
    if isinstance(value, Special):
        return _library().Value.Undefined if value is Special.UNDEFINED else _library().Value.Error
    return value
